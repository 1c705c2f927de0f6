"""The parts of a step, from several steps."""

from hypothesis import given
from hypothesis import strategies as st

from compdiff.kineto.split import OTHER, PARTS
from compdiff.ladder.splits import make_split
from compdiff.model import StepSplit


def split(**parts: int) -> StepSplit:
    """Return a step with these parts."""
    return StepSplit(total_ns=sum(parts.values()), parts_ns=parts)


def test_no_steps_no_split() -> None:
    """A rung that was not profiled has none."""
    assert make_split(()) is None


def test_disturbed_steps_are_left_out() -> None:
    """The mean is that of the middle half by total time; the interval knows all steps."""
    steps = [split(lookup=10, other=90)] * 6 + [split(lookup=10, other=100_000)]
    found = make_split(steps)
    assert found is not None
    assert (found.steps, found.total_ns) == (7, 100)
    assert {part.name: part.ns for part in found.parts} == {"lookup": 10, "other": 90}
    assert found.parts[-1].high_ns == 100_000


def test_a_part_of_one_step_counts() -> None:
    """A part that most steps have not is a part, with its mean; `other` is always shown."""
    found = make_split([split(launches=8, device=92), split(device=100), split(device=100)])
    assert found is not None
    assert [(part.name, part.ns) for part in found.parts] == [
        ("device", 97),
        ("launches", 3),
        ("other", 0),
    ]


def test_what_the_host_does_in_all() -> None:
    """It is known where a device ran something; the device itself has none."""
    step = StepSplit(
        total_ns=100, parts_ns={"device": 80, "launches": 20}, host_ns={"launches": 60, "other": 40}
    )
    found = make_split([step])
    assert found is not None
    assert [(part.name, part.host_ns) for part in found.parts] == [
        ("device", None),
        ("launches", 60),
        ("other", 40),
    ]


_PARTS = st.dictionaries(st.sampled_from([*PARTS, OTHER]), st.integers(0, 10_000))


@given(st.lists(_PARTS, min_size=1, max_size=12))
def test_parts_add_up(drawn: list[dict[str, int]]) -> None:
    """They are the whole, which is the mean of the middle half but for rounding."""
    found = make_split([split(**parts) for parts in drawn])
    assert found is not None
    assert sum(part.ns for part in found.parts) == found.total_ns
    totals = sorted(sum(parts.values()) for parts in drawn)
    out = len(totals) // 4
    middle = totals[out : len(totals) - out]
    assert abs(found.total_ns - sum(middle) / len(middle)) <= len(PARTS)
