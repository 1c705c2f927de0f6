"""Which part of a trace is read."""

import pytest

from compdiff import kineto
from compdiff.errors import CompdiffError
from compdiff.importers.steps import choose_window
from tests.importers.traces import captured, event, kernel, launch, said, trace_bytes


def step(number: int, start: float, duration: float) -> dict[str, object]:
    """Return a profiler step."""
    return event(f"ProfilerStep#{number}", start, duration, cat="user_annotation")


STEPS = (step(3, 0, 900), step(4, 1000, 100), step(5, 2000, 300), step(6, 3000, 110))


def window(step: int | None = None, between: tuple[str, str] | None = None) -> tuple[int, str]:
    """Return the start in microseconds and the note of the window of STEPS."""
    found = choose_window(kineto.read(trace_bytes(*STEPS)).events, step, between)
    return found.start_ns // 1000, found.note


def test_the_median_steady_step() -> None:
    """The first step is cold, the third is slow: the one in the middle is typical."""
    start, note = window()
    assert start == 3000
    assert note == (
        "ProfilerStep#6, the median of 3 steady steps by host time; the first, ProfilerStep#3, took 0.9 ms against "
        "0.11 ms and is left out"
    )


def test_a_step_by_number() -> None:
    """What was asked for is taken, be it cold."""
    assert window(step=3)[0] == 0


def test_an_absent_step_names_those_that_are_there() -> None:
    """The reader can choose again."""
    with pytest.raises(CompdiffError, match="no profiler step 9") as caught:
        window(step=9)
    assert "3, 4, 5, 6" in caught.value.hint


def test_between_two_annotations() -> None:
    """From the start of the one to the end of the other."""
    found = choose_window(
        kineto.read(trace_bytes(*STEPS)).events, between=("ProfilerStep#4", "ProfilerStep#5")
    )
    assert (found.start_ns, found.end_ns) == (1_000_000, 2_300_000)


def test_kernels_of_the_step_before_stay_there() -> None:
    """A kernel runs in this step and was launched in the last one: it is that one's."""
    made = captured(
        step(1, 0, 10), step(2, 100, 50), event("aten::mm", 1, 5), launch(2, 7), event("aten::add", 101, 5),
        launch(102, 8), kernel("gemm", 110, 20, 7), kernel("add", 131, 5, 8), whole=False,
    )  # fmt: skip
    assert [one.name for one in made.kernels] == ["add"]
    assert [call.name for call in made.op_calls] == ["aten::add"]


def test_kernels_launched_before_the_trace_began_are_counted() -> None:
    """They run in the window and nobody in the file launched them."""
    made = captured(step(1, 0, 10), kernel("leaked", 5, 3, 70), whole=False)
    assert (
        said(made)["kernel-without-launch"] == "1 of 1 kernels stand alone: no launch in the trace"
    )


def test_ops_before_the_first_step_are_not_in_it() -> None:
    """What Python imports before the step calls ops too."""
    made = captured(
        event("aten::empty", 0, 5), step(1, 10, 10), event("aten::mm", 12, 5), whole=False
    )
    assert [call.name for call in made.op_calls] == ["aten::mm"]
