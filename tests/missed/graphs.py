"""Small graphs to look for places in. In: nodes and op calls in one line each. Out: sites."""

import msgspec

from compdiff.align.alignment import align
from compdiff.missed.engine import first_failure
from compdiff.missed.place import AnyPlace, Opportunity, Site
from compdiff.model import (
    CompileOptions,
    Graph,
    GraphNode,
    Kernel,
    OpCall,
    Option,
    PassEvent,
    Refusal,
    Target,
    TensorMeta,
    WrapperCall,
)
from compdiff.rewrites.facts import Facts
from tests.builders import capture, compiler, graph, run, tensor


def given(name: str, *shape: int, dtype: str = "float32", device: str = "cuda:0") -> GraphNode:
    """Return an input of a graph."""
    meta = tensor(*shape, dtype=dtype, device=device)
    return GraphNode(name=name, op="placeholder", target=name, outputs=(meta,))


def made(
    name: str, target: str, *inputs: str, gives: TensorMeta, arguments: str = "", original: str = ""
) -> GraphNode:
    """Return a call node that gives one tensor."""
    return GraphNode(
        name=name,
        op="call_function",
        target=target,
        inputs=tuple(dict.fromkeys(inputs)),
        arguments=arguments or ", ".join(inputs),
        outputs=(gives,),
        original_aten=original,
    )


def returned(*inputs: str) -> GraphNode:
    """Return the output of a graph."""
    return GraphNode(name="output", op="output", target="output", inputs=inputs)


def site(  # noqa: PLR0913 - the parts of a run
    *nodes: GraphNode,
    left: tuple[OpCall, ...] = (),
    left_outputs: tuple[int, ...] = (),
    kernels: tuple[Kernel, ...] = (),
    calls: tuple[WrapperCall, ...] = (),
    refusals: tuple[Refusal, ...] | None = None,
    passes: tuple[PassEvent, ...] = (),
    direction: str = "inference",
    target: Target | None = None,
    options: dict[str, Option] | None = None,
) -> Site:
    """Return a run of one graph, with these nodes at both stages, as what places are looked for in."""
    compiled = msgspec.structs.replace(
        graph(direction=direction),
        joint=Graph(stage="joint", nodes=nodes),
        post_grad=Graph(stage="post_grad", nodes=nodes),
        calls=calls,
        refusals=refusals,
        passes=passes,
    )
    whole = run(
        capture("eager", left, output_values=left_outputs),
        capture("compiled", kernels=kernels, compiler=compiler((compiled,))),
        options=CompileOptions(options=options or {}),
        target=target,
    )
    return Site(whole, Facts(align(whole.left, whole.right)), ())


def reasons(row: Opportunity[AnyPlace], where: Site) -> list[tuple[str, str]]:
    """Return (condition, sentence) of the first failure at each place."""
    return [first_failure(row, place)[:2] for place in row.find(where)]
