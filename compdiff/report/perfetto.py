"""What a browser makes a Chrome trace of. In: Lookup, the lanes of both sides. Out: compact JSON, safe inside HTML.

`names` and `shades` are tables. Each event is six integers in its lane's `rows`: its name, its start after that of the event
before (ns), its duration (ns), its id, its shade, and the launch it is or was made by, counted from 1 (0 for none).
templates/report.js reads this.
"""

import json
from collections.abc import Iterator, Mapping

from compdiff.align.items import item_id
from compdiff.lanes.lanes import Lane, SideLanes
from compdiff.model import Capture, Kernel, Launch, OpCall, Side
from compdiff.report.lookup import Lookup
from compdiff.report.shades import LAUNCH, SHADES, shade_of

_SHADE_NUMBERS = {kind: number for number, kind in enumerate(SHADES)}
_PREFIXES: dict[Side, tuple[str, str]] = {"left": ("e", "ek"), "right": ("c", "k")}


def trace_data(lookup: Lookup, sides: Mapping[Side, SideLanes]) -> str:
    """Return the events of both sides as JSON without `<`, `>` and `&`."""
    names: dict[str, int] = {}
    captures: dict[Side, Capture] = {"left": lookup.run.left, "right": lookup.run.right}
    made = [
        {
            "label": captures[side].label,
            "lanes": [_lane(lookup, side, lane, names) for lane in lanes.lanes],
        }
        for side, lanes in sides.items()
    ]
    document = {
        "title": f"compdiff: {lookup.run.case.name}",
        "shades": list(SHADES),
        "names": list(names),
        "sides": made,
    }
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _lane(lookup: Lookup, side: Side, lane: Lane, names: dict[str, int]) -> dict[str, object]:
    first = lane.spans[0].item
    return {
        "name": lane.name,
        "prefix": "" if isinstance(first, Launch) else _PREFIXES[side][isinstance(first, Kernel)],
        "rows": list(_rows(lookup, side, lane, names)),
    }


def _rows(lookup: Lookup, side: Side, lane: Lane, names: dict[str, int]) -> Iterator[int]:
    before = 0
    for span in lane.spans:
        yield names.setdefault(span.item.name, len(names))
        yield span.start_ns - before
        yield span.duration_ns
        yield span.item.id
        yield _SHADE_NUMBERS[_shade(lookup, side, span.item)]
        yield _launch(span.item) + 1
        before = span.start_ns


def _shade(lookup: Lookup, side: Side, item: OpCall | Launch | Kernel) -> str:
    if isinstance(item, Launch):
        return LAUNCH
    return shade_of(lookup, item_id(item, side))


def _launch(item: OpCall | Launch | Kernel) -> int:
    if isinstance(item, Launch):
        return item.id
    return item.launch if isinstance(item, Kernel) and item.launch is not None else -1
