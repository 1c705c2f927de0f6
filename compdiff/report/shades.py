"""How an item of a timeline is shown. In: Lookup, an item's id. Out: its fate or that of its origins, sign and shape."""

import msgspec

from compdiff.report.lookup import Lookup, is_unexplained

SEVERAL = "several fates"
NO_OP_CALL = "no op call"
LAUNCH = "launch"
_FILLED_LOW, _FILLED, _HOLLOW = (3, 12), (0, 18), (1, 16)


class Shade(msgspec.Struct, frozen=True):
    """A kind of bar: the sign before its label, and top and height in a lane of 18 pixels. Hollow ones have an outline.

    The signs are those of the badges in report.css.
    """

    kind: str
    sign: str
    y: int
    height: int

    @property
    def hollow(self) -> bool:
        """Whether nothing on the other side does this work, or nobody knows."""
        return (self.y, self.height) == _HOLLOW


SHADES = {
    kind: Shade(kind, sign, *shape)
    for kind, sign, shape in (
        ("kept", "=", _FILLED_LOW),
        ("rewritten", "~", _FILLED),
        ("decomposed", "<", _FILLED),
        ("fused", ">", _FILLED),
        (SEVERAL, "*", _FILLED),
        ("eliminated", "×", _HOLLOW),  # noqa: RUF001 - the sign of the badge
        ("folded", "#", _HOLLOW),
        ("removed", "−", _HOLLOW),  # noqa: RUF001 - the sign of the badge
        ("introduced", "+", _HOLLOW),
        ("added", "+", _HOLLOW),
        ("unexplained", "?", _HOLLOW),
        (NO_OP_CALL, "", _FILLED_LOW),
        (LAUNCH, "", (3, 6)),
    )
}


def left_shade(lookup: Lookup, item: str) -> str:
    """Return the fate of a left op call or kernel; a kernel that has none has that of the op call that launched it."""
    kernel = lookup.left_kernels.get(item)
    if kernel is None or item in lookup.diff.fates:
        return lookup.fate(item).fate
    return NO_OP_CALL if kernel.op_call is None else lookup.fate(f"e{kernel.op_call}").fate


def right_shade(lookup: Lookup, item: str) -> str:
    """Return where a right item came from: `introduced`, `unexplained`, or the fate of the op calls whose work it does."""
    origin = lookup.origin(item)
    if is_unexplained(origin):
        return "unexplained"
    if not origin.op_calls:
        return "introduced" if lookup.diff.comparison is None else "added"
    fates = {lookup.fate(op).fate for op in origin.op_calls}
    return fates.pop() if len(fates) == 1 else SEVERAL


def shade_of(lookup: Lookup, item: str) -> str:
    """Return how an item of either side is shown."""
    found = lookup.shades.get(item)
    if found is None:
        is_left = item in lookup.left_ops or item in lookup.left_kernels
        found = left_shade(lookup, item) if is_left else right_shade(lookup, item)
        lookup.shades[item] = found
    return found
