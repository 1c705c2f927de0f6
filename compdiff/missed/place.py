"""What a near miss is. In: nothing, these are types. Out: a place, the conditions that a rule asks of it, both as data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from compdiff.align.items import in_order, left_op
from compdiff.missed.graph_view import GraphView
from compdiff.model import OpCall, Rewrite, Run
from compdiff.rewrites.facts import Facts, trace_ids


@dataclass(frozen=True)
class Site:
    """What places are looked for in: a run with the facts of its alignment, and the rewrites found."""

    run: Run
    facts: Facts
    rewrites: tuple[Rewrite, ...]


@dataclass(frozen=True)
class Cost:
    """What a place costs: launches that one kernel would spare, and bytes written only to be read again."""

    launches: int = 0
    bytes_moved: int = 0


NO_COST = Cost()


@dataclass(frozen=True)
class Place:
    """Somewhere that a rule might apply."""

    site: Site

    @property
    def left(self) -> tuple[str, ...]:
        """The op calls concerned."""
        raise NotImplementedError

    @property
    def right(self) -> tuple[str, ...]:
        """The right items that do their work; kernels that an op call among them launched are left out."""
        facts = self.site.facts
        items = in_order(item for op in self.left for item in facts.traces_by_id[op].items)
        return tuple(it for it in items if getattr(facts.items[it], "op_call", None) is None)

    @property
    def source(self) -> str:
        """The line of the last op call that has one, as `file:line`."""
        calls = (self.site.facts.traces_by_id[op].call for op in self.left)
        places = [call.source for call in calls if call.source is not None]
        return f"{places[-1].file}:{places[-1].line}" if places else ""

    @property
    def cost(self) -> Cost:
        """What the reader loses here; nothing where that is not known."""
        return NO_COST

    @property
    def quote(self) -> str:
        """Torch's own words, where it gave its reason."""
        return ""


@dataclass(frozen=True)
class GraphPlace(Place):
    """Some nodes of a graph."""

    view: GraphView

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes concerned, in graph order."""
        raise NotImplementedError

    @property
    def left(self) -> tuple[str, ...]:
        """The op calls whose work the nodes do."""
        facts, graph = self.site.facts, self.view.compiled
        joint = {
            (graph.compile_id, origin)
            for name in self.names
            for origin in self.view.joint_origins(facts, name)
        }
        return trace_ids(facts.with_joint_node(joint))


@dataclass(frozen=True)
class CallsPlace(Place):
    """Some left op calls."""

    calls: tuple[OpCall, ...]

    @property
    def left(self) -> tuple[str, ...]:
        """The op calls."""
        return tuple(left_op(call.id) for call in self.calls)


AnyPlace = TypeVar("AnyPlace", bound=Place)


@dataclass(frozen=True, kw_only=True)
class Need(Generic[AnyPlace]):
    """One condition that a rule asks of a place.

    Attributes:
        holds: a named predicate; its docstring names the file of torch that asks for it.
        otherwise: what to say where it does not hold; `{it.…}` are properties of the place.
        location: the file of torch.
    """

    holds: Callable[[AnyPlace], bool]
    otherwise: str
    location: str

    @property
    def name(self) -> str:
        """The condition's name."""
        return self.holds.__name__

    def failure(self, place: AnyPlace) -> str:
        """Return why the condition does not hold for a place, or "" where it does."""
        return "" if self.holds(place) else self.otherwise.format(it=place)


@dataclass(frozen=True, kw_only=True)
class Opportunity(Generic[AnyPlace]):
    """Where one rule might apply, and what it asks there, in the order in which torch asks.

    Attributes:
        rule: the rule's name.
        kind: what there must be for it to apply at all, as in "no aten::mm followed by an addition in the case".
        of: names of op calls without any of which that need not be said, as in "no aten::mm in the case".
        find: yields the places that are worth a look.
        needs: the conditions.
        rest: what to say of a place where all of them hold.
        expected: whether a place that fails is worth a card when nobody asked.
    """

    rule: str
    kind: str
    find: Callable[[Site], Iterable[AnyPlace]]
    needs: tuple[Need[AnyPlace], ...]
    of: tuple[str, ...] = ()
    rest: str = "All conditions that compdiff knows of hold here; torch does not say what else kept it from applying."
    expected: bool = False
