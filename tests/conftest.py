"""What all tests share: Ctrl-C works, and those that need a GPU say so and are skipped without one."""

import signal

import pytest
import torch


def pytest_configure() -> None:
    """Let Ctrl-C interrupt: a shell starts its background jobs, such as a CI run, with it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked `gpu` where torch sees no CUDA device."""
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
