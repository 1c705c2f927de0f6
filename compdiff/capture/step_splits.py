"""Profiles steps to split their time. In: a step, a plan. Out: a split for each step; its noise shows in how they differ."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from compdiff import kineto
from compdiff.capture.profile import trace
from compdiff.kineto.split import split_step
from compdiff.model import SamplingPlan, StepSplit
from compdiff.timing import FEWEST_PAIRS


def take(
    step: Callable[[], object], plan: SamplingPlan, *, cuda: bool, ns_per_step: int | None
) -> tuple[StepSplit, ...]:
    """Return the splits of as many profiled steps as the plan allows, a step taking about `ns_per_step`."""
    events = trace(step, cuda=cuda, steps=steps_to_profile(plan, ns_per_step))
    return splits_of(events)


def splits_of(events: Sequence[kineto.Event]) -> tuple[StepSplit, ...]:
    """Return the split of each profiled step of a trace; `events` are in start order.

    A step ends with the device waited for, so all of it starts within.
    """
    steps = [
        event
        for event in events
        if event.name == kineto.STEP_NAME and event.category == "user_annotation"
    ]
    starts = [event.start_ns for event in events]
    return tuple(
        split_step(
            step, events[bisect_left(starts, step.start_ns) : bisect_left(starts, step.end_ns)]
        )
        for step in steps
    )


def steps_to_profile(plan: SamplingPlan, ns_per_step: int | None) -> int:
    """Return how many steps fit the plan's budget, at most those it asks for, and enough for an interval."""
    fitting = plan.budget_ns // max(1, ns_per_step or 1)
    return max(FEWEST_PAIRS, min(plan.profiled_steps, fitting))
