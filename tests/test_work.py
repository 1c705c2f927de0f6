"""Sums of estimated work."""

import msgspec

from compdiff.model import Diff, Estimate, Kernel, Origin, Rewrite
from compdiff.work import rewrite_work, side_work, work_of
from tests.builders import capture, kernel, op, run

ESTIMATE = Estimate(flops=10, bytes_read=20, bytes_written=5, ns=7, bound="memory")


def planned(number: int, op_call: int | None = None) -> Kernel:
    """Return a kernel with an estimate."""
    return kernel(number, estimate=ESTIMATE, op_call=op_call)


def test_sums_all() -> None:
    """FLOPs, bytes and times add up."""
    work = work_of([planned(0), planned(1)])
    assert work is not None
    assert (work.kernels, work.flops, work.bytes_moved, work.ns) == (2, 20, 50, 14)


def test_one_unknown_makes_the_sum_unknown() -> None:
    """A kernel without an estimate is not taken for nothing."""
    assert work_of([planned(0), kernel(1)]) is None


def test_a_measured_side_has_no_estimate() -> None:
    """Estimates are told of plans only, though the sum of no kernels would be known."""
    assert side_work(capture(basis="measured")) is None
    assert side_work(capture(basis="planned")) is not None


def test_a_rewrite_counts_launched_kernels_and_whole_shared_calls() -> None:
    """Before: what the op calls launch, a shared one only if its whole work is among the kernels after."""
    left = capture(
        basis="planned",
        op_calls=(op(0), op(1), op(2)),
        kernels=(planned(0, op_call=0), planned(1, op_call=1), planned(2, op_call=2)),
    )
    right = capture(
        basis="planned",
        op_calls=(op(0),),
        kernels=(planned(0), planned(1, op_call=0)),
    )
    whole = msgspec.structs.replace(run(), left=left, right=right)
    rewrite = Rewrite(id="r1", rule="one", left=("e0",), shared=("e1", "e2"), right=("k0",))
    diff = Diff(
        left_label="eager",
        right_label="compiled",
        rewrites=(rewrite,),
        origins={
            "k0": Origin(op_calls=("e0", "e1", "e2")),
            "c0": Origin(op_calls=("e2",)),
            "k1": Origin(op_calls=("e2",)),
        },
    )
    works = rewrite_work(whole, diff, rewrite)
    assert works is not None
    assert (works[0].kernels, works[1].kernels) == (2, 1)
