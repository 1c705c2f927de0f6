"""What all tests share: Ctrl-C works, and those that need a GPU say so and are skipped without one."""

import signal

import pytest
import torch
from hypothesis import settings


def pytest_configure() -> None:
    """Let Ctrl-C interrupt, and no property fail by the clock."""
    # A shell starts its background jobs, such as a CI run, with it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # How long one example takes says nothing on a shared machine; benchmarks measure speed.
    settings.register_profile("compdiff", deadline=None)
    settings.load_profile("compdiff")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked `gpu` where torch sees no CUDA device."""
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
