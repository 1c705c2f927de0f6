"""The whole alignment of real runs."""

from pathlib import Path

from compdiff.align.alignment import align
from compdiff.align.traces import has_no_elements
from compdiff.store import read_run

_GOLDEN = Path(__file__).parent.parent / "golden"


def test_nothing_computes_an_empty_tensor() -> None:
    """The clone of cuDNN's empty reserve is traced to nodes that kernels compute, and is none of their work."""
    run = read_run(_GOLDEN / "h200" / "batch_norm_training.run.json.gz")
    (clone,) = [it for it in align(run.left, run.right).traces if has_no_elements(it.call)]
    assert (clone.call.name, clone.compile_id, clone.items) == ("aten::clone", "0/0", ())
