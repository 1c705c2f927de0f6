"""Compares `compdiff run` with the least that anyone would write. Run: python benchmarks/run_vs_bare.py [ROUNDS].

The bare script imports torch, compiles the function of cases/linear.py with cold caches and profiles it once. Both are
timed in turns in one call, because only their ratio means anything on a shared machine. Exit code 1 when it is above 2.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
MOST = 2.0
BARE = """
import sys
import torch
from torch.profiler import profile

sys.path.insert(0, "cases")
import linear

arguments = linear.inputs("cpu", torch.float32, size=256)
compiled = torch.compile(linear.fn)
with torch.no_grad():
    compiled(*arguments)
    with profile() as profiler:
        compiled(*arguments)
print(profiler.key_averages().table())
"""


def seconds(*arguments: str) -> float:
    """Return how long a Python process takes with these arguments and cold compile caches."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, *(text.replace("FOLDER", folder) for text in arguments)]
        start = perf_counter()
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)  # noqa: S603
        return perf_counter() - start


def main(rounds: int) -> int:
    """Print the times of both in turns, and the ratio of their medians."""
    run = ("-m", "compdiff", "run", "cases/linear.py", "--device", "cpu", "--out", "FOLDER/out")
    bare, full = [], []
    for _ in range(rounds):
        bare.append(seconds("-c", BARE))
        full.append(seconds(*run))
        print(f"bare {bare[-1]:.1f} s, compdiff run {full[-1]:.1f} s")
    ratio = statistics.median(full) / statistics.median(bare)
    print(f"compdiff run takes {ratio:.2f} times the bare script (at most {MOST})")
    return int(ratio > MOST)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
