"""The profiler's table. In: host events, the device time of launches. Out: calls and times by name, as torch has them.

Source of the rules: `EventList` in torch/autograd/profiler_util.py (torch 2.14).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compdiff.kineto.events import LAUNCH_CATEGORIES, Event
from compdiff.model import OpStat

_OWNERS = frozenset({"cpu_op", "user_annotation"})
# Frames have no row in the table, but what runs in one is not its caller's self time.
_FRAME = "python_function"
_COUNTED = frozenset({*_OWNERS, *LAUNCH_CATEGORIES, _FRAME})
# What torch leaves out of its table: `_filter_name`.
_LEFT_OUT = frozenset(
    {
        "[memory]",
        "[OutOfMemory]",
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
    }
)
_STEP = "ProfilerStep"


@dataclass(eq=False, slots=True)
class _Node:
    """One counted event. An event that is all that one of the same name does is part of that one: `gone`."""

    event: Event
    parent: "_Node | None"
    children: list["_Node"] = field(default_factory=list)
    device_self_ns: int = 0
    device_total_ns: int = 0
    gone: bool = False


def op_stats(events: Sequence[Event], device_ns: Mapping[int, int]) -> tuple[OpStat, ...]:
    """Return the sums over events of one name, in the order in which the names appear.

    Args:
        events: host events in start order, nested; what torch does not count is left out.
        device_ns: the time of the kernels of a launch by the identity of its event.
    """
    nodes = _tree(events)
    for event in events:
        if id(event) in device_ns:
            _launched(nodes, event, device_ns[id(event)])
    alive = _without_repeats(list(nodes.values()))
    for node in reversed(alive):
        node.device_total_ns += node.device_self_ns
        if node.parent is not None:
            node.parent.device_total_ns += node.device_total_ns
    by_name: dict[str, list[_Node]] = {}
    for node in alive:
        if node.event.category == _FRAME:
            continue
        by_name.setdefault(_name(node.event), []).append(node)
    return tuple(_stat(name, group) for name, group in by_name.items())


def self_ns(event: Event) -> int:
    """Return how long an event ran itself: without the ops, annotations, frames and launches inside it."""
    inside: list[Event] = []
    pending = list(event.children)
    while pending:
        child = pending.pop()
        if _counts(child):
            inside.append(child)
        else:
            pending.extend(child.children)
    return _without(event, inside)


def _counts(event: Event) -> bool:
    return event.category in _COUNTED and event.name not in _LEFT_OUT


def _tree(events: Sequence[Event]) -> dict[int, _Node]:
    """Return the counted events by identity, each with the next counted one around it."""
    nodes: dict[int, _Node] = {}
    around: dict[int, _Node | None] = {}  # by event, the counted one that is or is around it
    for event in events:
        parent = around.get(id(event.parent))
        if not _counts(event):
            around[id(event)] = parent
            continue
        around[id(event)] = nodes[id(event)] = node = _Node(event, parent)
        if parent is not None:
            parent.children.append(node)
    return nodes


def _launched(nodes: Mapping[int, _Node], launch: Event, device_ns: int) -> None:
    """Give the time of a launch's kernels to the op or annotation that launched them."""
    for outer in launch.ancestors():
        node = nodes.get(id(outer))
        if node is not None and outer.category in _OWNERS:
            node.device_self_ns += device_ns
            return


def _without_repeats(nodes: Sequence[_Node]) -> list[_Node]:
    """Return the nodes without those that are the only child of one of their own name: torch counts the two as one call."""
    for node in nodes:
        parent = node.parent
        if parent is None or len(parent.children) != 1 or _name(parent.event) != _name(node.event):
            continue
        node.gone = True
        parent.device_self_ns += node.device_self_ns
        parent.children = node.children
        for child in node.children:
            child.parent = parent
    return [node for node in nodes if not node.gone]


def _name(event: Event) -> str:
    return f"{_STEP}*" if event.name.startswith(f"{_STEP}#") else event.name


def _stat(name: str, nodes: Sequence[_Node]) -> OpStat:
    host_self = host_total = device_self = device_total = 0
    for node in nodes:
        host_self += _without(node.event, [child.event for child in node.children])
        host_total += node.event.duration_ns
        device_self += node.device_self_ns
        device_total += node.device_total_ns
    return OpStat(
        name=name,
        calls=len(nodes),
        host_self_ns=host_self,
        host_total_ns=host_total,
        device_self_ns=device_self,
        device_total_ns=device_total,
    )


def _without(event: Event, inside: Sequence[Event]) -> int:
    """Return an event's time without that of events inside it, which may end a little later than it does."""
    left, end = event.duration_ns, event.end_ns
    for child in inside:
        start = child.start_ns
        taken = min(start + child.duration_ns, end) - start
        if taken > 0:
            left -= taken
    return max(0, left)
