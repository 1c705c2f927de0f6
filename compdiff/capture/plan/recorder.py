"""Op calls with what they cost. In: a step that runs on fake tensors. Out: op calls, FLOPs of each, the graph call it is in.

FLOPs are those of torch.utils.flop_counter's formulas; an op without a formula counts none (pointwise ops and reductions).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch.utils.flop_counter import flop_registry

from compdiff.capture.dispatch import OpRecorder, Recording, with_forward_sources
from compdiff.capture.plan.log import GraphCall, PlanLog
from compdiff.capture.recorder import Place


@dataclass
class PlannedCalls:
    """What one pass saw: for each op call its FLOPs and the call of a compiled graph that made it, if one did."""

    recording: Recording = field(default_factory=Recording)
    flops: list[int] = field(default_factory=list)
    graph_calls: list[GraphCall | None] = field(default_factory=list)
    output_values: tuple[int, ...] = ()


class PlanRecorder(OpRecorder):  # type: ignore[no-untyped-call]
    """Records each dispatcher call with its FLOPs."""

    def __init__(self, place: Place, log: PlanLog) -> None:
        super().__init__(place, sources=True)
        self.planned = PlannedCalls(self.recording)
        self._log = log

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - an OpOverload; torch types it no closer
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Run the call and note it; the signature is torch's."""
        result = super().__torch_dispatch__(func, types, args, kwargs)
        calls = self.recording.op_calls
        if len(calls) > len(self.planned.flops):
            self.planned.flops.append(flops_of(func, args, kwargs or {}, result))
            self.planned.graph_calls.append(self._log.current)
            self._log.ops_recorded = len(calls)
        return result


def flops_of(
    func: Any,  # noqa: ANN401 - as above
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    result: object,
) -> int:
    """Return the FLOPs of a call by torch's formula for its op, 0 for an op without one."""
    # A higher-order op (`associative_scan`) has no overloads: its formula, if any, is its own.
    formula = flop_registry.get(getattr(func, "overloadpacket", func))
    return 0 if formula is None else int(formula(*args, **kwargs, out_val=result))


def record(step: Callable[[], object], place: Place, log: PlanLog) -> PlannedCalls:
    """Run `step` once on fake tensors and return what was called; the log's launches are those of this step."""
    log.forget_calls()
    recorder = PlanRecorder(place, log)
    with recorder:
        outputs = step()
    planned = recorder.planned
    planned.recording.op_calls = with_forward_sources(planned.recording.op_calls)
    planned.output_values = recorder.values_of(outputs)
    return planned
