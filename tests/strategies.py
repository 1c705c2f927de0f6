"""Hypothesis strategies for runs: small captures with and without a compiler's account."""

from hypothesis import strategies as st

from compdiff.model import (
    AttributedCall,
    Capture,
    CaseInfo,
    CompiledGraph,
    CompileOptions,
    Compiler,
    Environment,
    Graph,
    GraphNode,
    Kernel,
    OpCall,
    PassEvent,
    Run,
    TensorMeta,
    WrapperCall,
)

_NAMES = ("mm", "add", "relu", "t", "sum", "native_dropout", "full", "nll_loss_forward")


@st.composite
def op_calls(draw: st.DrawFn, most: int = 6) -> tuple[OpCall, ...]:
    """Return op calls in order; some in place, some views, with data flow between them."""
    calls = []
    for index in range(draw(st.integers(0, most))):
        source = draw(st.integers(0, index))
        view = draw(st.booleans())
        taken = _tensor(source, source)
        given = _tensor(index + 1, source if view else index + 1)
        calls.append(
            OpCall(
                id=index,
                name=f"aten::{draw(st.sampled_from(_NAMES))}",
                inputs=(taken,) if draw(st.booleans()) else (),
                outputs=(given,),
                mutates=draw(st.booleans()),
            )
        )
    return tuple(calls)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return a run whose right side was compiled from its left side in some way, true or not."""
    left = draw(op_calls())
    inside = [call for call in left if draw(st.booleans())]
    right_calls = tuple(
        _renumbered(call, index) for index, call in enumerate(draw(op_calls(most=4)))
    )
    compiler = draw(st.none() | _compilers(left, inside))
    kernels: tuple[Kernel, ...] = ()
    if compiler is not None:
        calls = compiler.graphs[0].calls
        kernels = tuple(
            Kernel(id=index, name=call.name, kind="cpp", graph=0, call=call.index)
            for index, call in enumerate(calls)
            if call.kind == "cpp"
        )
    first = 1 + max((kernel.id for kernel in kernels), default=-1)
    kernels += draw(_library_kernels(right_calls, first))
    return Run(
        case=CaseInfo(name="case", file="case.py"),
        environment=Environment(),
        options=CompileOptions(),
        left=Capture(
            label="eager",
            basis="measured",
            device="cpu",
            op_calls=left,
            output_values=(draw(st.integers(0, 6)),),
        ),
        right=Capture(
            label="compiled",
            basis="measured",
            device="cpu",
            op_calls=right_calls,
            kernels=kernels,
            compiler=compiler,
        ),
    )


@st.composite
def _library_kernels(draw: st.DrawFn, calls: tuple[OpCall, ...], first: int) -> tuple[Kernel, ...]:
    """Return kernels that some op calls launched, and at times one that none did."""
    launchers = [call.id for call in calls if draw(st.booleans())]
    owners = [*launchers, *([None] if draw(st.booleans()) else [])]
    return tuple(
        Kernel(
            id=first + index,
            name=draw(st.sampled_from(("gemm_128x64", "gemm_64x64"))),
            kind="library" if owner is not None else "memcpy",
            op_call=owner,
        )
        for index, owner in enumerate(owners)
    )


@st.composite
def _compilers(draw: st.DrawFn, left: tuple[OpCall, ...], inside: list[OpCall]) -> Compiler:
    nodes = tuple(
        GraphNode(
            name=f"n{call.id}",
            op="call_function",
            target=f"{call.name.replace('::', '.')}.default",
            dynamo_nodes=(f"d{call.id}",),
            original_aten=f"{call.name.replace('::', '.')}.default",
        )
        for call in inside
    )
    gone = [node for node in nodes if draw(st.booleans())]
    pattern = draw(st.sampled_from(("", "addmm", "pointless_convert", "anything")))
    made = GraphNode(name="made", op="call_function", target="aten.addmm.default")
    events = (
        PassEvent(
            stage="post_grad", pass_name="p", pattern=pattern, removed=tuple(gone), created=(made,)
        ),
    )
    finals = (*(node for node in nodes if node not in gone), *((made,) if gone else ()))
    calls = tuple(
        WrapperCall(
            index=index,
            name=f"cpp_fused_{index}",
            kind=draw(st.sampled_from(("cpp", "extern"))),
            nodes=tuple(node.name for node in finals if draw(st.booleans())),
        )
        for index in range(draw(st.integers(0, 3)))
    )
    graph = CompiledGraph(
        id=0,
        compile_id="0/0",
        direction="inference",
        joint=Graph(stage="joint", nodes=nodes),
        post_grad=Graph(stage="post_grad", nodes=finals),
        passes=events if gone else (),
        calls=calls,
    )
    attributed = tuple(
        AttributedCall(
            name=call.name,
            overload=call.overload,
            shapes=tuple(meta.shape for meta in call.inputs),
            dtypes=tuple(meta.dtype for meta in call.inputs),
            compile_id="0/0" if call in inside else None,
            node=f"d{call.id}" if call in inside else None,
        )
        for call in left
    )
    return Compiler(backend="inductor", graphs=(graph,), attributed=attributed)


def _tensor(value: int, storage: int) -> TensorMeta:
    return TensorMeta(shape=(2, 2), dtype="float32", device="cpu", value=value, storage=storage)


def _renumbered(call: OpCall, index: int) -> OpCall:
    return OpCall(id=index, name=call.name, inputs=call.inputs, outputs=call.outputs)
