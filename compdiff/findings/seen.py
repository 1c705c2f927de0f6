"""What a detector sees. In: nothing. Out: Seen, the record that a finding is made from."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from compdiff.model import SAME_TRACE, Capture, Run, Side


@dataclass(frozen=True)
class Seen:
    """One thing that was seen. The unit of a number ends its name: `_ns`, `_percent`."""

    side: str
    numbers: dict[str, int | float | str] = field(default_factory=dict)
    items: tuple[str, ...] = ()


def sides(run: Run) -> Iterator[tuple[Side, Capture]]:
    """Yield both sides of a run with their names; of a run that shows one trace beside itself the left one only."""
    yield "left", run.left
    if run.right.label != SAME_TRACE:
        yield "right", run.right
