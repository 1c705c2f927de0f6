"""Matches by the names of generated kernels. In: traces, right kernels that nothing accounts for. Out: traces with items.

Where no compiler tells what it did, as for an imported trace, the name of a Triton kernel still lists the ops it was made
from, each once and sorted. The kernels in the order of their launches are laid over the left op calls in theirs.
"""

from collections.abc import Iterator, Sequence

from compdiff.align.items import right_kernel, right_op
from compdiff.align.traces import Alignment, OpTrace
from compdiff.kernels import read_kernel_name

_BY = "the ops in the name of the generated kernel, in order"
# A compiled function without a compiler's account of it: op calls in it have this compile id.
UNKNOWN_GRAPH = ""


def match_kernel_names(result: Alignment) -> None:
    """Give each left op call without a counterpart the generated kernel whose name and place fit it."""
    kernels = [kernel for kernel in result.right.kernels if kernel.kind == "triton"]
    if not kernels:
        return
    bounds = _bounds(result)
    free = [trace for trace in result.traces if trace.kept is None and not trace.items]
    for kernel in sorted(kernels, key=lambda it: it.start_ns):
        names = frozenset(read_kernel_name(kernel.name).fused)
        taken = _taken(free, names, bounds.get(kernel.id, len(result.traces)))
        for trace in taken:
            trace.items = (right_kernel(kernel.id),)
            trace.certainty, trace.by, trace.compile_id = "guess", _BY, UNKNOWN_GRAPH
        claimed = {id(trace) for trace in taken}
        free = [trace for trace in free if id(trace) not in claimed]
    for trace in free:
        if is_view_name(trace.call.name):
            trace.compile_id = UNKNOWN_GRAPH


def _bounds(result: Alignment) -> dict[int, int]:
    """Return for each right kernel the left op call before which its work must be asked for: the next one that was kept."""
    kept = {trace.kept: trace.call.id for trace in result.traces if trace.kept is not None}
    found: dict[int, int] = {}
    bound = len(result.traces)
    for item in reversed(result.right.call_order):
        if item.startswith("o"):
            bound = min(bound, kept.get(right_op(int(item[1:])), bound))
        else:
            found[int(item[1:])] = bound
    return found


def _taken(free: Sequence[OpTrace], names: frozenset[str], bound: int) -> list[OpTrace]:
    """Return the first run of free op calls before `bound` that has all names, or as many as there are."""
    taken: list[OpTrace] = []
    missing = set(names)
    for trace in _before(free, bound):
        base = _base(trace.call.name)
        if base in names:
            taken.append(trace)
            missing.discard(base)
        elif taken and not missing and not is_view_name(trace.call.name):
            break
    return taken


def _before(free: Sequence[OpTrace], bound: int) -> Iterator[OpTrace]:
    for trace in free:
        if trace.call.id >= bound:
            return
        yield trace


def _base(name: str) -> str:
    base = name.rpartition("::")[2]
    return base if base.startswith("_") or not base.endswith("_") else base[:-1]


def is_view_name(name: str) -> bool:
    """Return whether an op only makes views, whatever it is given."""
    namespace, _, base = name.rpartition("::")
    return namespace == "aten" and base in _VIEWS


# Ops that are views by their schema, for calls whose tensors are not known. Source: native_functions.yaml (torch 2.14).
_VIEWS = frozenset(
    {
        "_reshape_alias",
        "_unsafe_view",
        "alias",
        "as_strided",
        "detach",
        "diagonal",
        "expand",
        "lift_fresh",
        "narrow",
        "permute",
        "real",
        "select",
        "slice",
        "split",
        "split_with_sizes",
        "squeeze",
        "t",
        "transpose",
        "unbind",
        "unfold",
        "unsqueeze",
        "view",
        "view_as_real",
    }
)
