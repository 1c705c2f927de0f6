"""Named conditions of rules. In: the facts and one op call's trace. Out: whether the condition holds."""

from compdiff.align.called_otherwise import CALLED_OTHERWISE
from compdiff.align.inlined import NOT_COMPUTING
from compdiff.align.liveness import is_view
from compdiff.align.neighbours import BETWEEN
from compdiff.align.op_names import SPLIT_PRODUCTS
from compdiff.align.other_layout import OTHER_LAYOUT
from compdiff.align.other_way import OTHER_WAY
from compdiff.align.traces import (
    SHAPED_LIKE,
    OpTrace,
    hands_over_a_gradient,
    has_no_elements,
)
from compdiff.rewrites.facts import Facts, base_name

RANDOM = frozenset(
    {
        "aten::bernoulli",
        "aten::bernoulli_",
        "aten::native_dropout",
        "aten::normal_",
        "aten::rand",
        "aten::rand_like",
        "aten::randint",
        "aten::randint_like",
        "aten::randn",
        "aten::randn_like",
        "aten::uniform_",
    }
)


def draws_no_random_numbers(_: Facts, trace: OpTrace) -> bool:
    """Return whether the call gives the same result each time that it is made."""
    return trace.call.name not in RANDOM


def is_traced(_: Facts, trace: OpTrace) -> bool:
    """Return whether the compiler traced the call into a graph."""
    return trace.compile_id is not None


def has_no_work_left(_: Facts, trace: OpTrace) -> bool:
    """Return whether the compiler traced the call and nothing on the right does its work."""
    return trace.compile_id is not None and not trace.items


def is_not_needed(facts: Facts, trace: OpTrace) -> bool:
    """Return whether no output, write or gradient needs the call."""
    if trace.call.outputs:
        return not facts.is_live(trace) or _is_unread(facts, trace)
    return (trace.compile_id, trace.dynamo_node) in facts.unused_nodes


def _is_unread(facts: Facts, trace: OpTrace) -> bool:
    """Return whether the compiler's graph lacks the call, and nothing reads its value: autograd needs only its shape."""
    unread = not trace.call.mutates and not {meta.value for meta in trace.call.outputs} & facts.read
    return unread and not trace.joint


def is_left_out_by_dynamo(facts: Facts, trace: OpTrace) -> bool:
    """Return whether Dynamo's graph lacks the call although the calls around it are of one graph, and nothing needs it."""
    return trace.call.id in facts.inside_graphs and trace.call.id not in facts.live


def is_of_another_layout(_: Facts, trace: OpTrace) -> bool:
    """Return whether eager mode makes the call only because an op's input is laid out otherwise than when compiled."""
    return trace.by == OTHER_LAYOUT


def only_views(_: Facts, trace: OpTrace) -> bool:
    """Return whether the call only looks at memory in another way."""
    return is_view(trace.call)


def is_made_by_no_op_call(facts: Facts, trace: OpTrace) -> bool:
    """Return whether no right op call does the call's work."""
    return not facts.extern_calls(trace)


def looks_like_an_earlier_call(facts: Facts, trace: OpTrace) -> bool:
    """Return whether the same op with the same arguments read the same memory before."""
    return trace.call.id in facts.first_alike


def has_the_same_contents(facts: Facts, trace: OpTrace) -> bool:
    """Return whether an equal call on the same contents came before."""
    return trace.call.id in facts.first_equal


def is_computed_once(facts: Facts, trace: OpTrace) -> bool:
    """Return whether the call runs in the same kernel as the equal one before, or that alone is left."""
    earlier = facts.first_equal.get(trace.call.id)
    if earlier is None:
        return False
    twin = facts.alignment.traces[earlier]
    return not trace.items or (bool(facts.generated(trace)) and set(trace.items) <= set(twin.items))


def was_merged_with_an_equal_node(_: Facts, trace: OpTrace) -> bool:
    """Return whether the compiler merged a node of the call with an equal one."""
    return any(event.pass_name == "fx_graph_cse" for event in trace.events)  # noqa: S105 - a pass


def gives_no_elements(_: Facts, trace: OpTrace) -> bool:
    """Return whether the tensors that the call gives are empty."""
    return has_no_elements(trace.call)


def reads_no_tensor(_: Facts, trace: OpTrace) -> bool:
    """Return whether the call makes a tensor from numbers alone."""
    # Of an imported call the graph alone says what it makes.
    known = trace.call.outputs or trace.joint
    reads = trace.call.inputs and trace.call.name not in SHAPED_LIKE
    return bool(known) and not reads


def runs_beside_other_work(facts: Facts, trace: OpTrace) -> bool:
    """Return whether each kernel that does the call's work does other work too, or there is none."""
    return all(_computes_more(facts, trace, item) for item in trace.items)


def comes_from_constants(facts: Facts, trace: OpTrace) -> bool:
    """Return whether the call computes from numbers in the code alone, and nothing on the right does its work."""
    return has_no_work_left(facts, trace) and trace.call.id in facts.constants


def leads_to_a_constant(facts: Facts, trace: OpTrace) -> bool:
    """Return whether nothing on the right does the call's work, because what it leads to was computed while compiling."""
    if not has_no_work_left(facts, trace) or not trace.joint:
        return False
    return all((trace.compile_id, node.name) in facts.behind_folded for node in trace.joint)


def _computes_more(facts: Facts, trace: OpTrace, item: str) -> bool:
    """Return whether a generated kernel does another call's work too, rather than store this one's for a library call."""
    others = [
        other for other in facts.owners[item] if other is not trace and not is_view(other.call)
    ]
    return bool(others) and facts.is_generated(item) and item not in facts.alignment.prepares


def was_replaced_by_its_input(facts: Facts, trace: OpTrace) -> bool:
    """Return whether a pass removed the call's node and let its users take a node that was there before."""
    survivors = {node.name for node in trace.joint} & {ref.name for ref in trace.finals}
    if survivors or not has_no_work_left(facts, trace):
        return False
    return any(
        new not in {node.name for node in event.created}
        for event in trace.events
        for new in event.replacements.values()
    )


def writes_in_place(_: Facts, trace: OpTrace) -> bool:
    """Return whether the call writes into one of its arguments."""
    return trace.call.mutates


def is_generated(facts: Facts, trace: OpTrace) -> bool:
    """Return whether a generated kernel does the call's work."""
    return bool(facts.generated(trace))


def is_alone_in_its_kernel(facts: Facts, trace: OpTrace) -> bool:
    """Return whether one generated kernel does the call's work, and no other op call's."""
    return bool(facts.generated(trace)) and len(computing_nodes(trace)) <= 1


def became_several(facts: Facts, trace: OpTrace) -> bool:
    """Return whether the call became several nodes, or calls of other ops, that the right side runs."""
    if not trace.items:
        return False
    other = any(
        base_name(call.name) != base_name(trace.call.name) for call in facts.extern_calls(trace)
    )
    return len(computing_nodes(trace)) > 1 or other


def was_changed_by_a_pattern(facts: Facts, trace: OpTrace) -> bool:
    """Return whether a pattern of the compiler put a right op call in the place of all the call's work."""
    return bool(facts.extern_calls(trace)) and was_replaced_by_a_pattern(facts, trace)


def was_replaced_by_a_pattern(_: Facts, trace: OpTrace) -> bool:
    """Return whether a pattern of the compiler removed all nodes of a call that compute."""
    nodes = set(computing_nodes(trace))
    removed = {node.name for event in trace.events if event.pattern for node in event.removed}
    return bool(nodes) and nodes <= removed


def hands_over_otherwise(_: Facts, trace: OpTrace) -> bool:
    """Return whether autograd made the call to hand a gradient to its parameter, and the right side does it otherwise."""
    return hands_over_a_gradient(trace.call) and bool(trace.items)


def hands_over_a_gradient_by_copy(facts: Facts, trace: OpTrace) -> bool:
    """Return whether autograd made the call to hand over a gradient, and the right side copies that gradient."""
    copies = any(call.name == "aten::copy_" for call in facts.extern_calls(trace))
    return hands_over_otherwise(facts, trace) and copies


def takes_another_way(_: Facts, trace: OpTrace) -> bool:
    """Return whether the call is on lines that only eager mode runs."""
    return trace.by == OTHER_WAY


def is_called_otherwise(_: Facts, trace: OpTrace) -> bool:
    """Return whether both sides run the call's line, and only eager mode makes this call there."""
    return trace.by == CALLED_OTHERWISE


def has_the_neighbours_of_other_work(_: Facts, trace: OpTrace) -> bool:
    """Return whether right op calls of other names run between the same calls as this one, and nothing else is known."""
    return trace.by == BETWEEN


def is_guessed_in_a_library_call(facts: Facts, trace: OpTrace) -> bool:
    """Return whether right op calls of other names, and no generated kernel, are guessed to do the call's work."""
    calls = facts.extern_calls(trace)
    if trace.certainty != "guess" or not calls or facts.generated(trace):
        return False
    return all(base_name(call.name) != base_name(trace.call.name) for call in calls)


def is_guessed_to_be_split(facts: Facts, trace: OpTrace) -> bool:
    """Return whether a plain product and a generated kernel are guessed to do a product with an addition."""
    products = {(base_name(trace.call.name), call.name) for call in facts.extern_calls(trace)}
    return trace.certainty == "guess" and bool(products & SPLIT_PRODUCTS)


def computing_nodes(trace: OpTrace) -> list[str]:
    """Return the call's joint nodes that compute: without views and element access."""
    return [
        node.name
        for node in trace.joint
        if node.op == "call_function" and node.target not in NOT_COMPUTING
    ]
