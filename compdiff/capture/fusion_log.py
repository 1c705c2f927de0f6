"""Why kernels were not fused. In: torch's scheduler at work. Out: Refusals, in its own words, of what stayed two kernels.

Private names of torch: WhyNoFuse, torch/_inductor/scheduler.py (torch 2.13 and 2.14), which is made for each pair of nodes
that the scheduler considers and called with the reason when it declines. It logs them as `TORCH_LOGS=fusion` does.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

from compdiff.model import Refusal, WrapperCall


# Said of a pair that was asked for in the wrong order; the right one has its own reason.
_ASKED_BACKWARDS = "node1 must go before node2"


@dataclass(frozen=True)
class Declined:
    """Two groups of post-grad nodes that the scheduler looked at: the second reads what the first writes."""

    first: frozenset[str]
    second: frozenset[str]
    reason: str


@contextlib.contextmanager
def declined_fusions(note: Callable[[Declined], None]) -> Iterator[None]:
    """Hand each pair of a producer and its consumer that the scheduler does not fuse to `note`, with its reason."""
    from torch._inductor.scheduler import WhyNoFuse

    make, say = WhyNoFuse.__init__, WhyNoFuse.__call__
    # By the id of the WhyNoFuse, which has no room for more: the newest of an id is the one alive.
    pairs: dict[int, tuple[Any, Any]] = {}

    def keep_nodes(self: Any, node1: Any, node2: Any) -> None:
        make(self, node1, node2)
        pairs[id(self)] = node1, node2

    def say_and_note(self: Any, reason: str, *args: Any) -> None:
        say(self, reason, *args)
        for first, second in (pairs[id(self)], pairs[id(self)][::-1]):
            if reason != _ASKED_BACKWARDS and _reads(second) & set(first.get_buffer_names()):
                note(Declined(_origins(first), _origins(second), reason % args))

    with (
        mock.patch.object(WhyNoFuse, "__init__", keep_nodes),
        mock.patch.object(WhyNoFuse, "__call__", say_and_note),
    ):
        yield


def _reads(node: Any) -> set[str]:
    return {dependency.name for dependency in node.read_writes.reads}


def _origins(node: Any) -> frozenset[str]:
    """Return the names of the post-grad nodes that a node of the scheduler computes."""
    buffers = (one.node for one in node.get_nodes() if one.node is not None)
    return frozenset(origin.name for buffer in buffers for origin in buffer.get_origins())


def refusals(declined: Sequence[Declined], calls: Sequence[WrapperCall]) -> tuple[Refusal, ...]:
    """Return why pairs of calls of the wrapper are not one: of each pair the last that the scheduler said.

    Groups that grew before the end are told by their parts: the scheduler fuses in rounds, and says why again in each.
    """
    nodes = {call.index: frozenset(call.nodes) for call in calls}
    homes: dict[str, list[int]] = {}
    for index, names in nodes.items():
        for name in names:
            homes.setdefault(name, []).append(index)
    last: dict[tuple[int, int], str] = {}
    for one in declined:
        for first in _holding(one.first, homes, nodes):
            for second in _holding(one.second, homes, nodes):
                if first != second:
                    last[first, second] = one.reason
    return tuple(
        Refusal(first=first, second=second, reason=reason)
        for (first, second), reason in sorted(last.items())
    )


def _holding(
    names: frozenset[str], homes: dict[str, list[int]], nodes: dict[int, frozenset[str]]
) -> list[int]:
    """Return the calls that compute all of these nodes."""
    some = next(iter(names), None)
    return [] if some is None else [index for index in homes.get(some, ()) if names <= nodes[index]]
