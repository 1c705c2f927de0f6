"""What a detector sees. In: nothing. Out: Seen, the record that a finding is made from."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from compdiff.model import Capture, Run, Side


@dataclass(frozen=True)
class Seen:
    """One thing that was seen. The unit of a number ends its name: `_ns`, `_percent`."""

    side: str
    numbers: dict[str, int | float | str] = field(default_factory=dict)
    items: tuple[str, ...] = ()


def sides(run: Run) -> Iterator[tuple[Side, Capture]]:
    """Yield both sides of a run with their names."""
    yield "left", run.left
    yield "right", run.right
