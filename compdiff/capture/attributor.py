"""Runs a Dynamo graph node by node. In: the graph. Out: what it computes, while a Place says which node runs."""

from typing import Any

from torch.fx import GraphModule, Interpreter, Node

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
