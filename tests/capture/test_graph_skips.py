"""Why no CUDA graph is replayed, as Inductor logs it."""

from torch._inductor.cudagraph_utils import log_cudagraph_skip_and_bump_counter

from compdiff.capture import graph_skips
from compdiff.model import CaptureWarning


def test_reasons_become_warnings() -> None:
    """Each reason once, and none after the block."""
    found: list[CaptureWarning] = []
    with graph_skips.heard(found):
        for reason in ("mutated inputs", "mutated inputs", "cpu device"):
            log_cudagraph_skip_and_bump_counter(reason)
    log_cudagraph_skip_and_bump_counter("too late")
    assert [(it.id, it.text) for it in found] == [
        ("cuda-graph-skipped", "mutated inputs"),
        ("cuda-graph-skipped", "cpu device"),
    ]
