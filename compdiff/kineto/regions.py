"""Which compiled graph ran when. In: host events of a trace, nested. Out: the events in which one graph runs.

Source: torch/_dynamo/eval_frame.py, torch/_functorch/_aot_autograd/runtime_wrappers.py, torch/_inductor/output_code.py
(torch 2.14), whose names stand in traces.
"""

from collections.abc import Callable, Iterator, Sequence

from compdiff.kineto.events import Event

REGION = "Torch-Compiled Region"
BACKWARD = "CompiledFunctionBackward"
_FORWARD = "CompiledFunction"
_GRAPH_CALL = "## Call CompiledFxGraph"


def is_graph_call(event: Event) -> bool:
    """Return whether an event is marked as the call of one compiled graph."""
    return event.name.startswith(_GRAPH_CALL)


def region_of(event: Event) -> str:
    """Return the compile id of the compiled region that an event is or lies in, or ""."""
    names = (outer.name for outer in (event, *event.ancestors()))
    found = next((name for name in names if name.startswith(REGION)), "")
    return found.removeprefix(REGION).removeprefix(":").strip()


def graph_calls(
    host: Sequence[Event], is_call: Callable[[Event], bool] = is_graph_call
) -> Iterator[tuple[Event, str, bool]]:
    """Yield the events in which one graph runs: event, compile id ("" if unknown), whether it is the backward graph."""
    regions: dict[object, str] = {}
    for event in host:
        if event.name == _FORWARD:
            regions[event.arguments.get("Sequence number")] = region_of(event)
        if is_call(event):
            around = (event, *event.ancestors())
            outer = next((one for one in around if one.name == BACKWARD), None)
            if outer is None:
                yield event, region_of(event), False
            else:
                yield event, regions.get(outer.arguments.get("Sequence number"), ""), True
