"""Which op calls are needed. In: a capture's op calls with data flow. Out: ids of those whose result reaches something."""

from collections.abc import Iterable

from compdiff.align.op_names import is_view_name
from compdiff.align.traces import SHAPED_LIKE
from compdiff.model import IN_PLACE_VIEWS, Capture, OpCall

# Ops that take a tensor for its shape and dtype alone.
SHAPE_READERS = SHAPED_LIKE | {
    "aten::empty_like",
    "aten::new_empty",
    "aten::new_empty_strided",
    "aten::rand_like",
    "aten::randn_like",
}


def is_view(call: OpCall) -> bool:
    """Return whether every output of a call shares the memory of one of its inputs, and nothing is written.

    Of an imported call the outputs are not known: its name decides.
    """
    if not call.outputs:
        return is_view_name(call.name)
    inputs = {meta.storage for meta in call.inputs}
    writes = call.mutates and call.name not in IN_PLACE_VIEWS
    return not writes and all(meta.storage in inputs for meta in call.outputs)


def live_calls(capture: Capture, *, autograd: bool = True) -> frozenset[int]:
    """Return the ids of the op calls whose result reaches an output, a mutated tensor or autograd.

    A backward pass keeps every forward call that autograd saw alive. Without `autograd` data flow alone counts: where no
    backward pass follows, and a gradient that the function takes itself is among the op calls.
    """
    calls = capture.op_calls
    own = _storages_made(calls)
    wanted_values = set(capture.output_values)
    wanted_storages: set[int] = set()
    written: set[int] = set()
    live = set()
    for call in reversed(calls):
        values = {meta.value for meta in call.outputs}
        storages = {meta.storage for meta in call.outputs}
        if call.mutates:
            written |= storages
        # A view of memory that is needed is itself needed only where a later write gave its contents another number.
        shared = storages & (written if is_view(call) else wanted_storages) & wanted_storages
        escapes = (call.mutates and not storages <= own) or not call.outputs
        differentiated = autograd and (call.phase == "backward" or call.sequence >= 0)
        if escapes or differentiated or values & wanted_values or shared:
            live.add(call.id)
            if call.name in SHAPE_READERS:
                continue
            wanted_values.update(meta.value for meta in call.inputs)
            wanted_storages.update(meta.storage for meta in call.inputs)
    return frozenset(live)


def _storages_made(calls: Iterable[OpCall]) -> set[int]:
    """Return the storages that the calls themselves allocate: what is written into any other is seen outside."""
    seen: set[int] = set()
    made: set[int] = set()
    for call in calls:
        seen.update(meta.storage for meta in call.inputs)
        made.update(meta.storage for meta in call.outputs if meta.storage not in seen)
        seen.update(made)
    return made
