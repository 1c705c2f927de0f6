"""What all tests share: those that need a GPU say so and are skipped without one."""

import pytest
import torch


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked `gpu` where torch sees no CUDA device."""
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
