"""What the claims of each rule must show. In: a run's account and one rewrite. Out: sentences on what it does not show."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from compdiff.model import GraphNode, OpCall, Rewrite
from tests.claims.account import Account, count, counts, only_looks, op_name


@dataclass(frozen=True)
class Claim:
    """One rewrite of a run, with which right items each left op call is said to be in."""

    account: Account
    rewrite: Rewrite
    places: dict[str, set[str]]

    @property
    def calls(self) -> dict[str, OpCall]:
        """The op calls that it explains."""
        return {item: self.account.left[item] for item in self.rewrite.left}

    @property
    def kernels(self) -> list[str]:
        """The generated kernels of its right side."""
        return [item for item in self.rewrite.right if self.account.is_generated(item)]

    @property
    def right_calls(self) -> list[OpCall]:
        """The op calls of its right side."""
        made = (self.account.right[item] for item in self.rewrite.right)
        return [item for item in made if isinstance(item, OpCall)]

    @property
    def nodes(self) -> list[GraphNode]:
        """The post-grad nodes that its right side computes."""
        return [node for item in self.rewrite.right for node in self.account.nodes_of(item)]

    def computed(self, call: str) -> list[str]:
        """Return the right items, of the whole side, with a node of an op call."""
        return [item for item in self.account.right if self.account.does(item, call)]


Check: TypeAlias = Callable[[Claim], Iterator[str]]

# ---------------------------------------------------------------- what happened to the work


def nothing_computes_it(claim: Claim) -> Iterator[str]:
    """No right item has a node of the op call that computes."""
    for call in claim.calls:
        for item in claim.computed(call):
            yield f"{item} computes {call}"


def nothing_stands_right(claim: Claim) -> Iterator[str]:
    """The right side is empty."""
    if claim.rewrite.right:
        yield f"{claim.rewrite.right} do work of what is said to be gone"


def nobody_needs_it(claim: Claim) -> Iterator[str]:
    """No result that is needed rests on the op call."""
    for item, call in claim.calls.items():
        if item in claim.account.needed and not _is_unread(claim.account, call):
            yield f"{item} {call.name} is needed"


def _is_unread(account: Account, call: OpCall) -> bool:
    """Return whether nothing reads the values that a call gives."""
    made = {meta.value for meta in call.outputs}
    read = {meta.value for other in account.left.values() for meta in other.inputs}
    return not account.writes(call) and not made & (read | set(account.run.left.output_values))


def gives_no_elements(claim: Claim) -> Iterator[str]:
    """What each op call gives is empty."""
    for item, call in claim.calls.items():
        if not call.outputs or any(prod(meta.shape) for meta in call.outputs):
            yield f"{item} {call.name} gives elements"


def looks_at_memory(claim: Claim) -> Iterator[str]:
    """The op call returns memory that it was given."""
    for item, call in claim.calls.items():
        if not claim.account.is_look(call):
            yield f"{item} {call.name} makes new memory"


def no_op_call_makes_it(claim: Claim) -> Iterator[str]:
    """No right op call makes the tensor."""
    if claim.right_calls:
        yield f"{[call.name for call in claim.right_calls]} makes the tensor"


def equal_call_before(claim: Claim) -> Iterator[str]:
    """The same op read the same contents before, or the compiler merged its nodes."""
    for item, call in claim.calls.items():
        same = [other for other in claim.account.left.values() if _equals(other, call)]
        merged = _events_on(claim.account, item, "fx_graph_cse")
        if not same and not merged:
            yield f"{item} {call.name} repeats no earlier call"


def _equals(earlier: OpCall, call: OpCall) -> bool:
    reads = [tuple(meta.value for meta in one.inputs) for one in (earlier, call)]
    asked = [(one.name, one.overload, one.arguments) for one in (earlier, call)]
    return (
        earlier.id < call.id
        and not call.mutates
        and bool(reads[1])
        and reads[0] == reads[1]
        and asked[0] == asked[1]
    )


def _events_on(account: Account, call: str, word: str) -> bool:
    return any(
        account.touches(graph, event, call)
        for graph, event in account.events
        if word in event.pass_name
    )


def comes_from_numbers(claim: Claim) -> Iterator[str]:
    """The op call reads no tensor's contents that is not itself made of numbers, or a pass folded where it leads."""
    for item, call in claim.calls.items():
        constants = _constants(claim.account)
        if call.id not in constants and not _leads_to_folded(claim.account, item):
            yield f"{item} {call.name} reads tensors that are not constant"


def _constants(account: Account) -> set[int]:
    known: set[int] = set()
    found: set[int] = set()
    for call in account.left.values():
        bare = op_name(call.name)
        of_numbers = (
            not call.inputs or bare.startswith(("lift_fresh", "new_")) or bare.endswith("_like")
        )
        if of_numbers or {meta.value for meta in call.inputs} <= known:
            found.add(call.id)
            known |= {meta.value for meta in call.outputs}
    return found


def _leads_to_folded(account: Account, call: str) -> bool:
    """Return whether a node that reads the op call's, through any others, was replaced by a constant."""
    folded = {
        (graph, node.name)
        for graph, event in account.events
        for node in event.removed
        if "constant_fold" in event.pass_name
    }
    reached = set(account.nodes_for[call])
    for (graph, name), records in account.nodes.items():
        if any((graph, source) in reached for node in records for source in node.inputs):
            reached.add((graph, name))
    return bool(reached & folded)


def kernels_do_more(claim: Claim) -> Iterator[str]:
    """Each right item is a generated kernel that other op calls are in too."""
    for item in claim.rewrite.right:
        others = [call for call in claim.places if item in claim.places[call]]
        if not claim.account.is_generated(item) or not set(others) - set(claim.rewrite.left):
            yield f"{item} does nothing but the constant"


def same_as_its_input(claim: Claim) -> Iterator[str]:
    """Some input has the elements and the type of the result, and a pass let an older node stand for it."""
    for item, call in claim.calls.items():
        inputs = {(count(meta), meta.dtype) for meta in call.inputs}
        if not {(count(meta), meta.dtype) for meta in call.outputs} <= inputs:
            yield f"{item} {call.name} is not of its input's size and type"
        if not any(_stands_for(claim.account, graph, item) for graph in claim.account.graphs):
            yield f"no pass removed {item}"


def _stands_for(account: Account, graph_id: int, call: str) -> bool:
    graph = account.graphs[graph_id]
    return any(
        account.touches(graph.compile_id, event, call) and bool(event.replacements)
        for event in graph.passes
    )


def allocates(claim: Claim) -> Iterator[str]:
    """The op call fills nothing."""
    for item, call in claim.calls.items():
        if "empty" not in op_name(call.name):
            yield f"{item} {call.name} allocates no empty tensor"


# ---------------------------------------------------------------- where the work is done


def each_is_computed_there(claim: Claim) -> Iterator[str]:
    """Each op call has a node in one of the generated kernels on the right, and each of these a node of one of them."""
    if not claim.kernels:
        yield "no generated kernel on the right"
    for item, call in claim.calls.items():
        if not any(claim.account.does(kernel, item) for kernel in claim.kernels):
            yield f"{item} {call.name} has no node in {claim.kernels}"
    for kernel in claim.kernels:
        if not any(claim.account.does(kernel, item) for item in claim.rewrite.left):
            yield f"{kernel} has no node of {claim.rewrite.left}"


def several_share_a_kernel(claim: Claim) -> Iterator[str]:
    """One kernel computes two of the op calls at least."""
    members = (*claim.rewrite.left, *claim.rewrite.shared)
    most = max(
        (sum(claim.account.does(it, one) for one in members) for it in claim.kernels), default=0
    )
    if most < 2:
        yield f"no kernel of {claim.kernels} computes two of {members}"


def reduces(claim: Claim) -> Iterator[str]:
    """A kernel has a node with fewer elements than it reads."""
    if not any(_is_reduction(claim.account, item) for item in claim.kernels):
        yield f"none of {claim.kernels} reduces"


def reduces_nothing(claim: Claim) -> Iterator[str]:
    """Some kernel on the right reduces nothing: by a Triton kernel's name, by the nodes of a C++ one."""
    if claim.kernels and all(_is_reduction_kernel(claim.account, item) for item in claim.kernels):
        yield f"{claim.kernels} reduce"


def _is_reduction_kernel(account: Account, item: str) -> bool:
    name = account.right[item].name
    if name.startswith("triton_"):
        return name.startswith(("triton_red_", "triton_per_"))
    return _is_reduction(account, item)


_REDUCTIONS = frozenset(
    {
        "all", "amax", "amin", "any", "argmax", "argmin", "cumprod", "cumsum", "logsumexp", "max", "mean", "min", "norm",
        "prepare_softmax_online", "prod", "sort", "sum", "topk", "var", "var_mean", "xor_sum",
    }
)  # fmt: skip


def _is_reduction(account: Account, item: str) -> bool:
    return any(op_name(node.target) in _REDUCTIONS for node in account.nodes_of(item))


def names(*words: str) -> Check:
    """Return the check that one of the op calls, claimed or shared, is of such a name."""

    def check(claim: Claim) -> Iterator[str]:
        members = [claim.account.left[it] for it in (*claim.rewrite.left, *claim.rewrite.shared)]
        if not any(word in op_name(call.name) for call in members for word in words):
            yield f"none of {[call.name for call in members]} is one of {words}"

    return check


def each_is(*words: str) -> Check:
    """Return the check that each op call is of such a name."""

    def check(claim: Claim) -> Iterator[str]:
        for item, call in claim.calls.items():
            if not any(word in op_name(call.name) for word in words):
                yield f"{item} {call.name} is none of {words}"

    return check


def has_node(*words: str) -> Check:
    """Return the check that the right side computes a node of such a target."""

    def check(claim: Claim) -> Iterator[str]:
        targets = {node.target for node in claim.nodes}
        if not any(word in target for target in targets for word in words):
            yield f"no node of {words} on the right: {sorted(targets)[:6]}"

    return check


def writes_in_place(claim: Claim) -> Iterator[str]:
    """The op call returns memory that it was given, with other contents."""
    for item, call in claim.calls.items():
        given = {meta.storage: meta.value for meta in call.inputs}
        written = [
            meta for meta in call.outputs if given.get(meta.storage, meta.value) != meta.value
        ]
        if not call.mutates or (call.outputs and not written):
            yield f"{item} {call.name} writes nothing in place"


def done_somewhere(claim: Claim) -> Iterator[str]:
    """Each op call has a node in some right item of the claim; with an empty right side in none of the whole side."""
    for item, call in claim.calls.items():
        if claim.rewrite.right and not any(
            claim.account.does(it, item) for it in claim.rewrite.right
        ):
            yield f"{item} {call.name} has no node in {claim.rewrite.right}"


def became_others(claim: Claim) -> Iterator[str]:
    """The op call has several nodes, or one that is not of its own name."""
    for item, call in claim.calls.items():
        names_of = claim.account.nodes_for[item]
        targets = {op_name(node.target) for name in names_of for node in claim.account.nodes[name]}
        computing = targets - {"getitem"}
        others = {op_name(one.name) for one in claim.right_calls} - {op_name(call.name)}
        if len(names_of) < 2 and computing <= {op_name(call.name)} and not others:
            yield f"{item} {call.name} is the same node: {targets}"


# ---------------------------------------------------------------- what passes did


def cites_its_event(claim: Claim) -> Iterator[str]:
    """The pass event exists, and removed a node of each op call."""
    cited = claim.account.event(claim.rewrite.by_pass, claim.rewrite.location)
    if not cited:
        yield f"no pass event is {claim.rewrite.by_pass!r}"
    for item, call in claim.calls.items():
        if cited and not any(claim.account.touches(graph, event, item) for graph, event in cited):
            yield f"{claim.rewrite.by_pass} removed no node of {item} {call.name}"


def cites_none_or_its_event(claim: Claim) -> Iterator[str]:
    """If a pass is named, it removed a node of each op call."""
    if claim.rewrite.by_pass:
        yield from cites_its_event(claim)


def made(*targets: str) -> Check:
    """Return the check that the pass made a node of each of these targets."""

    def check(claim: Claim) -> Iterator[str]:
        cited = claim.account.event(claim.rewrite.by_pass, claim.rewrite.location)
        found = {op_name(node.target) for _, event in cited for node in event.created}
        missing = set(targets) - found
        if missing:
            yield f"{claim.rewrite.by_pass} made no {sorted(missing)}, but {sorted(found)}"

    return check


def cites(*words: str) -> Check:
    """Return the check that the pass is one of these, by its name or its place in torch."""

    def check(claim: Claim) -> Iterator[str]:
        text = f"{claim.rewrite.by_pass} {claim.rewrite.location}"
        if not any(word in text for word in words):
            yield f"the pass {text!r} is none of {words}"

    return check


def right_item_is(*words: str) -> Check:
    """Return the check that an op call or a kernel on the right is of such a name."""

    def check(claim: Claim) -> Iterator[str]:
        found = [claim.account.right[item].name for item in claim.rewrite.right]
        if not any(word in name for name in found for word in words):
            yield f"none of {found} is one of {words}"

    return check


_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "matmul", "dot", "mv")


def one_product_with_its_addend(claim: Claim) -> Iterator[str]:
    """The op call on the right reads the shapes of a product on the left, and an addend that was added to it."""
    products = [call for call in claim.calls.values() if op_name(call.name) in _PRODUCTS]
    sums = [call for call in claim.calls.values() if op_name(call.name) in {"add", "sub"}]
    if not products or not sums:
        yield f"{claim.rewrite.left} are no product with a sum"
    right = [call for call in claim.right_calls if op_name(call.name) in {"addmm", "baddbmm"}]
    if not right and not any("addmm" in claim.account.right[it].name for it in claim.kernels):
        yield "no addmm on the right"
    for call in right:
        given = {meta.shape for meta in call.inputs}
        fits = [one for one in products if {meta.shape for meta in one.inputs[:2]} <= given]
        addends = {count(meta) for one in sums for meta in one.inputs} | {1}
        if not fits or not counts(call.inputs) & addends:
            yield f"the shapes of {call.name} are those of no product in {claim.rewrite.left}"


def products_grew(claim: Claim) -> Iterator[str]:
    """A matrix on the right has a size that none on the left has, and is larger than one of these."""
    left = [meta for call in claim.calls.values() for meta in call.inputs]
    right = [meta for call in claim.right_calls for meta in call.inputs]
    grown = counts(right) - counts(left)
    if not grown or max(grown) <= min(counts(left), default=0):
        yield "no matrix on the right is larger than one on the left"


def same_sizes(claim: Claim) -> Iterator[str]:
    """Some op call on the right reads or gives as many elements as one on the left."""
    left = counts(meta for call in claim.calls.values() for meta in (*call.inputs, *call.outputs))
    for call in claim.right_calls:
        if not counts((*call.inputs, *call.outputs)) & left:
            yield f"{call.name} has no tensor of the size of one in {claim.rewrite.left}"


def sizes_together(claim: Claim) -> Iterator[str]:
    """Some op call on the right moves several times as many elements as one on the left."""
    left = counts(meta for call in claim.calls.values() for meta in (*call.inputs, *call.outputs))
    several = {size * times for size in left for times in range(2, len(claim.calls) + 1)}
    for call in claim.right_calls:
        if not counts((*call.inputs, *call.outputs)) & several:
            yield f"{call.name} has no tensor of several in {claim.rewrite.left}"


def without_batch(claim: Claim) -> Iterator[str]:
    """The op call on the left is a product of one batch, and that on the right has its other sizes."""
    for item, call in claim.calls.items():
        if any(meta.shape[0] != 1 for meta in call.inputs if len(meta.shape) == 3):
            yield f"{item} has more batches than one"
        plain = [meta.shape[1:] for meta in call.inputs]
        right = [[meta.shape for meta in one.inputs] for one in claim.right_calls]
        if right and not any(shapes[: len(plain)] == plain for shapes in right):
            yield f"{right} are not the sizes of {item}"


# ---------------------------------------------------------------- what takes another way


def not_made_when_compiled(claim: Claim) -> Iterator[str]:
    """The graphs, run node by node, make fewer such calls than eager mode does, or the right side makes other ones."""
    compiler = claim.account.run.right.compiler
    traced = [_like(made.name, made.shapes) for made in compiler.attributed] if compiler else []
    for item, call in claim.calls.items():
        key = _like(call.name, tuple(meta.shape for meta in call.inputs))
        left = [
            _like(c.name, tuple(m.shape for m in c.inputs)) for c in claim.account.left.values()
        ]
        if traced.count(key) >= left.count(key) and not _is_of_no_traced_line(claim, item):
            yield f"{item} {call.name} is made when compiled too"


def _like(name: str, shapes: tuple[tuple[int, ...], ...]) -> object:
    return name, shapes


def _is_of_no_traced_line(claim: Claim, item: str) -> bool:
    """Return whether the traced graphs have no node of the line of an op call."""
    place = claim.account.left[item].source
    lines = {
        (node.source.file, node.source.line)
        for graph in claim.account.graphs.values()
        for node in (graph.dynamo.nodes if graph.dynamo else ())
        if node.source is not None and node.op != "placeholder"
    }
    return place is not None and (place.file, place.line) not in lines


def of_the_backward(claim: Claim) -> Iterator[str]:
    """Autograd made the op calls, on no line of the case, and the right side moves as many elements."""
    for item, call in claim.calls.items():
        if call.phase != "backward" or call.source is not None:
            yield f"{item} {call.name} hands over no gradient"
        right = counts(meta for one in claim.right_calls for meta in one.outputs)
        if not counts(call.outputs) & right:
            yield f"{item} hands over a gradient of another size than {right}"


def layout_differs(claim: Claim) -> Iterator[str]:
    """One gradient has other strides on the right than on the left."""
    copies = [
        call for call in claim.calls.values() if call.inputs
    ]  # an allocation is of the copy's layout
    left = {meta.stride for call in copies for meta in (*call.inputs, *call.outputs)}
    right = {meta.stride for call in claim.right_calls for meta in (*call.inputs, *call.outputs)}
    if copies and left == right:
        yield "both sides have one layout"


def has_a_kernel_alone(claim: Claim) -> Iterator[str]:
    """Some kernel on the right does the work of no other op call that computes in the same direction."""
    for item, call in claim.calls.items():
        others = {
            kernel: [one for one in claim.account.left if _shares(claim, one, item, kernel)]
            for kernel in claim.kernels
        }
        if all(others.values()):
            yield f"{item} {call.name} shares each kernel: {others}"


def _shares(claim: Claim, other: str, call: str, kernel: str) -> bool:
    account = claim.account
    left, own = account.left[other], account.left[call]
    counts_too = other != call and not account.is_look(left) and left.phase == own.phase
    return counts_too and bool(left.inputs) and kernel in claim.places.get(other, ())


def computes_something(claim: Claim) -> Iterator[str]:
    """A right item computes a node at all."""
    told = all(claim.account.wrapper_call(item) for item in claim.rewrite.right)
    if claim.rewrite.right and told and all(only_looks(node) for node in claim.nodes):
        yield f"{claim.rewrite.right} computes nothing"


_FUSED = (each_is_computed_there, several_share_a_kernel)
_BY_PASS = (cites_its_event, done_somewhere)
_PRODUCT_WORDS = ("mm", "matmul", "linear", "conv", "dot", "mv")

ROWS: dict[str, tuple[Check, ...]] = {
    "addmm-unfused-bias": (
        *_BY_PASS,
        each_is("addmm", "baddbmm"),
        made("mm", "add"),
        cites("unfuse_bias_add"),
    ),
    "allocation-planned": (allocates, nothing_stands_right),
    "back-to-back-gemm": (*_BY_PASS, each_is_computed_there, names("mm"), cites("b2b_gemm")),
    "batched-ops": (*_BY_PASS, cites("group_batch_fusion"), sizes_together),
    "bmm-to-mm": (*_BY_PASS, each_is("bmm"), made("mm"), without_batch),
    "common-subexpression": (equal_call_before,),
    "compiler-pattern": (
        cites_none_or_its_event,
        done_somewhere,
        names(*_PRODUCT_WORDS, "attention", "lstm", "gru"),
        same_sizes,
    ),
    "constant-folded": (comes_from_numbers, kernels_do_more),
    "conv-bn-folded": (each_is("batch_norm"), cites_none_or_its_event, done_somewhere),
    "dead-code": (nobody_needs_it, nothing_computes_it, nothing_stands_right),
    "decomposition": (done_somewhere, became_others, computes_something),
    "dtype-roundtrip-removed": (
        cites_its_event,
        each_is("to_copy", "convert"),
        cites("pointless_convert"),
    ),
    "embedding-lowered": (each_is("embedding"), each_is_computed_there),
    "empty-result": (gives_no_elements, nothing_stands_right),
    "epilogue-fusion": (
        cites_none_or_its_event,
        done_somewhere,
        right_item_is("mkldnn", "linear", "conv", "onednn"),
        same_sizes,
    ),
    "flex-attention": (
        each_is("flex_attention"),
        each_is_computed_there,
        right_item_is("triton_tem_", "flex"),
    ),
    "gradient-copied": (of_the_backward, right_item_is("copy_"), layout_differs),
    "gradient-taken": (of_the_backward, right_item_is("detach"), layout_differs),
    "loss-fused": (*_FUSED, names("loss", "binary_cross_entropy", "xlogy")),
    "lowered-to-kernel": (each_is_computed_there, computes_something, has_a_kernel_alone),
    "matmul-padded": (*_BY_PASS, each_is("mm", "bmm", "addmm"), cites("pad_mm"), products_grew),
    "mm-add-to-addmm": (*_BY_PASS, made("addmm"), one_product_with_its_addend),
    "mm-plus-mm": (*_BY_PASS, names("mm"), names("add"), cites("mm_plus_mm"), same_sizes),
    "mutation-functionalized": (writes_in_place, done_somewhere),
    "narrow-product": (
        *_BY_PASS,
        each_is_computed_there,
        names("mm"),
        cites("decompose_mem_bound_mm"),
        has_node("sum"),
    ),
    "noop-removed": (same_as_its_input, nothing_stands_right),
    "online-softmax": (*_BY_PASS, names("softmax"), has_node("prepare_softmax_online")),
    "other-code-path": (not_made_when_compiled,),
    "other-layout": (not_made_when_compiled, same_sizes),
    "parts-rejoined": (cites_its_event, cites("split_cat", "unbind", "stack", "merge")),
    "pointwise-fusion": (*_FUSED, reduces_nothing),
    "reduction-fusion": (*_FUSED, reduces),
    "rng-replaced": (
        each_is("bernoulli", "rand", "normal", "uniform", "dropout"),
        each_is_computed_there,
        has_node("inductor_random", "inductor_randint", "inductor_seeds", "lookup_seed"),
    ),
    "scaled-softmax": (
        *_BY_PASS,
        names("softmax"),
        made("sub"),
        cites("mul_softmax_pattern", "div_softmax_pattern"),
    ),
    "scatter-to-comparison": (*_BY_PASS, each_is("scatter"), has_node("eq")),
    "sdpa-pattern": (*_BY_PASS, names("softmax"), names("mm"), cites("_sfdp_")),
    "view-elimination": (looks_at_memory, no_op_call_makes_it),
}
"""The checks by rule; each must be able to fail."""
