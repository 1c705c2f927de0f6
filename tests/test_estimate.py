"""Roofline and occupancy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.estimate import LAUNCH_NS, occupancy, roofline
from compdiff.targets import TARGETS

H200 = TARGETS["h200"]
COUNTS = st.integers(0, 10**15)


@pytest.mark.parametrize(
    ("flops", "moved", "bound"),
    [(0, 0, "launch"), (0, 10**9, "memory"), (10**13, 10**6, "compute")],
)
def test_names_the_bound(flops: int, moved: int, bound: str) -> None:
    """The longest of the three times is the bound."""
    estimate = roofline(
        flops=flops, bytes_read=moved, bytes_written=0, rate="bfloat16", target=H200
    )
    assert estimate.bound == bound


def test_matrix_product_of_4096() -> None:
    """137 GFLOP at 989.5 TFLOP/s take 139 us."""
    estimate = roofline(
        flops=2 * 4096**3, bytes_read=2**26, bytes_written=2**25, rate="bfloat16", target=H200
    )
    assert estimate.ns == pytest.approx(138_900, rel=0.01)


@given(flops=COUNTS, read=COUNTS, written=COUNTS)
def test_more_work_never_takes_less(flops: int, read: int, written: int) -> None:
    """An estimate grows with each of its counts and is never shorter than a launch."""
    less = roofline(flops=flops, bytes_read=read, bytes_written=written, rate="tf32", target=H200)
    more = roofline(
        flops=2 * flops, bytes_read=2 * read, bytes_written=2 * written, rate="tf32", target=H200
    )
    assert LAUNCH_NS <= less.ns <= more.ns


def test_unknown_rate_is_that_of_float32() -> None:
    """A T4 has no bfloat16: it computes in float32."""
    t4 = TARGETS["t4"]
    times = [
        roofline(flops=10**12, bytes_read=0, bytes_written=0, rate=rate, target=t4).ns
        for rate in ("bfloat16", "float32")
    ]
    assert times[0] == times[1]


@pytest.mark.parametrize(
    ("registers", "shared", "warps", "share", "limited_by"),
    [
        (32, 0, 8, 1.0, "warps"),
        (64, 0, 8, 0.5, "registers"),
        (255, 0, 8, 0.125, "registers"),
        (32, 0, 1, 0.5, "blocks"),
        (32, 100 * 1024, 4, 0.125, "shared memory"),
    ],
)
def test_occupancy_of_an_h200(
    registers: int, shared: int, warps: int, share: float, limited_by: str
) -> None:
    """These are what NVIDIA's occupancy calculator gives for capability 9.0."""
    found = occupancy(registers=registers, shared_bytes=shared, warps=warps, target=H200)
    assert (found.share, found.limited_by) == (share, limited_by)
