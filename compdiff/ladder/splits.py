"""Where the time of a step goes. In: the splits of profiled steps. Out: parts that add up, each with its interval."""

from collections.abc import Sequence

from compdiff.kineto.split import OTHER, PARTS
from compdiff.ladder.records import PartTime, Split
from compdiff.model import StepSplit
from compdiff.timing import median_interval

ALL_PARTS = (*PARTS, OTHER)


def make_split(splits: Sequence[StepSplit]) -> Split | None:
    """Return the mean of the middle half of the steps, by total time; None without steps.

    A mean, unlike medians, leaves the parts adding up to the whole; the middle half leaves out the steps that something
    disturbed. What rounding leaves goes to `other`.
    """
    if not splits:
        return None
    middle = _middle_half(splits)
    total = round(sum(it.total_ns for it in middle) / len(middle))
    ns = {name: _mean(middle, name) for name in PARTS}
    ns[OTHER] = max(0, total - sum(ns.values()))
    parts = [_part(name, ns[name], splits, middle) for name in ALL_PARTS if _seen(name, splits)]
    return Split(steps=len(splits), total_ns=sum(part.ns for part in parts), parts=tuple(parts))


def part_samples(splits: Sequence[StepSplit], name: str) -> list[int]:
    """Return how long one part took in each step."""
    return [split.parts_ns.get(name, 0) for split in splits]


def _part(name: str, ns: int, splits: Sequence[StepSplit], middle: Sequence[StepSplit]) -> PartTime:
    _, low, high = median_interval([float(it) for it in part_samples(splits, name)])
    on_host = any(split.host_ns for split in splits) and name != "device"
    host_ns = round(sum(it.host_ns.get(name, 0) for it in middle) / len(middle))
    return PartTime(
        name=name,
        ns=ns,
        low_ns=round(low),
        high_ns=round(high),
        host_ns=host_ns if on_host else None,
    )


def _middle_half(splits: Sequence[StepSplit]) -> Sequence[StepSplit]:
    ordered = sorted(splits, key=lambda it: it.total_ns)
    left_out = len(ordered) // 4
    return ordered[left_out : len(ordered) - left_out]


def _mean(splits: Sequence[StepSplit], name: str) -> int:
    return round(sum(part_samples(splits, name)) / len(splits))


def _seen(name: str, splits: Sequence[StepSplit]) -> bool:
    return name == OTHER or any(part_samples(splits, name))
