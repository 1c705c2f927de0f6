"""Names of the things a diff speaks of. In: ids within a capture. Out: ids unique in a diff, and back.

`e3` is an op call and `ek0` a kernel of the left side; `c2` is an op call and `k0` a kernel of the right side.
"""

from collections.abc import Iterable, Iterator

from compdiff.model import Capture, Kernel, OpCall


def left_op(number: int) -> str:
    """Return the diff's id of a left op call."""
    return f"e{number}"


def left_kernel(number: int) -> str:
    """Return the diff's id of a left kernel."""
    return f"ek{number}"


def right_op(number: int) -> str:
    """Return the diff's id of a right op call."""
    return f"c{number}"


def right_kernel(number: int) -> str:
    """Return the diff's id of a right kernel."""
    return f"k{number}"


def right_items(capture: Capture) -> Iterator[tuple[str, OpCall | Kernel]]:
    """Yield (id, item) for every op call and kernel of a right side, op calls first."""
    for call in capture.op_calls:
        yield right_op(call.id), call
    for kernel in capture.kernels:
        yield right_kernel(kernel.id), kernel


def in_order(ids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids without duplicates, by kind and number."""
    return tuple(sorted(set(ids), key=_key))


def _key(item: str) -> tuple[str, int]:
    digits = item.lstrip("ekc")
    return item[: len(item) - len(digits)], int(digits)
