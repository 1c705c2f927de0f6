"""The head of a report: one sentence, numbers, sums, warnings."""

import msgspec
import pytest

from compdiff.model import Run, Timing
from compdiff.report.headline import Headline
from compdiff.report.view import make_page
from tests.builders import timing
from tests.report.examples import Example, geglu, linear, training
from tests.variants import planned_golden


def head(example: Example) -> Headline:
    """Return an example's head."""
    return make_page(*example).head


def timed(made: Timing | None) -> str:
    """Return the sentence of the smallest case with other times."""
    run, diff = linear()
    return head(Example(msgspec.structs.replace(run, timing=made), diff)).sentence


def test_the_sentence_says_all_in_order() -> None:
    """Structure, speed, numerics, what is unexplained."""
    assert head(linear()).sentence == (
        "2 op calls became 1 op call; 1.80x faster (1.77 to 1.83); outputs agree; nothing unexplained."
    )


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (timing(90_000, 50_000), "1.80x faster"),
        (timing(50_000, 90_000), "1.80x slower"),
        (timing(50_000, 50_000), "as fast within noise"),
        (None, "not timed"),
    ],
)
def test_speed_in_words(made: Timing | None, words: str) -> None:
    """Faster and slower are told as ratios above one; no time is no claim."""
    assert words in timed(made)


def test_unexplained_is_in_the_sentence() -> None:
    """It is the first thing to fix."""
    run, diff = training()
    ended_well = Example(msgspec.structs.replace(run, failure=None), diff)
    assert "1 op call and 1 compiled item unexplained" in head(ended_well).sentence


def test_a_run_that_ended_early_says_so_instead() -> None:
    """What is unexplained there is so because the rest is missing."""
    assert head(training()).sentence.startswith("Incomplete. Ended in compare outputs")


def test_sums_have_all_parts() -> None:
    """The parts of each sum add up to it."""
    for sums in head(geglu()).sums, head(training()).sums:
        for one in sums:
            assert sum(part.count for part in one.parts) == one.total


def test_warnings_name_their_side() -> None:
    """A reader knows whose clocks were not fixed."""
    notices = {notice.id: notice.side for notice in head(training()).notices}
    assert notices["clocks"] == "eager"
    assert notices["observer"] == "compiled"


def test_estimates_of_a_plan_have_their_own_rows() -> None:
    """They are never in a row for measured times."""
    names = [metric.name for metric in head(Example(*planned_golden("mlp_geglu"))).metrics]
    assert "Device time, estimated" in names
    assert "Device time" not in names
    assert "Time per call" not in names


def test_a_busy_machine_is_said() -> None:
    """Times that others disturbed come with a warning."""
    run, diff = linear()
    assert isinstance(run, Run)
    assert run.timing is not None
    loud = msgspec.structs.replace(run.timing, others_cpu=0.5)
    notices = head(Example(msgspec.structs.replace(run, timing=loud), diff)).notices
    assert "busy-machine" in [notice.id for notice in notices]
