"""Real model objects in one line each. In: what a test cares about. Out: records, everything else filled in.

Any field of the record can be given by name after the ones that a builder knows.
"""

import msgspec

from compdiff.model import (
    Capture,
    CaseInfo,
    Compilation,
    CompiledGraph,
    CompileOptions,
    Compiler,
    Diff,
    Environment,
    Fate,
    FateKind,
    Graph,
    GraphNode,
    Kernel,
    OpCall,
    Origin,
    PassEvent,
    Rewrite,
    Run,
    Samples,
    SourceLocation,
    TensorMeta,
    Timing,
    WrapperCall,
)

Shape = tuple[int, ...]


def tensor(*shape: int, dtype: str = "float32", device: str = "cpu") -> TensorMeta:
    """Return a packed tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return TensorMeta(shape=shape, stride=tuple(reversed(strides)), dtype=dtype, device=device)


def at(file: str, line: int, text: str, marked: str = "", function: str = "fn") -> SourceLocation:
    """Return a source line; the first occurrence of `marked` in it gives the columns."""
    column = text.find(marked) if marked else -1
    end = column + len(marked) if column >= 0 else -1
    return SourceLocation(
        file=file, line=line, column=column, end_column=end, function=function, text=text
    )


def op(
    number: int,
    name: str = "aten::add",
    inputs: tuple[Shape, ...] = ((4, 4),),
    output: Shape = (4, 4),
    **fields: object,
) -> OpCall:
    """Return an op call on float32 tensors of these shapes."""
    call = OpCall(
        id=number,
        name=name,
        inputs=tuple(tensor(*shape) for shape in inputs),
        outputs=(tensor(*output),),
        arguments=", ".join("T" for _ in inputs),
        duration_ns=1_000 * (number + 1),
    )
    return msgspec.structs.replace(call, **fields)


def kernel(number: int, name: str = "cpp_fused_add_0", **fields: object) -> Kernel:
    """Return a generated C++ kernel."""
    made = Kernel(id=number, name=name, kind="cpp", duration_ns=2_000 * (number + 1))
    return msgspec.structs.replace(made, **fields)


def capture(
    label: str = "eager",
    op_calls: tuple[OpCall, ...] = (),
    kernels: tuple[Kernel, ...] = (),
    **fields: object,
) -> Capture:
    """Return a measured capture on a CPU."""
    made = Capture(label=label, basis="measured", device="cpu", op_calls=op_calls, kernels=kernels)
    return msgspec.structs.replace(made, **fields)


def node(name: str, target: str = "aten.add.Tensor", **fields: object) -> GraphNode:
    """Return a call node of an FX graph."""
    return msgspec.structs.replace(
        GraphNode(name=name, op="call_function", target=target), **fields
    )


def event(pattern: str, removed: tuple[str, ...], created: tuple[str, ...] = ()) -> PassEvent:
    """Return a change that a post-grad pattern made."""
    return PassEvent(
        stage="post_grad",
        pass_name="pass_pattern_2",
        pattern=pattern,
        location="torch/_inductor/fx_passes/post_grad.py:2013",
        removed=tuple(node(name) for name in removed),
        created=tuple(node(name) for name in created),
        replacements={removed[-1]: created[-1]} if removed and created else {},
    )


def wrapper_call(index: int, name: str, code: str = "", nodes: tuple[str, ...] = ()) -> WrapperCall:
    """Return a call of the generated wrapper: a generated C++ kernel if it has code, else an extern one."""
    return WrapperCall(
        index=index, name=name, kind="cpp" if code else "extern", nodes=nodes, code=code
    )


def graph(number: int = 0, direction: str = "inference", **fields: object) -> CompiledGraph:
    """Return a compiled graph of frame 0/0 with code at each stage."""
    made = CompiledGraph(
        id=number,
        compile_id="0/0",
        direction=direction,
        dynamo=Graph(stage="dynamo", nodes=(), code="def forward(self, L_x_):\n    return (L_x_,)"),
        post_grad=Graph(
            stage="post_grad", nodes=(), code="def forward(self, arg0_1):\n    return ()"
        ),
        wrapper_code="def call(args):\n    return ()",
    )
    return msgspec.structs.replace(made, **fields)


def compiler(graphs: tuple[CompiledGraph, ...] = (), **fields: object) -> Compiler:
    """Return a compiler's account with one compilation."""
    made = Compiler(
        backend="inductor",
        graphs=graphs,
        compilations=(
            Compilation(
                compile_id="0/0",
                function="fn",
                file="/work/cases/case.py",
                line=5,
                guards=("TENSOR_MATCH: check_tensor(L['x'], Tensor, torch.float32, size=[4, 4])",),
                phases_ns={
                    "dynamo": 900_000_000,
                    "inductor": 500_000_000,
                    "code_generation": 40_000_000,
                },
            ),
        ),
    )
    return msgspec.structs.replace(made, **fields)


def samples(*ns: int, calls: int = 16) -> Samples:
    """Return one side's samples."""
    return Samples(ns_per_call=ns, calls=calls)


def timing(left_ns: int, right_ns: int, blocks: int = 24) -> Timing:
    """Return samples around two medians, spread by up to 3 % in a fixed pattern."""

    def around(center: int, step_by: int) -> Samples:
        spread = [index * step_by % 13 - 6 for index in range(blocks)]
        return samples(*(center + center * step // 200 for step in spread))

    return Timing(
        left=around(left_ns, 7),
        right=around(right_ns, 5),
        noise_a=around(left_ns, 8),
        noise_b=around(left_ns, 6),
        warmup_calls=3,
        stopping_rule="both intervals narrower than 1 %, or 1 s",
        stopped_by="precision",
    )


def run(left: Capture | None = None, right: Capture | None = None, **fields: object) -> Run:
    """Return a run of `case.py`."""
    made = Run(
        case=CaseInfo(name="case", file="/work/cases/case.py", summary="A case."),
        environment=Environment(torch="2.14.1", python="3.11.2", cpu="a CPU", threads=2),
        options=CompileOptions(),
        left=left or capture(),
        right=right or capture("compiled"),
        created="2026-12-01T06:30:19+00:00",
    )
    return msgspec.structs.replace(made, **fields)


def rewrite(
    number: int,
    rule: str,
    left: tuple[str, ...],
    right: tuple[str, ...] = (),
    **fields: object,
) -> Rewrite:
    """Return a rewrite `r<number>`."""
    made = Rewrite(id=f"r{number}", rule=rule, left=left, right=right, why=f"Why {rule} fires.")
    return msgspec.structs.replace(made, **fields)


def diff(
    fates: dict[str, tuple[FateKind, str]],
    origins: dict[str, tuple[str, ...] | str],
    rewrites: tuple[Rewrite, ...] = (),
    **fields: object,
) -> Diff:
    """Return a diff from {op: (fate, rewrite or "")} and {item: its op calls, or why it was introduced}."""
    made = Diff(
        left_label="eager",
        right_label="compiled",
        fates={
            item: Fate(fate=fate, rewrite=by or None, why=f"why it is {fate}")
            for item, (fate, by) in fates.items()
        },
        origins={
            item: Origin(introduced=origin) if isinstance(origin, str) else Origin(op_calls=origin)
            for item, origin in origins.items()
        },
        rewrites=rewrites,
    )
    return msgspec.structs.replace(made, **fields)
