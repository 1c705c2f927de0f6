"""The calls of a generated wrapper. In: its code, node mappings, the post-grad graph. Out: post-grad nodes of each call.

The mappings say it (`inductor_provenance_tracking_node_mappings`; keys `name`, or `name:N` since version 2.0), or the
comment over a Triton kernel does; else names and data flow tell. Source: get_kernel_metadata, torch/_inductor/utils.py
(torch 2.14).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compdiff.importers.torch_trace.data_flow import Written, does, nodes_by_data_flow
from compdiff.importers.torch_trace.frames import Lowered
from compdiff.model import GraphNode

_HANDLE = re.compile(r"^\s*# \[Provenance debug handles\] (?P<handles>\S.*)$")
_SOURCES = re.compile(
    r"^\s*# (?:Topologically Sorted |Unsorted )?Source Nodes: \[(?P<names>[^\]]*)\]"
)
_CALL = re.compile(
    r"^\s+(?:\w+ = )?(?P<name>(?:triton|cpp)_\w+|extern_kernels\.\w+|(?:torch\.ops|aten)\.[\w.]+)"
    r"(?:\.run)?(?P<arguments>\(.*)$"
)
_OUTPUT = re.compile(r"\bout=(\w+)|^\s*(\w+) = ")
_KERNEL = re.compile(r"^(?P<name>\w+) = async_compile\.")
_MAPPED = re.compile(r"^#   (?P<source>\S+) => (?P<names>.+)$")
_NODE = re.compile(r"^#   %(?P<name>\w+) .*= call_function\[")
_LONG = 10  # digits


@dataclass
class Fragment:
    """What the comment over a generated kernel says: its nodes in order, and those of each Dynamo node."""

    nodes: list[str] = field(default_factory=list)
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)


def call_nodes(
    lowered: Lowered, post_grad: Sequence[GraphNode]
) -> tuple[dict[str, tuple[str, ...]], int]:
    """Return the post-grad nodes of each call by `name:N`, in order, and for how many calls only names tell them."""
    written = _with_handles(written_calls(lowered.code), lowered.nodes_of)
    if not written:
        return dict(lowered.nodes_of), 0
    counts = Counter(call.name for call in written)
    known = fragments(lowered.code)
    by_name = {node.name: node for node in post_grad}
    found: dict[str, tuple[str, ...]] = {}
    unknown: list[Written] = []
    for call in written:
        nodes = _mapped(call, lowered, by_name, alone=counts[call.name] == 1)
        if not nodes and call.name in known:
            nodes = tuple(known[call.name].nodes)
        found[call.handle] = nodes
        if not nodes:
            unknown.append(call)
    if unknown:
        found |= nodes_by_data_flow(written, found, post_grad)
    return found, sum(bool(found[call.handle]) for call in unknown)


def _with_handles(written: Sequence[Written], mapped: Iterable[str]) -> list[Written]:
    """Return the calls with the handles of the mappings, where the code has none: those of one name in order."""
    waiting: dict[str, list[str]] = defaultdict(list)
    for handle in sorted(mapped, key=_number):
        waiting[handle.rpartition(":")[0]].append(handle)
    known = set(mapped)
    return [
        replace(call, handle=waiting[call.name].pop(0))
        if call.handle not in known and waiting.get(call.name)
        else call
        for call in written
    ]


def _number(handle: str) -> int:
    digits = handle.rpartition(":")[2]
    return int(digits) if digits.isdecimal() and len(digits) < _LONG else 0


def _mapped(
    call: Written, lowered: Lowered, post_grad: Mapping[str, GraphNode], *, alone: bool
) -> tuple[str, ...]:
    """Return the nodes that the mappings give a call; none where they give them to several calls of one name together.

    A library call computes the nodes of its op: where the mappings name its inputs' nodes too, these are left out.
    """
    nodes = lowered.nodes_of.get(call.handle, lowered.nodes_of.get(call.name, ()))
    if call.is_generated:
        return nodes
    known = [name for name in nodes if name in post_grad]
    own = [name for name in known if does(call, post_grad[name])]
    if call.handle in lowered.nodes_of or alone:
        return tuple(own) or nodes
    told = [name for name in own if set(lowered.sources.get(name, ())) & set(call.sources)]
    return tuple(told)


def written_calls(code: str) -> list[Written]:
    """Return the calls of a wrapper as they stand in its code; a call without a handle is numbered by its place."""
    found: list[Written] = []
    handles: list[str] = []
    sources: tuple[str, ...] = ()
    for line in code.split("\n"):
        handle, comment, call = _HANDLE.match(line), _SOURCES.match(line), _CALL.match(line)
        if handle is not None:
            handles = [one.strip() for one in handle["handles"].split(",")]
        elif comment is not None:
            sources = tuple(name.strip() for name in comment["names"].split(","))
        elif call is not None:
            name = call["name"].removesuffix(".run")
            own = next((one for one in handles if one.rpartition(":")[0] == name), None)
            outputs = tuple(one or other for one, other in _OUTPUT.findall(line))
            found.append(
                Written(
                    name=name,
                    handle=own or (handles[0] if handles else f"{name}:written {len(found) + 1}"),
                    sources=sources,
                    reads=tuple(re.findall(r"\b[A-Za-z_]\w*", call["arguments"])),
                    writes=outputs,
                )
            )
            handles, sources = [], ()
        elif _KERNEL.match(line):
            sources = ()
    return found


def fragments(code: str) -> dict[str, Fragment]:
    """Return what the comments over generated kernels say, by kernel."""
    found: dict[str, Fragment] = {}
    current = Fragment()
    for line in code.split("\n"):
        mapped, node, kernel = _MAPPED.match(line), _NODE.match(line), _KERNEL.match(line)
        if mapped is not None:
            names = tuple(name.strip() for name in mapped["names"].split(","))
            current.sources[mapped["source"]] = names
        elif node is not None:
            current.nodes.append(node["name"])
        elif kernel is not None:
            if not current.nodes:
                current.nodes = [name for names in current.sources.values() for name in names]
            if current.nodes:
                found[kernel["name"]] = current
            current = Fragment()
    return found
