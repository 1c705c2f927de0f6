"""The records of one compilation in their order. In: graphs, generated code, mappings. Out: a Frame with its lowerings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from compdiff.model import Graph

_AOT_ID = re.compile(r"# AOT ID: \['(?P<number>\d{1,9})_(?P<direction>\w+)'\]")
_DIRECTIONS = frozenset({"forward", "backward", "inference"})


@dataclass
class Lowered:
    """One graph on its way through Inductor; `nodes_of` maps its calls to post-grad nodes, `sources` nodes to Dynamo's."""

    before: Graph | None = None
    after: Graph | None = None
    code: str = ""
    direction: str = ""
    number: int | None = None
    nodes_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class Frame:
    """What the log holds of one compile id."""

    compile_id: str
    dynamo: Graph | None = None
    joint: Graph | None = None
    backward: Graph | None = None
    lowered: list[Lowered] = field(default_factory=list)

    def add_graph(self, graph: Graph, *, backward: bool = False) -> None:
        """Take a graph of any stage; those that Inductor worked on belong to the lowering that is under way."""
        if graph.stage == "dynamo":
            self.dynamo = graph
        elif graph.stage == "joint":
            self.joint = graph
        elif graph.stage == "partitioned":
            self.backward = graph if backward else self.backward
        elif graph.stage == "pre_post_grad":
            self._open().before = graph
        else:
            self._open().after = graph

    def add_code(self, code: str) -> None:
        """Take the generated wrapper, which ends a lowering."""
        lowered = self._open()
        lowered.code = code
        match = _AOT_ID.search(code)
        if match is not None and match["direction"] in _DIRECTIONS:
            lowered.direction, lowered.number = match["direction"], int(match["number"])
        else:
            trained = self.backward is not None
            lowered.direction = (
                ("backward" if len(self.lowered) > 1 else "forward") if trained else "inference"
            )

    def add_mappings(self, mappings: Mapping[str, object]) -> None:
        """Take the node mappings, which follow the code of the lowering that they speak of."""
        if not self.lowered:
            return
        lowered = self.lowered[-1]
        lowered.nodes_of |= _listed(mappings.get("cppCodeToPost"))
        lowered.sources |= _listed(mappings.get("postToPre"))

    def _open(self) -> Lowered:
        if not self.lowered or self.lowered[-1].code:
            self.lowered.append(Lowered())
        return self.lowered[-1]


def _listed(mapping: object) -> dict[str, tuple[str, ...]]:
    """Return the names of a mapping by name; anything else in it is left out."""
    if not isinstance(mapping, dict):
        return {}
    return {
        key: tuple(name for name in names if isinstance(name, str))
        for key, names in mapping.items()
        if isinstance(names, list)
    }
