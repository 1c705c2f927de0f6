"""What is kept of a compilation. In: what `inductor`'s patches hand over, part by part. Out: compiled graphs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from compdiff.capture.graphs import DynamoNames
from compdiff.capture.pass_log import PassLog
from compdiff.capture.refusals import Declined, refusals
from compdiff.compile_log.log import CompileLog
from compdiff.compile_log.wrapper import call_handles, wrapper_calls
from compdiff.model import (
    PRE_GRAD,
    CaptureWarning,
    CompiledGraph,
    Graph,
    PassEvent,
    Refusal,
)


@dataclass
class Place:
    """Where the running step is: the compiled graph and node that make the calls; `paused` while none is to be noted."""

    compile_id: str | None = None
    node: str | None = None
    paused: bool = False


@dataclass
class Lowering:
    """One graph on its way through Inductor."""

    compile_id: str
    direction: str
    post_grad: Graph | None = None
    events: list[PassEvent] = field(default_factory=list)
    kernels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    declined: list[Declined] = field(default_factory=list)
    operations: dict[str, frozenset[str]] = field(default_factory=dict)
    wrapper_code: str = ""
    lowering_id: int | None = None


def _refusals(lowering: Lowering) -> tuple[Refusal, ...]:
    handles = call_handles(lowering.wrapper_code, lowering.kernels)
    return refusals(lowering.declined, handles, lowering.operations)


@dataclass
class Recorder:
    """What the compiler said, as it said it. `attributing` makes compiled graphs run node by node instead.

    `hears_scheduler` says that what the scheduler declines is noted, so that nothing noted means nothing declined.
    `compile_id` gives the id of the compilation that runs now.
    """

    compile_id: Callable[[], str]
    log: CompileLog = field(default_factory=CompileLog)
    place: Place = field(default_factory=Place)
    attributing: bool = False
    hears_scheduler: bool = False
    warnings: list[CaptureWarning] = field(default_factory=list)
    dynamo: dict[str, Graph] = field(default_factory=dict)
    dynamo_names: dict[str, DynamoNames] = field(default_factory=dict)
    joint: dict[str, Graph] = field(default_factory=dict)
    joint_events: dict[str, list[PassEvent]] = field(default_factory=dict)
    lowerings: list[Lowering] = field(default_factory=list)
    current: Lowering | None = None
    before_autograd: bool = False
    passes: PassLog = field(init=False)

    def __post_init__(self) -> None:
        self.passes = PassLog(emit=self.add_event, stage=self.stage, dynamo_names=self.known_names)

    def same_graph(self, identity: str, known: Collection[str]) -> str:
        """Return the last of the `known` compilations that traced the same nodes in the same frame, else `identity`."""
        if identity in known:
            return identity
        frame, nodes = identity.partition("/")[0], _targets(self.dynamo[identity])
        latest_first = (it for it in reversed(self.dynamo) if it in known)
        of_frame = (it for it in latest_first if it.partition("/")[0] == frame)
        return next((it for it in of_frame if _targets(self.dynamo[it]) == nodes), identity)

    def graphs(self) -> tuple[CompiledGraph, ...]:
        """Return the compiled graphs in the order in which they were compiled."""
        found: list[CompiledGraph] = []
        seen: set[str] = set()
        for lowering in self.lowerings:
            if lowering.compile_id not in self.dynamo:
                continue
            again = lowering.compile_id in seen
            shared = [] if again else self.joint_events.get(lowering.compile_id, [])
            seen.add(lowering.compile_id)
            calls, code = wrapper_calls(lowering.wrapper_code, lowering.kernels)
            found.append(
                CompiledGraph(
                    id=len(found),
                    compile_id=lowering.compile_id,
                    direction=lowering.direction,
                    lowering_id=lowering.lowering_id,
                    dynamo=None if again else self.dynamo[lowering.compile_id],
                    joint=None if again else self.joint.get(lowering.compile_id),
                    post_grad=lowering.post_grad,
                    passes=(*shared, *lowering.events),
                    calls=calls,
                    refusals=_refusals(lowering) if self.hears_scheduler else None,
                    wrapper_code=code,
                )
            )
        lowered = {graph.compile_id for graph in found}
        for compile_id, dynamo in self.dynamo.items():
            if compile_id not in lowered:
                graph = CompiledGraph(
                    id=len(found), compile_id=compile_id, direction="forward", dynamo=dynamo
                )
                found.append(graph)
        return tuple(found)

    def add_event(self, event: PassEvent) -> None:
        """Keep one pass event with the graph it changed."""
        if self.current is not None:
            self.current.events.append(event)
            return
        self.joint_events.setdefault(self.compile_id(), []).append(event)
        if event.stage == PRE_GRAD:
            self._know(event)

    def _know(self, event: PassEvent) -> None:
        """Let nodes of the joint graph name those that a pass made before autograd traced the graph, as those of Dynamo."""
        known = self.known_names()
        made = frozenset(node.name for node in event.created)
        self.dynamo_names[self.compile_id()] = replace(known, nodes=known.nodes | made)

    def known_names(self) -> DynamoNames:
        """Return the node names of the Dynamo graph that is being compiled."""
        return self.dynamo_names.get(self.compile_id(), DynamoNames())

    def stage(self) -> str:
        """Return the stage of the graph that passes work on now."""
        if self.current is not None:
            return "post_grad"
        return PRE_GRAD if self.before_autograd else "joint"


def _targets(graph: Graph) -> list[tuple[str, str]]:
    return [(node.name, node.target) for node in graph.nodes]
