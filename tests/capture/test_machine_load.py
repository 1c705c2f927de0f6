"""Tests of compdiff.capture.machine_load."""

import pytest

from compdiff.capture.machine_load import Moment, now, others_share


@pytest.mark.parametrize(
    ("after", "share"),
    [
        (Moment(total_s=10, idle_s=10, own_s=0), 0.0),
        (Moment(total_s=10, idle_s=5, own_s=5), 0.0),
        (Moment(total_s=10, idle_s=0, own_s=5), 0.5),
        (Moment(total_s=10, idle_s=5, own_s=6), 0.0),
        (Moment(total_s=0, idle_s=0, own_s=0), 0.0),
    ],
)
def test_share_is_what_is_neither_idle_nor_own(after: Moment, share: float) -> None:
    """Of the machine's time, idle and own time are taken off; rounding never makes the share negative."""
    assert others_share(Moment(total_s=0, idle_s=0, own_s=0), after) == share


def test_unknown_moments_give_nothing() -> None:
    """Where the system does not tell, no load is claimed."""
    assert others_share(None, now()) == 0.0


def test_this_system_tells() -> None:
    """Linux gives times that only grow."""
    first, second = now(), now()
    assert first is not None
    assert second is not None
    assert second.total_s >= first.total_s > 0
