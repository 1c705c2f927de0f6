"""The items of one side of a run, for a comparison. In: a run, its diff, its pivots. Out: items with their pivots."""

import re
from collections.abc import Mapping, Sequence

from compdiff.align.items import item_id, left_op, units
from compdiff.align.pivot import Item
from compdiff.model import Capture, Diff, Fate, Kernel, OpCall, Run, Side

_OWN_NAME = re.compile(r"\w*(cpp|triton_[a-z]+)_fused\w*")
# Before these, generated code holds paths, hashes and settings of its torch version.
_BODY_STARTS = ('extern "C"', "\ndef ")


def eager_items(run: Run, pivots: Sequence[int], side: Side) -> tuple[Item, ...]:
    """Return the items of a run's eager side under the ids of `side`: each op call does its own work."""
    own = {item: (pivot,) for item, pivot in pivots_by_id(run, pivots).items()}
    return tuple(
        _item(run.left, made, side, work=own.get(item_id(made, "left"), ()))
        for made in units(run.left)
    )


def compiled_items(run: Run, diff: Diff, pivots: Sequence[int], side: Side) -> tuple[Item, ...]:
    """Return the items of a run's compiled side under the ids of `side`; their work is as in the run's own diff."""
    pivot_of = pivots_by_id(run, pivots)
    found = []
    for made in units(run.right):
        origin = diff.origins[item_id(made, "right")]
        work = tuple(pivot_of[op] for op in _computed(origin.op_calls, diff.fates))
        found.append(_item(run.right, made, side, work=work, reason=origin.introduced))
    return tuple(found)


def pivots_by_id(run: Run, pivots: Sequence[int]) -> dict[str, int]:
    """Return the pivot of each eager op call by its id in the run's own diff."""
    return {left_op(call.id): pivot for call, pivot in zip(run.left.op_calls, pivots, strict=True)}


def _computed(op_calls: Sequence[str], fates: Mapping[str, Fate]) -> list[str]:
    """Return the op calls that an item computes: without views and repeats, unless it has no other."""
    rest = [op for op in op_calls if fates[op].fate != "eliminated"]
    return rest or list(op_calls)


def _item(
    capture: Capture, made: OpCall | Kernel, side: Side, *, work: tuple[int, ...], reason: str = ""
) -> Item:
    launches = [kernel.name for kernel in capture.kernels if _launched(kernel, made)]
    return Item(
        id=item_id(made, side),
        made=made,
        work=frozenset(work),
        reason=reason,
        launched=tuple(launches),
        code=_body(capture, made),
        backward=is_backward(capture, made),
    )


def _launched(kernel: Kernel, made: OpCall | Kernel) -> bool:
    return isinstance(made, OpCall) and kernel.op_call == made.id


def is_backward(capture: Capture, made: OpCall | Kernel) -> bool:
    """Return whether an item ran in the backward pass."""
    if isinstance(made, OpCall):
        return made.phase == "backward"
    graphs = capture.compiler.graphs if capture.compiler else ()
    return any(graph.id == made.graph and graph.direction == "backward" for graph in graphs)


def _body(capture: Capture, made: OpCall | Kernel) -> str:
    """Return the code of a generated kernel from its function on, the names of generated kernels taken out."""
    graphs = capture.compiler.graphs if capture.compiler else ()
    if isinstance(made, OpCall) or made.call is None:
        return ""
    calls = next((graph.calls for graph in graphs if graph.id == made.graph), ())
    code = next((call.code for call in calls if call.index == made.call), "")
    start = next((code.find(mark) for mark in _BODY_STARTS if mark in code), 0)
    return _OWN_NAME.sub("kernel", code[start:])
