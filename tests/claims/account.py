"""What a run says of itself. In: a Run. Out: who could have done an op call's work, by the raw records alone.

Nothing here asks `compdiff.align` or `compdiff.rewrites`: a checker that did would agree with them in their errors.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

from compdiff.model import (
    CompiledGraph,
    GraphNode,
    Kernel,
    OpCall,
    PassEvent,
    Run,
    TensorMeta,
    WrapperCall,
)

Name = tuple[str, str]  # a compile id and the name of a node
_GENERATED = ("cpp", "triton")
# Ops whose result has another shape or place than what they read, and the same numbers.
_LOOKS = frozenset(
    {
        "_reshape_alias", "_unsafe_view", "alias", "as_strided", "detach", "diagonal", "expand", "getitem", "permute",
        "reshape", "select", "slice", "split", "squeeze", "t", "transpose", "unbind", "unsqueeze", "view",
    }
)  # fmt: skip
# What the dispatcher of a traced graph calls an op of eager mode, where it is another name.
_OTHER_NAMES = {
    "_unsafe_view": ("view", "reshape"),
    "native_batch_norm": ("_native_batch_norm_legit_functional", "cudnn_batch_norm"),
    "_scaled_dot_product_flash_attention_for_cpu": ("scaled_dot_product_attention",),
}


def op_name(text: str) -> str:
    """Return the bare name of an op: `aten::add_` and `aten.add.Tensor` give `add`."""
    if "::" in text:
        bare = text.rpartition("::")[2]
    else:
        parts = text.removeprefix("torch.ops.").split(".")
        bare = parts[1] if len(parts) > 1 else text
    return bare.removesuffix("_") or bare


def told_op(node: GraphNode) -> str:
    """Return the op that a node was traced from: a higher-order op names itself."""
    itself = node.target if node.target.startswith("torch.ops.") and node.dynamo_nodes else ""
    return op_name(node.original_aten or itself)


def count(meta: TensorMeta) -> int:
    """Return the number of elements."""
    return prod(meta.shape)


def counts(metas: Iterable[TensorMeta]) -> set[int]:
    """Return the numbers of elements of tensors."""
    return {count(meta) for meta in metas}


def only_looks(node: GraphNode) -> bool:
    """Return whether a node computes nothing."""
    return node.op != "call_function" or op_name(node.target) in _LOOKS


@dataclass(frozen=True)
class Account:
    """A run's raw records, indexed."""

    run: Run

    @cached_property
    def left(self) -> dict[str, OpCall]:
        """Left op calls by item id."""
        return {f"e{call.id}": call for call in self.run.left.op_calls}

    @cached_property
    def right(self) -> dict[str, OpCall | Kernel]:
        """Right op calls and kernels by item id."""
        calls = {f"c{call.id}": call for call in self.run.right.op_calls}
        return {**calls, **{f"k{kernel.id}": kernel for kernel in self.run.right.kernels}}

    @cached_property
    def graphs(self) -> dict[int, CompiledGraph]:
        """Compiled graphs by id."""
        compiler = self.run.right.compiler
        return {graph.id: graph for graph in compiler.graphs} if compiler else {}

    @cached_property
    def events(self) -> list[tuple[str, PassEvent]]:
        """What passes did, each with the compile id of the graph."""
        return [
            (graph.compile_id, event) for graph in self.graphs.values() for event in graph.passes
        ]

    @cached_property
    def nodes(self) -> dict[Name, list[GraphNode]]:
        """All records of the nodes below Dynamo, by compile id and name."""
        found: dict[Name, list[GraphNode]] = defaultdict(list)
        for graph in self.graphs.values():
            for part in (graph.joint, graph.post_grad):
                for node in part.nodes if part else ():
                    found[graph.compile_id, node.name].append(node)
        for compile_id, event in self.events:
            for node in (*event.removed, *event.created) if event.stage != "pre_grad" else ():
                found[compile_id, node.name].append(node)
        return found

    @cached_property
    def _before(self) -> dict[Name, set[Name]]:
        """For each node, those in whose place passes put it."""
        found: dict[Name, set[Name]] = defaultdict(set)
        for compile_id, event in self.events:
            removed = {(compile_id, node.name) for node in event.removed}
            for node in event.created:
                found[compile_id, node.name] |= removed
            for old, new in event.replacements.items():
                found[compile_id, new].add((compile_id, old))
        return found

    def descent(self, name: Name) -> set[Name]:
        """Return a node and all in whose place passes put it."""
        found: set[Name] = set()
        pending = [name]
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending.extend(self._before.get(one, ()))
        return found

    # ------------------------------------------------------------ right items

    def wrapper_call(self, item: str) -> tuple[CompiledGraph, WrapperCall] | None:
        """Return the call of the generated wrapper that made a right item, with its graph."""
        made = self.right[item]
        launcher = made.op_call if isinstance(made, Kernel) else None
        if launcher is not None:
            made = self.right[f"c{launcher}"]
        if made.graph is None or made.call is None:
            return None
        graph = self.graphs[made.graph]
        return next(((graph, call) for call in graph.calls if call.index == made.call), None)

    def nodes_of(self, item: str) -> list[GraphNode]:
        """Return the post-grad nodes that a right item computes."""
        found = self.wrapper_call(item)
        if found is None or found[0].post_grad is None:
            return []
        return [node for node in found[0].post_grad.nodes if node.name in found[1].nodes]

    def names_of(self, item: str) -> set[Name]:
        """Return the names of those nodes, and of those in whose place passes put them."""
        found = self.wrapper_call(item)
        if found is None:
            return self._horizontal(item)
        graph, call = found
        nodes = {*call.nodes, *(_unnamed_before(graph, call) if self.is_generated(item) else ())}
        return {name for node in nodes for name in self.descent((graph.compile_id, node))}

    def _horizontal(self, item: str) -> set[Name]:
        """Return the horizontal ops of a graph whose parts one kernel runs: no call of the wrapper names it."""
        made = self.right[item]
        if made.graph is None or not made.name.startswith("triton_for_"):
            return set()
        graph = self.graphs[made.graph]
        nodes = graph.post_grad.nodes if graph.post_grad else ()
        return {
            name
            for node in nodes
            if node.target.startswith("aten._foreach_")
            for name in self.descent((graph.compile_id, node.name))
        }

    def is_generated(self, item: str) -> bool:
        """Return whether Inductor wrote the kernel."""
        made = self.right[item]
        return isinstance(made, Kernel) and made.kind in _GENERATED

    def does(self, item: str, call: str) -> bool:
        """Return whether one of the nodes of a right item is of a left op call; without nodes, whether its sizes are."""
        names = self.names_of(item)
        if not names and self.wrapper_call(item) is None:
            return self.is_like(item, call)
        return bool(names & self.nodes_for[call])

    def is_like(self, item: str, call: str) -> bool:
        """Return whether a right item handles a tensor of the size of one of a left op call."""
        made, left = self.right[item], self.left[call]
        if not isinstance(made, OpCall):
            return made.op_call is not None and self.is_like(f"c{made.op_call}", call)
        sizes = counts((*left.inputs, *left.outputs)) & counts((*made.inputs, *made.outputs))
        return bool(sizes) or not (made.inputs or made.outputs)

    # ------------------------------------------------------------ left op calls

    @cached_property
    def _makers(self) -> dict[str, set[str | None]]:
        """The Dynamo nodes that made each left op call when the graphs were run node by node: of calls alike, in order."""
        compiler = self.run.right.compiler
        queues: dict[object, list[str | None]] = defaultdict(list)
        for made in compiler.attributed if compiler else ():
            queues[made.name, made.shapes, made.phase].append(made.node)
        like: dict[object, list[str]] = defaultdict(list)
        for item, call in self.left.items():
            like[call.name, tuple(meta.shape for meta in call.inputs), call.phase].append(item)
        return {
            item: {queues[key][index]} if len(queues[key]) == len(items) else set(queues[key])
            for key, items in like.items()
            for index, item in enumerate(items)
        }

    def makers(self, call: str) -> set[str]:
        """Return the Dynamo nodes that can have made a left op call; none of a backward one, or where nothing says."""
        return {maker for maker in self._makers[call] if maker is not None}

    @cached_property
    def nodes_for(self) -> dict[str, set[Name]]:
        """For each left op call, the nodes that can be of it: by op, direction, Dynamo node and number of elements."""
        return {item: self._nodes_for(item) for item in self.left}

    def _nodes_for(self, item: str) -> set[Name]:
        call = self.left[item]
        bare = op_name(call.name)
        wanted = {bare, *_OTHER_NAMES.get(bare, ())}
        near = [(name, node) for name, node in self._each_node() if self._is_near(item, node)]
        if self.makers(item) & self._removed_early:
            return {name for name, _ in near}
        named = [(name, node) for name, node in near if told_op(node) in wanted]
        if not named:
            # A composite op that the graph does not take apart as eager mode does: what no other op call names.
            others = self._ops_beside(item)
            again = [self._nodes_for(twin) for twin in self._forward_twins(item)]
            made = counts(call.outputs)
            left_over = {
                name
                for name, node in near
                if told_op(node) not in others and (not made or counts(node.outputs) & made)
            }
            return set().union(*again) if again else left_over
        groups: dict[object, list[tuple[Name, GraphNode]]] = defaultdict(list)
        for name, node in named:
            groups[node.original_aten, node.dynamo_nodes, node.sequence].append((name, node))
        made = counts(call.outputs)
        return {
            name
            for group in groups.values()
            if not made or any(counts(node.outputs) & made for _, node in group)
            for name, _ in group
        }

    def _forward_twins(self, item: str) -> list[str]:
        """Return the forward calls that a backward call does again, as a checkpoint does."""
        call = self.left[item]
        key = (call.name, [meta.shape for meta in call.inputs])
        return [
            other
            for other, twin in self.left.items()
            if call.phase == "backward" and twin.phase == "forward"
            if (twin.name, [meta.shape for meta in twin.inputs]) == key
        ]

    def _each_node(self) -> Iterator[tuple[Name, GraphNode]]:
        """Yield what was traced: nodes that passes made are of those in whose place they stand."""
        made = {
            (graph, node.name)
            for graph, event in self.events
            for node in event.created
            if event.stage != "pre_grad"
        }
        for name, records in self.nodes.items():
            for node in records if name not in made else ():
                if told_op(node):
                    yield name, node

    def _is_near(self, item: str, node: GraphNode) -> bool:
        call = self.left[item]
        if call.phase == "backward":
            return node.backward or not node.dynamo_nodes
        makers = self.makers(item)
        return not node.backward and (not makers or bool(makers & self._dynamo(node)))

    def _dynamo(self, node: GraphNode) -> set[str]:
        """Return the Dynamo nodes that a node is of, and those in whose place passes put them."""
        return {
            name
            for graph in self._compile_ids
            for own in node.dynamo_nodes
            for _, name in self.descent((graph, own))
        }

    @cached_property
    def _compile_ids(self) -> set[str]:
        return {graph.compile_id for graph in self.graphs.values()}

    @cached_property
    def _removed_early(self) -> set[str]:
        """Dynamo nodes in whose place a pass put others before AOTAutograd traced the graph."""
        return {
            node.name
            for _, event in self.events
            for node in event.removed
            if event.stage == "pre_grad"
        }

    def _ops_beside(self, item: str) -> set[str]:
        """Return the ops of the other left op calls of the same Dynamo nodes, or of the same direction."""
        own, phase = self.makers(item), self.left[item].phase
        return {
            op_name(call.name)
            for other, call in self.left.items()
            if other != item and call.phase == phase and (not own or own & self.makers(other))
        }

    # ------------------------------------------------------------ data flow of the left side

    def is_look(self, call: OpCall) -> bool:
        """Return whether all that a call returns is memory that it was given, unwritten."""
        given = {meta.storage for meta in call.inputs if meta.storage >= 0}
        made = {meta.storage for meta in call.outputs}
        return bool(made) and made <= given and not self.writes(call)

    def writes(self, call: OpCall) -> bool:
        """Return whether a call writes into memory that it was given."""
        return call.mutates

    @cached_property
    def needed(self) -> set[str]:
        """Left op calls whose result reaches what the function returns, memory that it was given, or a gradient.

        From the end to the start: a call is needed for a value that is, and a writing one for any value on its memory.
        """
        made = {
            meta.storage
            for call in self.left.values()
            if not self.writes(call) and not self.is_look(call)
            for meta in call.outputs
        }
        live = set(self.run.left.output_values)
        metas = [meta for call in self.left.values() for meta in (*call.inputs, *call.outputs)]
        memory = {meta.storage for meta in metas if meta.value in live or meta.storage not in made}
        found = set()
        for item, call in reversed(self.left.items()):
            if self._is_needed(call, live, memory):
                found.add(item)
                read = () if _only_shaped(call) else call.inputs
                live |= {meta.value for meta in read}
                memory |= {meta.storage for meta in read}
        return found

    def _is_needed(self, call: OpCall, live: set[int], memory: set[int]) -> bool:
        new = {meta.value for meta in call.outputs} - {meta.value for meta in call.inputs}
        writes = self.writes(call) and bool({meta.storage for meta in call.outputs} & memory)
        return bool(new & live) or writes or call.phase == "backward"

    def event(self, by_pass: str, location: str) -> list[tuple[str, PassEvent]]:
        """Return the pass events that a rewrite cites."""
        return [
            (compile_id, event)
            for compile_id, event in self.events
            if by_pass == f"{event.stage}: {event.pattern or event.pass_name}"
            and location == event.location
        ]

    def touches(self, compile_id: str, event: PassEvent, call: str) -> bool:
        """Return whether a pass event removed a node of a left op call."""
        names = [node.name for node in event.removed]
        removed = {it for name in names for it in self.descent((compile_id, name))}
        if event.stage == "pre_grad":
            return bool({name for _, name in removed} & self.makers(call))
        return bool(removed & self.nodes_for[call])


def _unnamed_before(graph: CompiledGraph, call: WrapperCall) -> set[str]:
    """Return the nodes that no call names and a generated one reads: it computes them too, but for a template."""
    if graph.post_grad is None or call.name.startswith("triton_tem_"):
        return set()
    named = {name for other in graph.calls for name in other.nodes}
    inputs = {node.name: node.inputs for node in graph.post_grad.nodes}
    joined = {
        node.name for node in graph.post_grad.nodes if node.target == "aten.cat.default"
    } - named
    # The parts of a stored `cat` are written in place by the kernels that compute them.
    found = {name for name in joined if set(inputs[name]) & {*call.nodes}}
    pending = [name for node in call.nodes for name in inputs.get(node, ())]
    while pending:
        name = pending.pop()
        if name not in named and name not in found:
            found.add(name)
            pending.extend(inputs.get(name, ()))
    return found


def _only_shaped(call: OpCall) -> bool:
    """Return whether a call reads the shape of its input alone."""
    bare = op_name(call.name)
    return bare.endswith("_like") or bare.startswith("new_")
