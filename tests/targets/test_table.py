"""The shipped targets."""

import pytest

from compdiff.model import Target
from compdiff.targets import TARGETS


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_each_target_is_found_by_its_name(name: str) -> None:
    """The key is the target's own name, in lower case."""
    assert TARGETS[name].name == name == name.lower()


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_each_figure_has_a_source(target: Target) -> None:
    """Rates, clocks and limits each name where they are from."""
    text = " ".join(target.sources)
    assert all(word in text for word in ("rates", "clock", "limits")) or "all but limits" in text


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_rates_are_dense_and_ordered(target: Target) -> None:
    """Fewer bits are not slower; float64 is never faster than float32."""
    rates = target.peak_tflops
    assert rates["float64"] <= rates["float32"] <= rates["float16"] <= rates["int8"]


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_limits_fit_each_other(target: Target) -> None:
    """A block's shared memory fits in a multiprocessor, and warps fill its threads."""
    assert target.shared_bytes_per_block <= target.shared_bytes_per_multiprocessor
    assert target.threads_per_multiprocessor % target.warp_size == 0
