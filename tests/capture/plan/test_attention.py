"""Which attention backend is chosen."""

import pytest
import torch

from compdiff.capture.plan import attention
from compdiff.capture.plan.attention import AttentionCall, choose_attention
from compdiff.targets import TARGETS


def call(  # noqa: PLR0913 - what the choice depends on
    dtype: torch.dtype = torch.bfloat16,
    head: int = 64,
    *,
    masked: bool = False,
    rank: int = 4,
    queries: int = 16,
    dropout: float = 0.0,
    causal: bool = False,
    value_head: int | None = None,
) -> AttentionCall:
    """Return a call on meta tensors."""
    shape = (2, 4, queries, head)[4 - rank :]
    query = torch.empty(shape, dtype=dtype, device="meta")
    key = torch.empty((2, 4, 16, head)[4 - rank :], dtype=dtype, device="meta")
    value = (
        key
        if value_head is None
        else torch.empty((2, 4, 16, value_head), dtype=dtype, device="meta")
    )
    mask = torch.empty(queries, 16, dtype=torch.bool, device="meta") if masked else None
    return AttentionCall(
        query=query,
        key=key,
        value=value,
        mask=mask,
        dropout=dropout,
        causal=causal,
        scale=None,
        gqa=False,
    )


@pytest.fixture(autouse=True)
def _new_cudnn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CPU build has no cuDNN: let it be new."""
    monkeypatch.setattr(attention, "cudnn_version", lambda: 92400)


@pytest.mark.parametrize(
    ("target", "asked", "backend"),
    [
        ("h200", call(), "cudnn"),
        ("h200", call(masked=True), "cudnn"),
        ("h200", call(torch.float32), "efficient"),
        ("h200", call(torch.float64), "math"),
        ("h200", call(head=36), "flash"),
        ("h200", call(queries=1), "cudnn"),
        ("h200", call(queries=1, dropout=0.125), "flash"),
        ("h200", call(dropout=0.1), "flash"),
        ("h200", call(dropout=0.25), "cudnn"),
        ("h200", call(head=256), "cudnn"),
        ("h200", call(head=264), "efficient"),
        ("h200", call(head=192, value_head=128), "cudnn"),
        ("a100", call(head=64, value_head=128), "efficient"),
        ("a100", call(causal=True), "flash"),
        ("a100", call(causal=True, queries=8), "efficient"),
        ("h200", call(rank=3), "math"),
        ("a100", call(), "flash"),
        ("a100", call(masked=True), "efficient"),
        ("a100", call(head=512), "efficient"),
        ("l4", call(torch.float16), "flash"),
        ("t4", call(), "math"),
        ("t4", call(torch.float16), "efficient"),
    ],
)
def test_chooses_as_torch_does(target: str, asked: AttentionCall, backend: str) -> None:
    """Capability, dtype, mask, rank and head dimension decide, in torch's order of preference."""
    assert choose_attention(asked, TARGETS[target]).backend == backend


def test_says_why_the_better_ones_are_not_taken() -> None:
    """Each backend before the chosen one names the condition that failed."""
    choice = choose_attention(call(masked=True), TARGETS["a100"])
    assert choice.refused == ("flash needs no mask",)
