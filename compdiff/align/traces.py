"""What alignment finds. In: nothing, these are types. Out: a trace for each left op call, and all traces together."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from compdiff.align.items import left_op
from compdiff.align.lineage import Lineage, NodeRef
from compdiff.model import Capture, Certainty, GraphNode, Match, OpCall, PassEvent

# Name, overload, shapes of the tensors.
CallKey = tuple[str, str, tuple[tuple[int, ...], ...]]
# Op calls that only allocate: the wrapper's memory plan takes their place, and no graph node does.
ALLOCATIONS = frozenset(
    {"aten::empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty"}
)
# Ops that fill a tensor, and read no more of their input than its shape.
SHAPED_LIKE = frozenset(
    {
        "aten::full_like",
        "aten::new_full",
        "aten::new_ones",
        "aten::new_zeros",
        "aten::ones_like",
        "aten::zeros_like",
    }
)


@dataclass
class OpTrace:
    """What is known of one left op call's way to the right.

    `kept` is the right op call that it simply is, outside compiled graphs. Else `joint` are the joint nodes it became,
    `finals` the post-grad nodes that do its work, `items` the right items that run them, and `events` the pass
    events that removed nodes of it.
    """

    call: OpCall
    compile_id: str | None = None
    dynamo_node: str | None = None
    joint: list[GraphNode] = field(default_factory=list)
    finals: list[NodeRef] = field(default_factory=list)
    items: tuple[str, ...] = ()
    events: list[PassEvent] = field(default_factory=list)
    kept: str | None = None
    certainty: Certainty = "certain"
    by: str = ""

    @property
    def id(self) -> str:
        """The diff's id of the op call."""
        return left_op(self.call.id)


@dataclass
class Alignment:
    """All traces, in left order, with the lineage they rest on and the matches made.

    `prepares` maps a generated kernel to the right op call whose input it copies: both name the op call's node. `replays`
    says of a kernel in a replayed CUDA graph which captured launch it is, where no left op call made that. Where no
    compiler tells, `backward` holds the generated kernels that are guessed to run in a backward pass.
    """

    left: Capture
    right: Capture
    traces: list[OpTrace]
    lineage: Lineage
    item_nodes: dict[str, list[NodeRef]]
    matches: list[Match]
    prepares: dict[str, str] = field(default_factory=dict)
    replays: dict[str, str] = field(default_factory=dict)
    backward: frozenset[str] = frozenset()


def has_no_elements(call: OpCall) -> bool:
    """Return whether a call gives tensors, and all are empty: there is nothing to compute."""
    return bool(call.outputs) and all(0 in meta.shape for meta in call.outputs)


def hands_over_a_gradient(call: OpCall) -> bool:
    """Return whether autograd made the call to hand a gradient to its parameter."""
    return call.autograd_node.endswith("AccumulateGrad")


def call_key(name: str, overload: str, shapes: Iterable[tuple[int, ...]]) -> CallKey:
    """Return what two passes agree on for one call; in place or not may depend on who watches."""
    return name.rstrip("_"), overload, tuple(shapes)
