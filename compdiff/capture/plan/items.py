"""Turns what a plan saw into a Capture's items. In: planned calls, launches, graphs. Out: op calls, kernels, estimates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from compdiff.capture.plan.costs import bytes_read, bytes_written, rate_of, tensor_bytes
from compdiff.capture.plan.log import GraphCall, KernelLaunch
from compdiff.capture.plan.models import Part, model_of
from compdiff.capture.plan.recorder import PlannedCalls
from compdiff.capture.plan.templates import TEMPLATE_PREFIX, template_work
from compdiff.capture.plan.traffic import Traffic
from compdiff.compile_log import same_op
from compdiff.estimate import roofline
from compdiff.model import (
    CompiledGraph,
    Estimate,
    Kernel,
    OpCall,
    Resources,
    Target,
    TensorMeta,
    WrapperCall,
)


@dataclass
class Items:
    """The items of one side, in the order in which they would run."""

    op_calls: list[OpCall] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    order: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Compiled:
    """What the compiler made: graphs in the order of their code, bytes of kernels by graph and name, resources by name."""

    graphs: Mapping[int, CompiledGraph] = field(default_factory=dict)
    kernel_bytes: Mapping[tuple[int, str], Traffic] = field(default_factory=dict)
    resources: Mapping[str, Resources] = field(default_factory=dict)


def make_items(
    planned: PlannedCalls, launches: Sequence[KernelLaunch], compiled: Compiled, target: Target
) -> Items:
    """Return op calls with their modelled kernels, and the launches of generated kernels between them."""
    maker = _Maker(compiled, target)
    waiting = list(launches)
    for index, call in enumerate(planned.recording.op_calls):
        while waiting and waiting[0].ops_before <= index:
            maker.add_launch(waiting.pop(0))
        maker.add_op(call, planned.flops[index], planned.graph_calls[index])
    for launch in waiting:
        maker.add_launch(launch)
    return maker.items


class _Maker:
    """Adds items one after another, and gives each the wrapper call that it is."""

    def __init__(self, compiled: Compiled, target: Target) -> None:
        self.items = Items()
        self._compiled = compiled
        self._target = target
        self._seen: dict[int, set[int]] = {}

    def add_op(self, call: OpCall, flops: int, made_by: GraphCall | None) -> None:
        """Add an op call and the kernels that the table of models says it launches."""
        graph = self._graph(made_by)
        index = None
        if made_by is not None and graph is not None:
            index = self._take(made_by, graph, lambda one: same_op(one, call.name))
        placed = msgspec.structs.replace(
            call, graph=None if graph is None else graph.id, call=index
        )
        self.items.op_calls.append(placed)
        self.items.order.append(f"o{placed.id}")
        row = model_of(placed)
        for part in row.parts:
            estimate = self._estimate(placed, part, flops)
            self._add_kernel(
                Kernel(
                    id=len(self.items.kernels),
                    name=_modelled_name(placed, part),
                    kind=part.kind,
                    op_call=placed.id,
                    graph=placed.graph,
                    modelled=row.name,
                    estimate=estimate,
                )
            )

    def add_launch(self, launch: KernelLaunch) -> None:
        """Add the launch of a generated kernel."""
        graph = self._graph(launch.run)
        index = None
        if launch.run is not None and graph is not None:
            index = self._take(launch.run, graph, lambda one: _names(one, launch.name))
        resources = self._compiled.resources.get(launch.name)
        self._add_kernel(
            Kernel(
                id=len(self.items.kernels),
                name=launch.name,
                kind=launch.kind,
                graph=None if graph is None else graph.id,
                call=index,
                registers=resources.registers if resources else None,
                shared_bytes=resources.shared_bytes if resources else None,
                block=(resources.warps * self._target.warp_size, 1, 1) if resources else (),
                estimate=self._generated_estimate(launch, graph, index)
                if launch.kind == "triton"
                else None,
                resources=resources,
            )
        )

    def _add_kernel(self, kernel: Kernel) -> None:
        self.items.kernels.append(kernel)
        self.items.order.append(f"k{kernel.id}")

    def _graph(self, made_by: GraphCall | None) -> CompiledGraph | None:
        return None if made_by is None else self._compiled.graphs.get(made_by.lowering)

    def _take(
        self, made_by: GraphCall, graph: CompiledGraph, fits: Callable[[WrapperCall], bool]
    ) -> int | None:
        """Return the first wrapper call of this graph call that fits and was not taken before."""
        seen = self._seen.setdefault(made_by.serial, set())
        for one in graph.calls:
            if one.index not in seen and fits(one):
                seen.add(one.index)
                return one.index
        return None

    def _estimate(self, call: OpCall, part: Part, flops: int) -> Estimate:
        written = bytes_written(call)
        reads = {
            "all": bytes_read(call),
            "into": bytes_read(call) - _bias_bytes(call) + written,
            "copy": written,
            "fill": 0,
        }
        works = part.moves in {"all", "into"}
        return roofline(
            flops=flops if works else 0,
            bytes_read=max(reads[part.moves], 0),
            bytes_written=written,
            rate=rate_of(call),
            target=self._target,
        )

    def _generated_estimate(
        self, launch: KernelLaunch, graph: CompiledGraph | None, index: int | None
    ) -> Estimate:
        lowering = launch.run.lowering if launch.run is not None else -1
        moved = self._compiled.kernel_bytes.get((lowering, launch.name))
        moved = moved or Traffic(launch.given_bytes)
        written = min(moved.read, launch.written_bytes) if moved.written is None else moved.written
        flops, rate = 0, "float32"
        if launch.name.startswith(TEMPLATE_PREFIX) and graph is not None and index is not None:
            flops, rate = template_work(graph, graph.calls[index].nodes)
        return roofline(
            flops=flops,
            bytes_read=moved.read if moved.written is not None else moved.read - written,
            bytes_written=written,
            rate=rate,
            target=self._target,
        )


def _modelled_name(call: OpCall, part: Part) -> str:
    label = part.label if part.label != "kernel" else "one kernel"
    return f"{call.name} ({label})" if part.kind != "memcpy" else part.label


def _names(call: WrapperCall, kernel: str) -> bool:
    """Return whether a wrapper call calls a kernel: one that the case wrote itself is called by its name and a number."""
    name, _, number = call.name.rpartition("_")
    return call.name == kernel or (name == kernel and number.isdecimal())


def _bias_bytes(call: OpCall) -> int:
    first: TensorMeta | None = call.inputs[0] if call.inputs else None
    return tensor_bytes(first) if first is not None else 0
