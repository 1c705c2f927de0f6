"""What a plan sees while it runs on fake tensors. In: calls of stand-ins. Out: graph calls, kernel launches, decisions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from compdiff.capture.plan.traffic import Traffic
from compdiff.model import CaptureWarning

_SIGNATURE = re.compile(r"^def triton_\w*\((?P<parameters>[^)]*)\)", re.MULTILINE)
_CPP_NAME = re.compile(r'"(?:graph_\d+_)?(?P<name>cpp_\w+)", nullptr\)')
_WRITTEN = ("out_ptr", "in_out_ptr")


@dataclass
class KernelLaunch:
    """One call of a generated kernel. `ops_before` is how many op calls had been recorded when it came.

    `kind` is `triton`, or `cpp` for what runs on the host; `written_bytes` is the size of the tensors that a Triton kernel
    writes into, by the names of its parameters, `given_bytes` that of all its tensors.
    """

    kind: str
    name: str
    source: str
    run: "GraphCall | None"
    written_bytes: int
    ops_before: int
    given_bytes: int = 0


@dataclass
class GraphCall:
    """One call of a compiled graph; `lowering` counts the graphs that code was made for, `serial` the calls."""

    lowering: int
    serial: int


class ValueReadError(BaseException):
    """The case reads a value from the device while it is made; no `except Exception` of the case may take it."""


@dataclass
class PlanLog:
    """Collects what the stand-ins see.

    `loading` is set while the case is made, when no value may be assumed; `ops_recorded` is kept by the recorder of op
    calls; `modules` counts the graphs that Inductor began to write code for.
    """

    calls: list[GraphCall] = field(default_factory=list)
    open_calls: list[GraphCall] = field(default_factory=list)
    launches: list[KernelLaunch] = field(default_factory=list)
    kernel_bytes: dict[tuple[int, str], Traffic] = field(default_factory=dict)
    notes: dict[str, CaptureWarning] = field(default_factory=dict)
    loading: bool = False
    assumed_values: int = 0
    modules: int = 0
    ops_recorded: int = 0

    @property
    def current(self) -> GraphCall | None:
        """The compiled graph that runs now, or None."""
        return self.open_calls[-1] if self.open_calls else None

    def begin(self, lowering: int) -> None:
        """Note that a compiled graph starts to run."""
        call = GraphCall(lowering, len(self.calls))
        self.calls.append(call)
        self.open_calls.append(call)

    def end(self) -> None:
        """Note that the compiled graph that runs has ended."""
        self.open_calls.pop()

    def forget_calls(self) -> None:
        """Drop the calls and launches seen so far; decisions stay."""
        self.calls.clear()
        self.launches.clear()
        self.ops_recorded = 0

    def note(self, identity: str, text: str) -> None:
        """Keep a warning for the run; the same text is kept once."""
        self.notes.setdefault(text, CaptureWarning(id=identity, text=text))


class TritonKernel:
    """Stands for a compiled kernel in a generated wrapper: it notes its calls and launches nothing."""

    def __init__(self, name: str, source: str, log: PlanLog) -> None:
        self.name = name
        self.source = source
        self._log = log

    def run(self, *args: object, **_: object) -> None:
        """Note one launch."""
        log = self._log
        log.launches.append(
            KernelLaunch(
                kind="triton",
                name=self.name,
                source=self.source,
                run=log.current,
                written_bytes=_written_bytes(parameter_names(self.source), args),
                ops_before=log.ops_recorded,
                given_bytes=sum(_bytes(it) for it in args if isinstance(it, torch.Tensor)),
            )
        )


class CppKernel:
    """Stands for a C++ function of a generated wrapper, which computes on the host: fake tensors have no memory for it."""

    def __init__(self, source: str, log: PlanLog) -> None:
        found = _CPP_NAME.search(source)
        self.name = found["name"] if found else "cpp_fused"
        self.source = source
        self._log = log

    def __call__(self, *_: object) -> None:
        """Note one call."""
        log = self._log
        log.launches.append(
            KernelLaunch("cpp", self.name, self.source, log.current, 0, log.ops_recorded)
        )


def parameter_names(source: str) -> tuple[str, ...]:
    """Return the names of a generated kernel's parameters, in order."""
    found = _SIGNATURE.search(source)
    if found is None:
        return ()
    return tuple(
        part.partition(":")[0].strip() for part in found["parameters"].split(",") if part.strip()
    )


def _written_bytes(names: Sequence[str], args: Sequence[object]) -> int:
    """Return the bytes of the tensors that the kernel writes. Source: names in torch/_inductor/codegen/common.py."""
    return sum(
        _bytes(argument)
        for name, argument in zip(names, args, strict=False)
        if isinstance(argument, torch.Tensor) and name.startswith(_WRITTEN)
    )


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
