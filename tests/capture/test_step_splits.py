"""Steps profiled to be split."""

import pytest

from compdiff import kineto
from compdiff.capture.step_splits import splits_of, steps_to_profile
from compdiff.model import SamplingPlan
from tests.importers.traces import event, kernel, trace_bytes


@pytest.mark.parametrize(
    ("ns_per_step", "steps"), [(1_000, 30), (50_000_000, 20), (10_000_000_000, 6), (None, 30)]
)
def test_slow_steps_are_profiled_less(ns_per_step: int | None, steps: int) -> None:
    """As many as asked for, fewer where the budget ends, and never too few for an interval."""
    plan = SamplingPlan(budget_ns=1_000_000_000, profiled_steps=30)
    assert steps_to_profile(plan, ns_per_step) == steps


def test_each_step_has_its_own() -> None:
    """What runs in one step counts for no other; an op of the step's name is no step."""
    events = kineto.decode(
        trace_bytes(
            event(kineto.STEP_NAME, 0, 10, cat="user_annotation"),
            event("aten::mm", 2, 4),
            event(kineto.STEP_NAME, 20, 10, cat="user_annotation"),
            event(kineto.STEP_NAME, 21, 1),
            kernel("gemm", 22, 6, None),
        )
    )
    first, second = splits_of(events)
    assert first.parts_ns == {"op_calls": 4_000, "other": 6_000}
    assert second.parts_ns == {"device": 6_000, "op_calls": 1_000, "other": 3_000}
