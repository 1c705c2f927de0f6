"""Runs of many equal layers, made up. In: how many. Out: a run with its diff, shaped as a GPU's traces are.

A layer has 100 op calls on 20 source lines: views, matrix products that are kept, pointwise ops and norms that are fused.
All are the same but for names and numbers; in every 25th one op was not fused.
"""

from collections.abc import Iterator

from compdiff.model import (
    Capture,
    CaseInfo,
    CompiledGraph,
    FateKind,
    Graph,
    GraphNode,
    Kernel,
    Launch,
    Match,
    OpCall,
    PassEvent,
    Rewrite,
    WrapperCall,
)
from tests.builders import at, capture, compiler, diff, kernel, op, run
from tests.report.examples import Example

OPS_A_LAYER = 100
_BLOCKS = 20
_ODD_LAYER = 25
_FILE = "/work/models/decoder.py"
_SHAPE = (4096, 1024)
_TEXT = "        x = F.gelu(self.norm(self.proj(x) + residual))  # block {}"
# The ops of a block with the columns of its line that make them.
_BLOCK = (
    ("aten::t", "self.proj(x)"),
    ("aten::mm", "self.proj(x)"),
    ("aten::add", "self.proj(x) + residual"),
    ("aten::native_layer_norm", "self.norm(self.proj(x) + residual)"),
    ("aten::gelu", "F.gelu(self.norm(self.proj(x) + residual))"),
)
_CODE = """@triton_heuristics.persistent_reduction(size_hints={{'x': 4096, 'r0_': 1024}}, reduction_hint=ReductionHint.INNER)
@triton.jit
def {name}(in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    tmp0 = tl.load(in_ptr0 + (r0_index + 1024 * xindex), xmask, other=0.0)
    tmp1 = tl.load(in_ptr1 + (r0_index + 1024 * xindex), xmask, other=0.0)
    tmp2 = tl.broadcast_to(tmp0 + tmp1, [XBLOCK, R0_BLOCK])
    tmp3 = tl.sum(tmp2, 1)[:, None]
    tl.store(out_ptr1 + (r0_index + 1024 * xindex), tmp3, xmask)
"""


def layered(layers: int) -> Example:
    """Return a run of so many layers, that is of 100 times as many op calls."""
    made = _Model()
    for layer in range(layers):
        for block in range(_BLOCKS):
            made.add_block(layer, block)
    return made.finish(layers)


class _Side:
    """Op calls, launches and kernels of one side, one after the other on one clock."""

    def __init__(self) -> None:
        self.ops: list[OpCall] = []
        self.launches: list[Launch] = []
        self.kernels: list[Kernel] = []
        self.order: list[str] = []
        self.clock = 0

    def call(self, name: str, **fields: object) -> int:
        """Add an op call and return its number."""
        number = len(self.ops)
        made = op(number, name, (_SHAPE, _SHAPE), _SHAPE, start_ns=self.clock, **fields)
        self.ops.append(made)
        self.order.append(f"o{number}")
        self.clock += 8_000
        return number

    def launch(self, name: str, **fields: object) -> int:
        """Add a kernel with its launch, within the last op call if it is of one, and return its number."""
        number = len(self.kernels)
        start = self.clock - 6_000
        self.launches.append(
            Launch(id=number, name="cudaLaunchKernel", start_ns=start, duration_ns=1_500)
        )
        times = {"start_ns": start + 4_000, "duration_ns": 3_000 + number % 7 * 100}
        self.kernels.append(kernel(number, name, launch=number, stream=7, **times, **fields))
        return number

    def finish(self, label: str, **fields: object) -> Capture:
        """Return the side."""
        return capture(
            label,
            tuple(self.ops),
            tuple(self.kernels),
            launches=tuple(self.launches),
            call_order=tuple(self.order),
            device="cuda:0",
            device_name="a GPU",
            profile_start_ns=0,
            profile_wall_ns=self.clock,
            **fields,
        )


class _Model:
    """Both sides, and what became of what."""

    def __init__(self) -> None:
        self.left, self.right = _Side(), _Side()
        self.calls: list[WrapperCall] = []
        self.fates: dict[str, tuple[FateKind, str]] = {}
        self.origins: dict[str, tuple[str, ...] | str] = {}
        self.rewrites: list[Rewrite] = []
        self.matches: list[Match] = []
        self.events: list[PassEvent] = []

    def add_block(self, layer: int, block: int) -> None:
        """Add five op calls, and the product and the kernel that they became."""
        view, product, *rest = (self._left(layer, block, row) for row in _BLOCK)
        self._rewrite("view-elimination", (view,), (), "eliminated", f"traced as permute_{view}")
        self._keep(product)
        if layer % _ODD_LAYER == _ODD_LAYER - 1 and block == _BLOCKS - 1:
            self._keep(rest.pop())
        evidence = f"the scheduler put add_{view}, gelu_{view} into one kernel"
        self._rewrite("norm-fusion", tuple(rest), (self._fused(block),), "fused", evidence)
        self.origins[self.rewrites[-1].right[0]] = tuple(rest)
        node = GraphNode(name=f"clone_{view}", op="call_function", target="aten.clone")
        self.events.append(
            PassEvent(stage="post_grad", pass_name="remove_noop_ops", removed=(node,))
        )

    def finish(self, layers: int) -> Example:
        """Return the run and the diff."""
        graph = CompiledGraph(
            id=0,
            compile_id="0/0",
            direction="inference",
            dynamo=_graph("dynamo", self.left.ops),
            joint=_graph("joint", self.left.ops),
            post_grad=_graph("post_grad", self.left.ops[::2]),
            passes=tuple(self.events),
            calls=tuple(self.calls),
            wrapper_code="\n".join(_wrapper(self.calls)),
        )
        return Example(
            run(
                self.left.finish("eager"),
                self.right.finish("compiled", compiler=compiler((graph,))),
                case=CaseInfo(name=f"decoder-{layers}", file=_FILE, summary="Made up."),
            ),
            diff(self.fates, self.origins, tuple(self.rewrites), matches=tuple(self.matches)),
        )

    def _left(self, layer: int, block: int, row: tuple[str, str]) -> str:
        name, columns = row
        source = at(_FILE, 100 + block, _TEXT.format(block), columns, "forward")
        module = f"layers.{layer}.blocks.{block}"
        number = self.left.call(name, source=source, module=module, chain=("aten::linear",))
        if name != "aten::t":
            long_name = f"void at::native::vectorized_elementwise_kernel<4, {name}>(int, float)"
            self.left.launch(long_name, kind="library", op_call=number)
        return f"e{number}"

    def _keep(self, item: str) -> None:
        call = self.left.ops[int(item[1:])]
        index = len(self.calls)
        self.calls.append(WrapperCall(index=index, name="extern_kernels.mm", kind="extern"))
        number = self.right.call(call.name, overload="out", graph=0, call=index)
        name = "nvjet_tst_128x128_64x4_1x2_h_bz_TNT"
        launched = self.right.launch(name, kind="library", op_call=number)
        self.fates[item] = ("kept", "")
        self.origins[f"c{number}"] = self.origins[f"k{launched}"] = (item,)
        self.matches.append(
            Match(left=(item,), right=(f"c{number}",), by="provenance", certainty="certain")
        )

    def _fused(self, block: int) -> str:
        name = f"triton_per_fused_add_gelu_native_layer_norm_{block}"
        index = len(self.calls)
        self.calls.append(
            WrapperCall(index=index, name=name, kind="triton", code=_CODE.format(name=name))
        )
        self.right.clock += 8_000
        number = self.right.launch(name, kind="triton", graph=0, call=index, grid=(4096, 1, 1))
        self.right.order.append(f"k{number}")
        return f"k{number}"

    def _rewrite(
        self, rule: str, left: tuple[str, ...], right: tuple[str, ...], fate: FateKind, fact: str
    ) -> None:
        name = f"r{len(self.rewrites) + 1}"
        line = self.left.ops[int(left[0][1:])].source
        self.rewrites.append(
            Rewrite(
                id=name,
                rule=rule,
                left=left,
                right=right,
                evidence=(fact,),
                source=f"{_FILE}:{line.line}" if line else "",
                why="A sentence on what the rule does and why it matters.",
            )
        )
        self.fates |= dict.fromkeys(left, (fate, name))


def _graph(stage: str, ops: list[OpCall]) -> Graph:
    lines = (
        f'    {call.name[6:]}_{call.id}: "f32[4096, 1024]" = torch.ops.{call.name.replace("::", ".")}.default(x_{call.id})'
        for call in ops
    )
    return Graph(stage=stage, nodes=(), code="\n".join(["def forward(self, x):", *lines]))


def _wrapper(calls: list[WrapperCall]) -> Iterator[str]:
    yield "def call(args):"
    for call in calls:
        yield f"    {call.name}.run(buf{call.index}, arg{call.index}_1, 4096, 1024, stream=stream0)"
        yield f"    del buf{call.index}"
