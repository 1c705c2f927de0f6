"""Where a plan was wrong. In: a planned side and a measured one of the same kind. Out: one sentence for each difference.

Generated kernels are compared by name. Library kernels and copies have no names in a plan: they are counted by the op that
launches them.
"""

from collections import Counter
from dataclasses import dataclass

from compdiff.model import Capture, Kernel


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many of the measured kernels the plan foresaw, and what it got wrong, in the words of a reader."""

    foreseen: int
    measured: int
    wrong: tuple[str, ...]


def agreement(left: Capture, right: Capture) -> Agreement | None:
    """Return how a plan compares with a measurement; None unless one side is each, on a GPU."""
    sides = {capture.basis: capture for capture in (left, right)}
    planned, measured = sides.get("planned"), sides.get("measured")
    if planned is None or measured is None or not measured.device.startswith("cuda"):
        return None
    expected, seen = _kernels(planned), _kernels(measured)
    missing, extra = seen - expected, expected - seen
    wrong = [*_renamed(missing, extra)]
    wrong += [f"missing in the plan: {_text(key, count)}" for key, count in sorted(missing.items())]
    wrong += [f"planned, not seen: {_text(key, count)}" for key, count in sorted(extra.items())]
    return Agreement((expected & seen).total(), seen.total(), tuple(wrong))


def _kernels(capture: Capture) -> Counter[tuple[str, str]]:
    """Count kernels by what both kinds of side know of them."""
    return Counter(_key(capture, kernel) for kernel in capture.kernels)


def _key(capture: Capture, kernel: Kernel) -> tuple[str, str]:
    if kernel.kind == "triton":
        return "triton", kernel.name
    names = {call.id: call.name for call in capture.op_calls} if kernel.op_call is not None else {}
    return kernel.kind, names.get(kernel.op_call or 0, kernel.name)


def _renamed(missing: Counter[tuple[str, str]], extra: Counter[tuple[str, str]]) -> list[str]:
    """Take out the generated kernels that only have another name, pairwise in order of name, and say so."""
    said = []
    before = [key for key in sorted(extra.elements()) if key[0] == "triton"]
    after = [key for key in sorted(missing.elements()) if key[0] == "triton"]
    for planned, seen in zip(before, after, strict=False):
        said.append(f"other name: {planned[1]} was planned, {seen[1]} was seen")
        extra[planned] -= 1
        missing[seen] -= 1
    for counts in (missing, extra):
        for key in [key for key, count in counts.items() if not count]:
            del counts[key]
    return said


def _text(key: tuple[str, str], count: int) -> str:
    kind, name = key
    times = f"{count} times " if count > 1 else ""
    return f"{times}{name}" if kind == "triton" else f"{times}{kind} kernel of {name}"
