"""Runs a Dynamo graph node by node. In: the graph. Out: what it computes, while a Place says which node runs."""

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils._pytree import tree_leaves

from compdiff.capture.recorder import Place


class Attributor(Interpreter):
    """Runs a Dynamo graph node by node and says which node makes the calls."""

    def __init__(self, module: GraphModule, place: Place, identity: str) -> None:
        super().__init__(module)
        self._place = place
        self._identity = identity

    def run(self, *args: object, **kwargs: Any) -> Any:  # noqa: ANN401 - torch's signature
        """Return what the graph computes."""
        before = self._place.compile_id, self._place.node
        try:
            return super().run(*args, **kwargs)
        finally:
            self._place.compile_id, self._place.node = before

    def run_node(self, n: Node) -> Any:  # noqa: ANN401 - torch's signature
        """Return what one node computes, named in the place meanwhile."""
        self._place.compile_id, self._place.node = self._identity, n.name
        return super().run_node(n)

    def run_in_place_of(self, compiled: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401 - as above
        """Run the graph and return what `compiled` does: later guards ask which tensors are views, or one tensor.

        The graph's own result is returned where autograd must go back through its nodes, or where it wrote to an input,
        which must not happen twice.
        """
        before = [tensor._version for tensor in _tensors(args)]  # noqa: SLF001 - no public name
        made = self.run(*args)
        written = before != [tensor._version for tensor in _tensors(args)]  # noqa: SLF001
        if written or any(tensor.requires_grad for tensor in _tensors(made)):
            return made
        self._place.paused = True
        try:
            return compiled(*args)
        finally:
            self._place.paused = False


def _tensors(values: object) -> list[torch.Tensor]:
    """Return the tensors whose writes are counted."""
    leaves = tree_leaves(values)
    return [it for it in leaves if isinstance(it, torch.Tensor) and not it.is_inference()]
