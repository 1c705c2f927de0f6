"""Facts about op calls that rules ask for. In: an Alignment. Out: answers, each computed once from the captures."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from compdiff.align.items import left_op, right_items, right_kernel, right_op
from compdiff.align.liveness import live_calls
from compdiff.align.other_way import graphs_around
from compdiff.align.traces import SHAPED_LIKE, Alignment, OpTrace
from compdiff.model import GENERATED, CompiledGraph, GraphNode, Kernel, OpCall, PassEvent


@dataclass
class Facts:
    """An alignment with the derived tables that rules need."""

    alignment: Alignment

    @cached_property
    def graphs(self) -> dict[int, CompiledGraph]:
        """Compiled graphs by id."""
        compiler = self.alignment.right.compiler
        return {graph.id: graph for graph in compiler.graphs} if compiler else {}

    @cached_property
    def items(self) -> dict[str, OpCall | Kernel]:
        """Right op calls and kernels by item id."""
        return dict(right_items(self.alignment.right))

    @cached_property
    def traces_by_id(self) -> dict[str, OpTrace]:
        """Traces by the id of their left op call."""
        return {trace.id: trace for trace in self.alignment.traces}

    @cached_property
    def left_alone(self) -> frozenset[str]:
        """Names of left kernels that no op call launched, where no compiler tells of either side."""
        if self.alignment.right.compiler is not None:
            return frozenset()
        kernels = self.alignment.left.kernels
        return frozenset(kernel.name for kernel in kernels if kernel.op_call is None)

    @cached_property
    def owners(self) -> dict[str, list[OpTrace]]:
        """For each right item, the traces that end in it; a kernel without any has those of the op call that launched it."""
        found: dict[str, list[OpTrace]] = defaultdict(list)
        for trace in self.alignment.traces:
            for item in (*trace.items, *([trace.kept] if trace.kept else [])):
                found[item].append(trace)
        for launcher, kernels in self._launches.items():
            for kernel in kernels:
                item = right_kernel(kernel.id)
                if item not in found and launcher in found:
                    found[item] = found[launcher]
        return found

    @cached_property
    def items_by_node(self) -> dict[str, list[str]]:
        """Right items by the name of a post-grad node that they compute, over all graphs."""
        found: dict[str, list[str]] = defaultdict(list)
        for item, refs in self.alignment.item_nodes.items():
            for ref in refs:
                found[ref.name].append(item)
        return found

    @cached_property
    def _traces_by_joint_node(self) -> dict[tuple[str, str], list[OpTrace]]:
        found: dict[tuple[str, str], list[OpTrace]] = defaultdict(list)
        for trace in self.alignment.traces:
            for node in trace.joint:
                found[trace.compile_id or "", node.name].append(trace)
        return found

    @cached_property
    def _launches(self) -> dict[str, list[Kernel]]:
        found: dict[str, list[Kernel]] = defaultdict(list)
        for kernel in self.alignment.right.kernels:
            if kernel.op_call is not None:
                found[right_op(kernel.op_call)].append(kernel)
        return found

    def with_joint_node(self, names: Iterable[tuple[str, str]]) -> list[OpTrace]:
        """Return the traces that became one of these (compile id, joint node), in left order."""
        found = {
            id(trace): trace for name in names for trace in self._traces_by_joint_node.get(name, ())
        }
        return sorted(found.values(), key=lambda trace: trace.call.id)

    def with_dynamo_node(self, names: Collection[tuple[str, str]]) -> list[OpTrace]:
        """Return the traces that one of these (compile id, Dynamo node) made, in left order."""
        return [
            trace
            for trace in self.alignment.traces
            if (trace.compile_id, trace.dynamo_node) in names
        ]

    @cached_property
    def live(self) -> frozenset[int]:
        """Ids of left op calls whose result reaches an output, a mutated tensor or autograd."""
        return live_calls(self.alignment.left)

    @cached_property
    def read(self) -> frozenset[int]:
        """Numbers of the values that a left op call reads, more than their shape, or that the function returns."""
        left = self.alignment.left
        readers = (call for call in left.op_calls if call.name not in SHAPED_LIKE)
        inputs = {meta.value for call in readers for meta in call.inputs}
        return frozenset(inputs | set(left.output_values))

    @cached_property
    def live_without_backward(self) -> frozenset[int]:
        """Ids of left op calls whose result reaches an output or a mutated tensor."""
        return live_calls(self.alignment.left, autograd=False)

    @cached_property
    def inference_graphs(self) -> frozenset[str]:
        """Compile ids of the graphs that no backward pass follows."""
        return frozenset(
            graph.compile_id for graph in self.graphs.values() if graph.direction == "inference"
        )

    def is_live(self, trace: OpTrace) -> bool:
        """Return whether a left op call's result reaches an output, a mutated tensor or a backward pass."""
        alone = trace.compile_id in self.inference_graphs
        return trace.call.id in (self.live_without_backward if alone else self.live)

    @cached_property
    def inside_graphs(self) -> dict[int, str]:
        """The compile ids of the graphs that left op calls without a traced counterpart lie in, by op call."""
        return graphs_around(self.alignment.traces)

    @cached_property
    def behind_folded(self) -> frozenset[tuple[str, str]]:
        """Joint nodes, with their compile ids, that lead to a node which constant folding replaced by its value."""
        found: set[tuple[str, str]] = set()
        for compile_id, frame in self.alignment.lineage.frames.items():
            inputs = {node.name: node.inputs for node in frame.joint}
            folded = [it for event, before, _ in frame.events if _folds(event) for it in before]
            pending = [name for it in folded for name in inputs.get(it, ())]
            while pending:
                name = pending.pop()
                if (compile_id, name) not in found:
                    found.add((compile_id, name))
                    pending.extend(inputs.get(name, ()))
        return frozenset(found)

    @cached_property
    def unused_nodes(self) -> frozenset[tuple[str | None, str | None]]:
        """Dynamo nodes, with their compile ids, whose results reach no output and that write nothing."""
        return frozenset(
            (graph.compile_id, name)
            for graph in self.graphs.values()
            if graph.dynamo is not None
            for name in _unused(graph.dynamo.nodes)
        )

    @cached_property
    def constants(self) -> frozenset[int]:
        """Ids of left op calls that compute from numbers in the code alone: lifted constants, and what only they go into."""
        return _constant_calls(self.alignment.left.op_calls)

    @cached_property
    def first_equal(self) -> dict[int, int]:
        """For each left op call that repeats an earlier one on the same contents, that earlier one's id."""
        return _repeated_calls(self.alignment)

    @cached_property
    def first_alike(self) -> dict[int, int]:
        """For each left op call that repeats an earlier one on the same memory, that earlier one's id."""
        return _repeated_calls(self.alignment, by_contents=False)

    @cached_property
    def reading(self) -> dict[int, list[OpCall]]:
        """The left op calls that read each value."""
        found: dict[int, list[OpCall]] = defaultdict(list)
        for call in self.alignment.left.op_calls:
            for value in {meta.value for meta in call.inputs}:
                found[value].append(call)
        return found

    def generated(self, trace: OpTrace) -> list[str]:
        """Return the generated kernels that do the call's work."""
        return [item for item in trace.items if self.is_generated(item)]

    def is_generated(self, item: str) -> bool:
        """Return whether a right item is a kernel that Inductor wrote."""
        made = self.items[item]
        return isinstance(made, Kernel) and made.kind in GENERATED

    def extern_calls(self, trace: OpTrace) -> list[OpCall]:
        """Return the right op calls that do the call's work."""
        made = (self.items[item] for item in trace.items)
        return [item for item in made if isinstance(item, OpCall)]

    def nodes_of(self, item: str) -> list[GraphNode]:
        """Return the post-grad nodes that a right item computes."""
        nodes = self.alignment.lineage.nodes
        return [nodes[ref] for ref in self.alignment.item_nodes.get(item, ()) if ref in nodes]

    def launched_by(self, item: str) -> list[Kernel]:
        """Return the kernels that a right op call launched."""
        return self._launches.get(item, [])

    def is_backward(self, item: str) -> bool:
        """Return whether a right item runs in a backward graph, or is guessed to."""
        made = self.items[item]
        if made.graph is not None:
            return self.graphs[made.graph].direction == "backward"
        return item in self.alignment.backward


# torch.tensor() makes its values on the CPU and hands them to the dispatcher by these.
_LIFTS = frozenset({"aten::lift_fresh", "aten::lift_fresh_copy"})


def _constant_calls(calls: Iterable[OpCall]) -> frozenset[int]:
    known: set[int] = set()
    found: set[int] = set()
    for call in calls:
        inputs = {meta.value for meta in call.inputs}
        if (call.name in _LIFTS or (inputs and inputs <= known)) and not call.mutates:
            found.add(call.id)
            known.update(meta.value for meta in call.outputs)
    return frozenset(found)


def _folds(event: PassEvent) -> bool:
    return "constant_fold" in event.pass_name


def base_name(name: str) -> str:
    """Return an op's name without namespace: `aten::addmm` gives `addmm`."""
    return name.rpartition("::")[2]


def kernel_ids(facts: Facts) -> list[str]:
    """Return the generated kernels of the right side, in order."""
    return [
        right_kernel(kernel.id)
        for kernel in facts.alignment.right.kernels
        if kernel.kind in GENERATED
    ]


def _unused(nodes: Sequence[GraphNode]) -> set[str]:
    used: set[str] = set()
    for node in reversed(nodes):
        name = node.target.rpartition(".")[2]
        writes = name.endswith("_") or name == "setitem" or node.target.startswith("_operator.i")
        if node.name in used or writes or node.op == "output":
            used |= {node.name, *node.inputs}
    return {node.name for node in nodes if node.op.startswith("call_")} - used


def _repeated_calls(alignment: Alignment, *, by_contents: bool = True) -> dict[int, int]:
    """Return the first of equal calls for each later one; by memory, its contents may have changed between."""
    first: dict[tuple[object, ...], int] = {}
    repeated = {}
    for call in alignment.left.op_calls:
        if call.mutates or not call.inputs or any(meta.value < 0 for meta in call.inputs):
            continue  # nothing tells whether the contents are the same
        read = tuple(
            meta.value if by_contents else (meta.storage, meta.shape, meta.stride)
            for meta in call.inputs
        )
        earlier = first.setdefault((call.name, call.overload, call.arguments, read), call.id)
        if earlier != call.id:
            repeated[call.id] = earlier
    return repeated


def trace_ids(traces: list[OpTrace]) -> tuple[str, ...]:
    """Return the item ids of traces, in order."""
    return tuple(left_op(trace.call.id) for trace in traces)
