"""Autograd's backward pass without a device. In: what the engine would be given. Out: gradients, by the graph's own nodes.

torch's engine asks the CUDA driver for streams before it runs a node, so a plan walks the graph itself: the same nodes in
the same order, with gradients summed, reduced to their tensor's shape and accumulated as the engine does it.
Source: torch/csrc/autograd/engine.cpp, input_buffer.cpp, input_metadata.cpp, functions/accumulate_grad.h (torch 2.14).
Hooks on tensors and nodes are not called.
"""

import contextlib
import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.fx import traceback
from torch.utils.weak import WeakTensorKeyDictionary

_ACCUMULATE = "torch::autograd::AccumulateGrad"
_LAST = 2**64 - 1  # AccumulateGrad's sequence number: it runs as soon as it can

_ORDER = itertools.count()
_TASKS = itertools.count()


@dataclass
class RunningNode:
    """The node that runs now: what the recorder of op calls asks for. `task` is its backward pass, else -1."""

    name: str = ""
    sequence: int = -1
    task: int = -1

    def current_pass(self) -> int:
        """Return the number of the running backward pass, or -1: a checkpoint is computed again once in each."""
        return self.task

    def identity(self) -> tuple[str, int] | None:
        """Return (name, sequence number) of the running node, -1 for AccumulateGrad, or None."""
        return (self.name, self.sequence) if self.name else None


@dataclass
class _Pass:
    """One backward pass: gradients waiting for each node, and how many more must come before it runs.

    `nodes` keeps Python's handles of the nodes alive: they are the nodes' identity here. `needed` are the nodes on a way to
    a wanted input, None where all run; `captured` holds the gradients of wanted edges. `shares` counts the holders of a
    gradient: one that others hold too must not become a leaf's `.grad`.
    """

    running: RunningNode
    create_graph: bool
    nodes: list[Any]
    needed: set[Any] | None
    accumulate: bool
    waiting: dict[Any, int] = field(default_factory=dict)
    buffers: dict[Any, list[torch.Tensor | None]] = field(default_factory=dict)
    ready: list[tuple[int, int, Any]] = field(default_factory=list)
    shares: Any = field(default_factory=WeakTensorKeyDictionary)
    captured: dict[tuple[Any, int], torch.Tensor | None] = field(default_factory=dict)

    def share(self, gradient: torch.Tensor | None, change: int) -> int:
        """Count one holder of a gradient more or less, and return how many there are.

        By the tensor and not by its id: another tensor may get the id of one that is gone.
        """
        if gradient is None:
            return 0
        self.shares[gradient] = self.shares.get(gradient, 0) + change
        return int(self.shares[gradient])

    def runs(self, node: Any) -> bool:  # noqa: ANN401 - a node of the graph; torch types it no closer
        """Return whether a node does work that is asked for, rather than only receive a gradient."""
        if self.needed is None or any(after in self.needed for after in _after(node)):
            return True
        return self.accumulate and not node.next_functions


def run_backward(  # noqa: PLR0913 - the engine's own arguments
    running: RunningNode,
    roots: Sequence[torch.Tensor | GradientEdge],
    gradients: Sequence[torch.Tensor | None],
    *,
    create_graph: bool,
    inputs: Sequence[torch.Tensor | GradientEdge],
    accumulate: bool,
) -> tuple[torch.Tensor | None, ...]:
    """Run the graph behind `roots`; return the gradients of `inputs`, or fill `.grad` of leaves where there are none."""
    edges = [_edge(root) for root in roots]
    wanted = [_edge(item) for item in inputs]
    nodes = _reachable([node for node, _ in edges])
    needed = _needed(nodes, wanted)
    this = _Pass(running, create_graph, nodes, needed, accumulate)
    this.waiting = _dependencies(nodes, needed)
    this.captured = {} if accumulate else dict.fromkeys(wanted)
    for gradient in gradients:
        this.share(gradient, 1)
    outer = running.name, running.sequence, running.task
    running.task = next(_TASKS)
    try:
        with torch.set_grad_enabled(create_graph):
            for (node, index), gradient in zip(edges, gradients, strict=True):
                _deliver(this, node, index, _fitted(gradient, (node, index)))
            for node in dict.fromkeys(node for node, _ in edges):
                if not this.waiting.get(node):
                    _push(this, node)
            _drain(this)
    finally:
        running.name, running.sequence, running.task = outer
    return tuple(this.captured.get(edge) for edge in wanted)


def _drain(this: _Pass) -> None:
    while this.ready:
        _, _, node = heapq.heappop(this.ready)
        gradients = this.buffers.pop(node, [])
        for index, gradient in enumerate(gradients):
            if (node, index) in this.captured:
                this.captured[node, index] = gradient
        if this.runs(node):
            _run(this, node, gradients)


def _run(
    this: _Pass,
    node: Any,  # noqa: ANN401 - a node of the graph; torch types it no closer
    gradients: list[torch.Tensor | None],
) -> None:
    """Run one node and hand its results on."""
    sequence = int(node._sequence_nr())  # noqa: SLF001 - as inductor.running_autograd_node
    this.running.name = node.name()
    this.running.sequence = -1 if sequence == _LAST else sequence
    if node.name() == _ACCUMULATE:
        _accumulate(this, node.variable, gradients[0] if gradients else None)
        return
    with _traced_as(node, sequence):
        results = node.apply(*gradients) if hasattr(node, "apply") else node(*gradients)
        results = results if isinstance(results, (tuple, list)) else (results,)
        # The engine reduces a gradient to its tensor's shape before it leaves the node: the sum is the node's.
        results = [
            _fitted(result, edge)
            for edge, result in zip(node.next_functions, results, strict=False)
        ]
    for gradient in gradients:
        this.share(gradient, -1)
    for (after, index), result in zip(node.next_functions, results, strict=False):
        if after is None or (this.needed is not None and after not in this.needed):
            continue
        _deliver(this, after, index, result)
        this.waiting[after] -= 1
        if not this.waiting[after]:
            _push(this, after)


def _deliver(
    this: _Pass,
    node: Any,  # noqa: ANN401 - as above
    index: int,
    gradient: torch.Tensor | None,
) -> None:
    """Add a gradient to those that wait for a node."""
    buffer = this.buffers.setdefault(node, [None] * len(_metadata(node)))
    if gradient is None:
        return
    held = buffer[index]
    this.share(held, -1)
    buffer[index] = gradient if held is None else held + gradient
    this.share(buffer[index], 1)


def _metadata(node: Any) -> Sequence[Any]:  # noqa: ANN401 - as above
    """Return what the engine checks a node's gradients against."""
    return node._input_metadata  # type: ignore[no-any-return] # noqa: SLF001 - the engine's own


def _fitted(gradient: torch.Tensor | None, edge: tuple[Any, int]) -> torch.Tensor | None:
    """Return the gradient in the shape and dtype of the tensor behind an edge."""
    node, index = edge
    if gradient is None or node is None:
        return gradient
    metadata = _metadata(node)[index]
    shape = tuple(metadata.shape)
    if tuple(gradient.shape) != shape:
        gradient = _summed_to(gradient, shape)
    if gradient.dtype != metadata.dtype:
        gradient = gradient.to(metadata.dtype)
    return gradient


def _summed_to(gradient: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    leading = gradient.dim() - len(shape)
    dims = list(range(leading))
    dims += [
        axis
        for axis in range(leading, gradient.dim())
        if shape[axis - leading] == 1 and gradient.shape[axis] != 1
    ]
    if dims:
        gradient = gradient.sum(dims, keepdim=True)
    return gradient.view(shape) if leading else gradient


def _accumulate(this: _Pass, variable: torch.Tensor, gradient: torch.Tensor | None) -> None:
    """Hand a gradient to its leaf: taken as it is, copied into the leaf's layout, or added to what is there."""
    if gradient is None:
        return
    shared = this.share(gradient, -1) > 0
    if variable.grad is not None:
        if this.create_graph:
            variable.grad = variable.grad + gradient
        else:
            variable.grad += gradient
    elif gradient.stride() == variable.stride() and not shared:
        variable.grad = gradient if this.create_graph else gradient.detach()
    else:
        copied = torch.empty_strided(
            variable.shape, variable.stride(), dtype=gradient.dtype, device=gradient.device
        )
        variable.grad = copied.copy_(gradient)


# ---------------------------------------------------------------- the graph


def _edge(item: torch.Tensor | GradientEdge) -> tuple[Any, int]:
    edge = item if isinstance(item, GradientEdge) else get_gradient_edge(item)
    return edge.node, edge.output_nr


def _after(node: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    return (after for after, _ in node.next_functions if after is not None)


def _reachable(roots: Iterable[Any]) -> list[Any]:
    """Return all nodes behind the roots, each after one that leads to it."""
    found: dict[Any, None] = {}
    pending = list(roots)
    while pending:
        node = pending.pop()
        if node not in found:
            found[node] = None
            pending.extend(_after(node))
    return list(found)


def _needed(nodes: Sequence[Any], wanted: Sequence[tuple[Any, int]]) -> set[Any] | None:
    """Return the nodes that lie on a way to a wanted one; None where all are to run."""
    if not wanted:
        return None
    before: dict[Any, list[Any]] = defaultdict(list)
    for node in nodes:
        for after in _after(node):
            before[after].append(node)
    found: set[Any] = set()
    pending = [node for node, _ in wanted]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(before[node])
    return found


def _dependencies(nodes: Sequence[Any], needed: set[Any] | None) -> dict[Any, int]:
    """Return how many results must come to each node before it runs."""
    count: Counter[Any] = Counter()
    for node in nodes:
        if needed is None or node in needed:
            count.update(_after(node))
    return dict(count)


def _push(this: _Pass, node: Any) -> None:  # noqa: ANN401 - as above
    """Make a node ready: later forward calls run first, as in the engine."""
    sequence = int(node._sequence_nr())  # noqa: SLF001 - as above
    heapq.heappush(this.ready, (-sequence, next(_ORDER), node))


@contextlib.contextmanager
def _traced_as(node: Any, sequence: int) -> Iterator[None]:  # noqa: ANN401 - as above
    """Mark what is traced inside as the backward of a forward call, as AOTAutograd's hooks on nodes do.

    Source: setup_stacktrace_preservation_hooks, torch/_functorch/_aot_autograd/logging_utils.py.
    """
    if not traceback.has_preserved_node_meta():
        yield
        return
    stack = traceback.format_stack()
    traceback.set_stack_trace(node.metadata.get("traceback_", []))
    traceback.set_grad_fn_seq_nr(sequence)
    traceback._mark_autograd_backward()  # noqa: SLF001 - as the hooks do
    try:
        yield
    finally:
        traceback.set_stack_trace(stack)
        traceback.reset_grad_fn_seq_nr()
        traceback._reset_autograd_backward()  # noqa: SLF001 - as the hooks do
