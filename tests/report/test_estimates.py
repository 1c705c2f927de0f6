"""Texts of estimates."""

import pytest

from compdiff.report.estimates import estimated_sums, rewrite_text, saved_text, side_clause
from compdiff.work import Work
from tests.report.examples import linear
from tests.variants import planned_golden

MIB = 1 << 20


def work(mib: int = 0, ns: int = 2_000, flops: int = 0, kernels: int = 1) -> Work:
    """Return some work."""
    return Work(kernels=kernels, flops=flops, bytes_moved=mib * MIB, ns=ns)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [(96, 32, "64.0 MiB saved"), (32, 96, "64.0 MiB more"), (32, 32, "the same")],
)
def test_what_is_saved(before: int, after: int, text: str) -> None:
    """More is told as well as less."""
    assert saved_text(work(before), work(after)) == text


def test_a_rewrite_says_that_it_is_estimated() -> None:
    """The word is in each line; FLOPs only where they change."""
    text = rewrite_text((work(96, 10_000, flops=10**9), work(32, 4_000, flops=10**9)))
    assert (
        text
        == "estimated memory traffic 96.0 MiB -> 32.0 MiB (64.0 MiB saved); device time 10.0 us -> 4.00 us"
    )


def test_changed_flops_are_told() -> None:
    """Padding computes more."""
    text = rewrite_text((work(1, flops=10**9), work(1, flops=2 * 10**9)))
    assert text.endswith("FLOPs 1.00 GFLOP -> 2.00 GFLOP")


def test_no_kernels_no_text() -> None:
    """A view that went saves no traffic, and says nothing."""
    assert not rewrite_text((work(kernels=0), work(kernels=0)))
    assert not rewrite_text(None)


def test_a_measured_run_has_none() -> None:
    """Estimates are for plans only."""
    run, _ = linear()
    assert estimated_sums(run) == ()
    assert not side_clause(run)


def test_the_sides_of_a_plan() -> None:
    """Linear at 4096: 137 GFLOP, six matrices of 32 MiB on either side."""
    run, _ = planned_golden("linear-size4096")
    time, traffic, flops = estimated_sums(run)
    assert (traffic.left, traffic.right, traffic.change) == ("192 MiB", "192 MiB", "same")
    assert (flops.left, flops.right) == ("137 GFLOP", "137 GFLOP")
    assert time.change == "1.05x less"
    assert side_clause(run) == "estimated device time 160 us -> 153 us (1.05x less)"
