"""One run of a compiled graph, as its wrapper calls are seen. In: a graph. Out: which call an op call or kernel is."""

from collections.abc import Callable
from dataclasses import dataclass, field

from compdiff.model import CompiledGraph, WrapperCall


@dataclass(kw_only=True)
class GraphRun:
    """One run of a compiled graph, with the wrapper calls that have been seen in it."""

    graph: CompiledGraph
    seen: set[int] = field(default_factory=set)

    def take(self, matches: Callable[[WrapperCall], bool]) -> int | None:
        """Return the index of the first unseen wrapper call that `matches`, which is then seen; None if none does."""
        for call in self.graph.calls:
            if call.index not in self.seen and matches(call):
                self.seen.add(call.index)
                return call.index
        return None
