"""Matches by names. In: traces, and right items that nothing else accounts for. Out: traces with items, as guesses.

Where no compiler tells what it did, as for an imported trace, names still tell much: a generated kernel's name lists the ops
it was made from, each once and sorted; a library call such as `aten::addmm` is what a known pattern becomes. The right items
in their order are laid over the left op calls in theirs.
"""

from collections.abc import Iterator, Sequence

from compdiff.align.items import right_kernel, right_op
from compdiff.align.traces import Alignment, OpTrace
from compdiff.kernels import read_kernel_name
from compdiff.model import GENERATED

# A compiled function without a compiler's account of it: op calls in it have this compile id.
UNKNOWN_GRAPH = ""
_ATTENTION = frozenset({"bmm", "_softmax"})
# What a right op call may stand for, by its name: the ops that must be there.
# Source: torch/_inductor/fx_passes/post_grad.py: addmm; fx_passes/fuse_attention.py (torch 2.14).
LIBRARY_CALLS: dict[str, frozenset[str]] = {
    "aten::addmm": frozenset({"mm", "add"}),
    "aten::baddbmm": frozenset({"bmm", "add"}),
    "aten::_scaled_dot_product_flash_attention": _ATTENTION,
    "aten::_scaled_dot_product_flash_attention_for_cpu": _ATTENTION,
    "aten::_scaled_dot_product_efficient_attention": _ATTENTION,
    "aten::_scaled_dot_product_cudnn_attention": _ATTENTION,
}
# What may lie between them and be part of the pattern.
_BETWEEN = {
    _ATTENTION: frozenset({"mul", "div", "add", "masked_fill", "where", "_to_copy", "clone"})
}


def match_by_names(result: Alignment) -> None:
    """Give left op calls without a counterpart the right item whose name and place fit them."""
    matched = {trace.kept for trace in result.traces if trace.kept is not None}
    free = [trace for trace in result.traces if trace.kept is None and not trace.items]
    bounds = _bounds(result)
    found_any = False
    for item, needed, allowed, by in _named(result, matched):
        taken = _taken(free, needed, allowed, bounds[item])
        for trace in taken:
            trace.items = (item,)
            trace.certainty, trace.by, trace.compile_id = "guess", by, UNKNOWN_GRAPH
        claimed = {id(trace) for trace in taken}
        free = [trace for trace in free if id(trace) not in claimed]
        found_any = True
    for trace in free if found_any else ():
        if is_view_name(trace.call.name):
            trace.compile_id = UNKNOWN_GRAPH


_Named = tuple[str, frozenset[str], frozenset[str], str]


def _named(result: Alignment, matched: set[str]) -> Iterator[_Named]:
    """Yield the right items whose names tell something, in order: item, ops that must be in it, that may be, who says so."""
    calls = {call.id: call for call in result.right.op_calls}
    kernels = {kernel.id: kernel for kernel in result.right.kernels}
    for place in result.right.call_order:
        number = int(place[1:])
        if place.startswith("o"):
            name = calls[number].name
            needed = LIBRARY_CALLS.get(name)
            if needed is not None and right_op(number) not in matched:
                by = f"the pattern that becomes {name}, in order"
                yield right_op(number), needed, needed | _BETWEEN.get(needed, frozenset()), by
        elif kernels[number].kind in GENERATED and right_kernel(number) not in result.replays:
            names = frozenset(read_kernel_name(kernels[number].name).fused)
            yield (
                right_kernel(number),
                frozenset(),
                names,
                "the ops in the name of the kernel, in order",
            )


def _bounds(result: Alignment) -> dict[str, int]:
    """Return for each right item the left op call before which its work must be asked for: the next one that was kept."""
    kept = {trace.kept: trace.call.id for trace in result.traces if trace.kept is not None}
    found: dict[str, int] = {}
    bound = len(result.traces)
    for place in reversed(result.right.call_order):
        number = int(place[1:])
        item = right_op(number) if place.startswith("o") else right_kernel(number)
        bound = min(bound, kept.get(item, bound))
        found[item] = bound
    return found


def _taken(
    free: Sequence[OpTrace], needed: frozenset[str], allowed: frozenset[str], bound: int
) -> list[OpTrace]:
    """Return the first run of free op calls before `bound` that holds what is needed; views in it belong to a pattern.

    Without anything needed, as of a generated kernel, the run ends where all that is allowed has come.
    """
    taken: list[OpTrace] = []
    missing = set(needed or allowed)
    for trace in free:
        if trace.call.id >= bound:
            break
        base = functional_name(trace.call.name)
        if base in allowed:
            taken.append(trace)
            missing.discard(base)
        elif taken and not missing and not is_view_name(trace.call.name):
            break
        elif taken and needed and not is_view_name(trace.call.name):
            taken, missing = [], set(needed)
    return [] if needed and missing else taken


def functional_name(name: str) -> str:
    """Return an op's name without namespace and the underscore of its in-place form: `aten::add_` gives `add`."""
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
