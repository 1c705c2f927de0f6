"""Names of the things a diff speaks of. In: ids within a capture. Out: ids unique in a diff, and back.

`e3` is an op call and `ek0` a kernel of the left side; `c2` is an op call and `k0` a kernel of the right side.
"""

from collections.abc import Iterable, Iterator

from compdiff.model import Capture, Kernel, OpCall, Side


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


def units(capture: Capture) -> Iterator[OpCall | Kernel]:
    """Yield every op call of a side and every kernel that no op call launched, op calls first."""
    yield from capture.op_calls
    yield from (kernel for kernel in capture.kernels if kernel.op_call is None)


def item_id(made: OpCall | Kernel, side: Side) -> str:
    """Return the diff's id of an op call or kernel of a side."""
    op_id, kernel_id = (left_op, left_kernel) if side == "left" else (right_op, right_kernel)
    return op_id(made.id) if isinstance(made, OpCall) else kernel_id(made.id)


def item_name(made: OpCall | Kernel) -> str:
    """Return a kernel's name, or an op call's with its overload, unless that is the default one: `aten::add.Tensor`."""
    if isinstance(made, Kernel) or made.overload in {"", "default"}:
        return made.name
    return f"{made.name}.{made.overload}"


def in_order(ids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids without duplicates, by kind and number."""
    return tuple(sorted(set(ids), key=_key))


def _key(item: str) -> tuple[str, int]:
    digits = item.lstrip("ekc")
    return item[: len(item) - len(digits)], int(digits)
