"""Work that is done more than once. In: facts, an op call's trace, a right item. Out: whether that item does it again."""

from compdiff.align.traces import OpTrace
from compdiff.model import OpCall
from compdiff.rewrites.facts import Facts
from compdiff.rewrites.rules import REDUCTION_TARGETS

# Targets that add or write by index: one kernel copies or clears the result, another one writes into it.
_SCATTERS = ("aten.scatter", "aten.index_put", "aten._unsafe_index_put", "aten.index_add")


def is_recomputed(facts: Facts, trace: OpTrace, item: str) -> bool:
    """Return whether another generated kernel does the same nodes of the call as well, or a backward one names its op."""
    if trace.certainty == "guess":
        return trace.call.phase == "forward" and facts.is_backward(item)
    if isinstance(facts.items[item], OpCall):
        return False
    own = {ref.name for ref in trace.finals}
    others = [other for other in facts.generated(trace) if other != item]
    return any(own & _computed_twice(facts, item, other) for other in others)


def _computed_twice(facts: Facts, item: str, other: str) -> set[str]:
    """Return the post-grad nodes that two generated kernels both compute.

    A reduction or scatter that both name is done in two steps, of which one alone does what leads to it.
    """
    nodes = {node.name: node for node in facts.nodes_of(item)}
    shared = nodes.keys() & {node.name for node in facts.nodes_of(other)}
    in_steps: set[str] = set()
    targets = {name: nodes[name].target for name in shared}
    waiting = [
        name
        for name, target in targets.items()
        if target in REDUCTION_TARGETS or target.startswith(_SCATTERS)
    ]
    while waiting:
        name = waiting.pop()
        if name not in in_steps:
            in_steps.add(name)
            waiting += shared.intersection(nodes[name].inputs)
    return shared - in_steps
