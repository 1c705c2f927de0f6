"""Forward calls that a checkpoint makes again in the backward pass. In: traces, the attribution pass. Out: their nodes.

torch.utils.checkpoint runs the block again, from its first call to the last whose result autograd kept: a run of backward
calls that is a beginning of the block. Compiled, the partitioner decides what is computed again.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from compdiff.align.traces import Alignment, OpTrace, call_key
from compdiff.model import AttributedCall

_CHECKPOINT = "tag_activation_checkpoint"
_Key = tuple[object, ...]
_Block = list[tuple[_Key, OpTrace]]


def find_recomputed(
    result: Alignment, calls: Sequence[AttributedCall], attributed: Mapping[int, int]
) -> set[int]:
    """Give each repeated call the joint nodes of the call that it repeats, and return the left op calls so matched."""
    blocks = _blocks(result, calls, attributed)
    if not blocks:
        return set()
    backward = [
        (call_key(calls[other].name, calls[other].overload, calls[other].shapes), index)
        for index, other in sorted(attributed.items())
        if calls[other].phase == "backward" and calls[other].node is None
    ]
    found: set[int] = set()
    place = 0
    while place < len(backward):
        pairs = _repeated(result, blocks, backward[place:])
        for position, origin in pairs:
            index = backward[place + position][1]
            trace = result.traces[index]
            trace.compile_id, trace.joint = origin.compile_id, list(origin.joint)
            trace.certainty, trace.by = "likely", "repeats a forward call of a checkpoint"
            found.add(index)
        place += pairs[-1][0] + 1 if pairs else 1
    return found


def _blocks(
    result: Alignment, calls: Sequence[AttributedCall], attributed: Mapping[int, int]
) -> list[_Block]:
    """Return the forward calls of each checkpoint, in order."""
    compiler = result.right.compiler
    checkpoints = {
        (graph.compile_id, node.name)
        for graph in (compiler.graphs if compiler else ())
        for node in (graph.dynamo.nodes if graph.dynamo else ())
        if node.target.endswith(_CHECKPOINT)
    }
    blocks: dict[tuple[str | None, str | None], _Block] = defaultdict(list)
    for index, other in sorted(attributed.items()):
        call = calls[other]
        if (call.compile_id, call.node) in checkpoints and call.phase == "forward":
            key = call_key(call.name, call.overload, call.shapes)
            blocks[call.compile_id, call.node].append((key, result.traces[index]))
    return list(blocks.values())


def _repeated(
    result: Alignment, blocks: Sequence[_Block], backward: Sequence[tuple[_Key, int]]
) -> list[tuple[int, OpTrace]]:
    """Return the places of the calls that repeat a block from the first backward call on, each with the call it repeats."""
    first = {meta.value for meta in result.traces[backward[0][1]].call.inputs}
    for block in blocks:
        same = block[0][0] == backward[0][0]
        if same and first & {meta.value for meta in block[0][1].call.inputs}:
            return _beginning(block, backward)
    return []


def _beginning(block: _Block, backward: Sequence[tuple[_Key, int]]) -> list[tuple[int, OpTrace]]:
    """Return the longest beginning of the block that the backward calls repeat; checkpoints detach what they keep."""
    pairs: list[tuple[int, OpTrace]] = []
    place = 0
    for key, origin in block:
        while place < len(backward) and _detaches(backward[place][0], key):
            place += 1
        if place == len(backward) or backward[place][0] != key:
            break
        pairs.append((place, origin))
        place += 1
    return pairs


def _detaches(key: _Key, wanted: _Key) -> bool:
    return key != wanted and key[0] == "aten::detach"
