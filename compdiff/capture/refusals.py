"""Which kernels the scheduler kept apart. In: what it declined, what kernels compute. Out: Refusals of wrapper calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compdiff.model import Refusal


@dataclass(frozen=True)
class Declined:
    """Two groups of Inductor's operations that the scheduler looked at: the second reads what the first writes.

    `tensors` are the post-grad nodes whose values lie between, as far as a buffer stands for one node.
    """

    first: frozenset[str]
    second: frozenset[str]
    tensors: tuple[str, ...]
    reason: str


def refusals(
    declined: Sequence[Declined], handles: Sequence[str], operations: Mapping[str, frozenset[str]]
) -> tuple[Refusal, ...]:
    """Return why pairs of calls of the wrapper are not one: the last reason of what the two compute, else of parts of it.

    What was said of parts of them, before they had grown, may not be all that keeps the whole apart. `handles` are those of
    the calls, in order.
    """
    computed = [operations.get(handle, frozenset()) for handle in handles]
    home = {name: index for index, names in enumerate(computed) for name in names}
    last: dict[tuple[int, int], Refusal] = {}
    for one in declined:
        calls = (_only_home(one.first, home), _only_home(one.second, home))
        if None in calls or calls[0] == calls[1]:
            continue
        first, second = calls[0] or 0, calls[1] or 0
        whole = (one.first, one.second) == (computed[first], computed[second])
        known = last.get((first, second))
        if known is None or whole >= known.whole:
            last[first, second] = Refusal(
                first=first, second=second, tensors=one.tensors, reason=one.reason, whole=whole
            )
    return tuple(last[pair] for pair in sorted(last))


def _only_home(names: frozenset[str], home: Mapping[str, int]) -> int | None:
    """Return the call that computes all of these operations, None where there is none."""
    homes = {home.get(name) for name in names}
    return homes.pop() if len(homes) == 1 else None
