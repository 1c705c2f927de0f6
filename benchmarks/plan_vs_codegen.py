"""Compares a plan with Inductor's own code generation for it. Run: python benchmarks/plan_vs_codegen.py [LAYERS].

The model is a decoder of LAYERS layers (24 by default, about 850 kernels), trained for one step. Both times are taken in one
call, each in a process of its own: torch.compile of the step for the target with nothing recorded, and the whole plan, which
is both sides, provenance, and every kernel compiled to a cubin. Exit code 1 when the plan takes more than 1.5 times as long.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
MOST = 1.5
CASE = '''
"""A decoder of many layers, trained for one step."""
import torch
from torch.nn import functional

BACKWARD = True


class Block(torch.nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(size), torch.nn.LayerNorm(size)
        self.qkv, self.mixed = torch.nn.Linear(size, 3 * size), torch.nn.Linear(size, size)
        self.up, self.down = torch.nn.Linear(size, 4 * size), torch.nn.Linear(4 * size, size)

    def forward(self, x):
        parts = self.qkv(self.first(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        heads = functional.scaled_dot_product_attention(*parts.unbind(0), is_causal=True)
        x = x + self.mixed(heads.transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.second(x))))


class Model(torch.nn.Module):
    def __init__(self, size, layers):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(size, 8) for _ in range(layers))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.float().pow(2).mean()


def get_init_inputs():
    return [256, LAYERS]


def get_inputs():
    return [torch.rand(4, 128, 256)]
'''


def timed(what: str, case: Path) -> float:
    """Return the seconds that a process of this script takes for one part, as it says itself."""
    command = [sys.executable, __file__, what, str(case)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return float(done.stdout.split()[-1])


def codegen(case: Path) -> None:
    """Compile the step for the target with nothing recorded, and print how long that took."""
    import torch

    from compdiff.capture.plan.device import FakeTensorMode
    from compdiff.capture.plan.log import PlanLog
    from compdiff.capture.plan.patches import pretended
    from compdiff.capture.plan.workload import load_planned

    asked, fake, log = _request(case), FakeTensorMode(), PlanLog()
    with pretended(asked.target, fake, log):
        workload = load_planned(asked, fake, log)
        start = perf_counter()
        with fake:
            workload.step(torch.compile(workload.fn))
        print(perf_counter() - start)


def planned(case: Path) -> None:
    """Plan the case, and print how long that took."""
    from compdiff.capture.plan.session import plan

    start = perf_counter()
    run = plan(_request(case), progress=lambda _: None, save=lambda _: None)
    seconds = perf_counter() - start
    print(f"{len(run.left.op_calls)} op calls, {len(run.right.kernels)} kernels", file=sys.stderr)
    print(seconds)


def _request(case: Path):  # noqa: ANN202 - compdiff is imported late
    from compdiff.model import CaseSpec, CompileOptions, Request
    from compdiff.targets import TARGETS

    spec = CaseSpec(name=case.stem, path=str(case), form="module")
    return Request(spec=spec, device="cuda", target=TARGETS["h200"], options=CompileOptions())


def main(layers: int) -> int:
    """Print both times, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "decoder.py"
        case.write_text(CASE.replace("LAYERS", str(layers)))
        own = timed("codegen", case)
        print(f"Inductor alone: {own:.1f} s")
        full = timed("plan", case)
        print(f"the plan: {full:.1f} s")
    print(f"a plan takes {full / own:.2f} times Inductor's own time (at most {MOST})")
    return int(full / own > MOST)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    parts = {"codegen": codegen, "plan": planned}
    if len(sys.argv) > 2:  # noqa: PLR2004 - a part and its case
        parts[sys.argv[1]](Path(sys.argv[2]))
        sys.exit(0)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 24))
