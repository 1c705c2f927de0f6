"""Sums of estimated work."""

import msgspec
from hypothesis import given

from compdiff.analysis import analyse
from compdiff.model import Capture, Diff, Estimate, Fate, Kernel, Origin, Rewrite, Run
from compdiff.work import rewrite_works, side_work, work_of
from tests.builders import capture, kernel, op, run
from tests.strategies import runs

ESTIMATE = Estimate(flops=10, bytes_read=20, bytes_written=5, ns=7, bound="memory")


def planned(number: int, op_call: int | None = None) -> Kernel:
    """Return a kernel with an estimate."""
    return kernel(number, kind="library", estimate=ESTIMATE, op_call=op_call)


def test_sums_all() -> None:
    """FLOPs, bytes and times add up."""
    work = work_of([planned(0), planned(1)])
    assert work is not None
    assert (work.kernels, work.flops, work.bytes_moved, work.ns) == (2, 20, 50, 14)


def test_one_unknown_makes_the_sum_unknown() -> None:
    """A kernel without an estimate is not taken for nothing."""
    assert work_of([planned(0), kernel(1, kind="library")]) is None


def test_functions_on_the_host_are_no_device_work() -> None:
    """A C++ function between two copies does not make the sum unknown."""
    work = work_of([planned(0), kernel(1, kind="cpp")])
    assert work is not None
    assert work.kernels == 1


def test_a_measured_side_has_no_estimate() -> None:
    """Estimates are told of plans only, though the sum of no kernels would be known."""
    assert side_work(capture(basis="measured")) is None
    assert side_work(capture(basis="planned")) is not None


def estimated(left: Capture, right: Capture, diff: Diff) -> dict[str, tuple[int, int]]:
    """Return how many kernels before and after count for each rewrite."""
    whole = msgspec.structs.replace(run(), left=left, right=right)
    works = rewrite_works(whole, diff)
    return {name: (before.kernels, after.kernels) for name, (before, after) in works.items()}


def fates(**rewrites: str) -> dict[str, Fate]:
    """Return a fate for each op call: explained by a rewrite, or kept."""
    return {
        op: Fate(fate="rewritten" if name else "kept", rewrite=name)
        for op, name in rewrites.items()
    }


def test_a_kernel_counts_for_what_computes_and_not_for_its_views() -> None:
    """A view and a product in one kernel explain one op call each: the product launched a kernel before."""
    left = capture(basis="planned", op_calls=(op(0), op(1)), kernels=(planned(0, op_call=1),))
    right = capture(basis="planned", kernels=(planned(0),))
    diff = Diff(
        left_label="eager",
        right_label="compiled",
        rewrites=(
            Rewrite(id="r1", rule="view-elimination", left=("e0",), right=("k0",)),
            Rewrite(id="r2", rule="pointwise-fusion", left=("e1",), right=("k0",)),
        ),
        fates=fates(e0="r1", e1="r2"),
        origins={"k0": Origin(op_calls=("e0", "e1"))},
    )
    assert estimated(left, right, diff) == {"r2": (1, 1)}


def test_a_fused_call_counts_where_its_kernel_counts() -> None:
    """A decomposed op call fused with two others adds its kernel to what the fusion saves."""
    left = capture(
        basis="planned",
        op_calls=(op(0), op(1), op(2)),
        kernels=tuple(planned(number, op_call=number) for number in range(3)),
    )
    right = capture(basis="planned", kernels=(planned(0),))
    diff = Diff(
        left_label="eager",
        right_label="compiled",
        rewrites=(
            Rewrite(id="r1", rule="decomposition", left=("e0",), right=("k0",)),
            Rewrite(id="r2", rule="fusion", left=("e1", "e2"), shared=("e0",), right=("k0",)),
        ),
        fates=fates(e0="r1", e1="r2", e2="r2"),
        origins={"k0": Origin(op_calls=("e0", "e1", "e2"))},
    )
    assert estimated(left, right, diff) == {"r2": (3, 1)}


def test_what_is_folded_into_a_kept_call_costs_nothing() -> None:
    """The kernel of a kept convolution is no cost of the batch norm that was folded into it."""
    left = capture(
        basis="planned",
        op_calls=(op(0), op(1)),
        kernels=(planned(0, op_call=0), planned(1, op_call=1)),
    )
    right = capture(basis="planned", op_calls=(op(0),), kernels=(planned(0, op_call=0),))
    diff = Diff(
        left_label="eager",
        right_label="compiled",
        rewrites=(Rewrite(id="r1", rule="folding", left=("e1",), right=("c0",)),),
        fates=fates(e0="", e1="r1"),
        origins={"c0": Origin(op_calls=("e0", "e1")), "k0": Origin(op_calls=("e0", "e1"))},
    )
    assert estimated(left, right, diff) == {"": (1, 1), "r1": (1, 0)}


def test_an_introduced_copy_counts_for_the_rewrite_that_names_it() -> None:
    """The copy that seeds an addmm has no op call of its own."""
    left = capture(basis="planned", op_calls=(op(0),), kernels=(planned(0, op_call=0),))
    right = capture(basis="planned", kernels=(planned(0), planned(1)))
    diff = Diff(
        left_label="eager",
        right_label="compiled",
        rewrites=(Rewrite(id="r1", rule="addmm", left=("e0",), right=("k0", "k1")),),
        fates=fates(e0="r1"),
        origins={"k0": Origin(introduced="a copy"), "k1": Origin(op_calls=("e0",))},
    )
    assert estimated(left, right, diff) == {"r1": (1, 2)}


@given(runs())
def test_every_kernel_counts_once(whole: Run) -> None:
    """The works of all rewrites, and of what stayed, add up to those of the sides."""
    whole = msgspec.structs.replace(
        whole, left=with_estimates(whole.left), right=with_estimates(whole.right)
    )
    works = rewrite_works(whole, analyse(whole))
    assert sum(before.kernels for before, _ in works.values()) == len(whole.left.kernels)
    assert sum(after.kernels for _, after in works.values()) == len(whole.right.kernels)


def with_estimates(side: Capture) -> Capture:
    """Return a capture as if it were planned."""
    kernels = tuple(
        msgspec.structs.replace(it, kind="library", estimate=ESTIMATE) for it in side.kernels
    )
    return msgspec.structs.replace(side, basis="planned", kernels=kernels)
