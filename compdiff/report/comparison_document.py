"""The part of diff.json that only a comparison of two runs has. In: Comparison. Out: the part, ready to encode."""

import msgspec

from compdiff.model import Comparison
from compdiff.rewrites.changes import stable_text
from compdiff.timing import summary


class ChangeDoc(msgspec.Struct, frozen=True, kw_only=True):
    """What one of two compared runs has and the other has not, or otherwise: `lost`, `gained` or `changed`."""

    change: str
    what: str
    name: str
    op_calls: tuple[str, ...]
    source: str
    detail: str
    items: tuple[str, ...]


class ComparisonDoc(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs compared: `changes` beside `fates` and `rewrites`, how much both have, and each item's eager op calls.

    The medians are of different runs: they are not comparable.
    """

    changes: tuple[ChangeDoc, ...]
    unchanged: dict[str, int]
    work: dict[str, tuple[str, ...]]
    left_median_ns: int | None
    right_median_ns: int | None


def comparison_document(comparison: Comparison) -> ComparisonDoc:
    """Return the part, addresses in texts of the compiler taken out."""
    left, right = comparison.left_samples, comparison.right_samples
    return ComparisonDoc(
        changes=tuple(
            ChangeDoc(
                change=change.change,
                what=change.what,
                name=stable_text(change.name),
                op_calls=change.op_calls,
                source=change.source,
                detail=stable_text(change.detail),
                items=change.items,
            )
            for change in comparison.changes
        ),
        unchanged=comparison.unchanged,
        work=comparison.work,
        left_median_ns=summary(left).median_ns if left else None,
        right_median_ns=summary(right).median_ns if right else None,
    )
