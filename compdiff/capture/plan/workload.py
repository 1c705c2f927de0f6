"""Loads a case onto fake tensors. In: a Request. Out: a Workload whose tensors have no memory and say they are on the GPU.

A case whose constructor reads values (`.item()`) is loaded once more with real values on the CPU, and then made fake.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from compdiff.capture.plan.device import FakeTensorMode
from compdiff.capture.plan.log import PlanLog, ValueReadError
from compdiff.capture.workload import Workload, load
from compdiff.model import Request

_CPU = torch.device("cpu")


def load_planned(request: Request, fake: FakeTensorMode, log: PlanLog) -> Workload:
    """Return the case as something to call, all its tensors fake and on the device; call it while pretending.

    Raises:
        CaseError: the file is not a case.
    """
    log.loading = True
    try:
        with fake:
            return load(request.spec, "cuda", request.dtype, request.seed)
    except ValueReadError:
        log.notes.clear()
    finally:
        log.loading = False
    with _OnCpu():
        real = load(request.spec, "cuda", request.dtype, request.seed)
    return _faked(real, fake)


class _OnCpu(TorchFunctionMode):
    """Makes on the CPU what the case asks for on the device."""

    def __torch_function__(
        self,
        func: Any,  # noqa: ANN401 - torch's own signature
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Run a call with each device that is not the CPU put in its place."""
        del types
        args, kwargs = tree_map(_on_cpu, (args, dict(kwargs or {})))
        return func(*args, **kwargs)


def _on_cpu(value: object) -> object:
    if isinstance(value, torch.device):
        return _CPU
    if isinstance(value, str) and value.partition(":")[0] == "cuda":
        return "cpu"
    return value


def _faked(workload: Workload, fake: FakeTensorMode) -> Workload:
    """Return the workload with modules moved onto fake tensors in place, and the same of all inputs."""

    def moved(value: object) -> object:
        if not isinstance(value, torch.Tensor):
            return value
        made: torch.Tensor = fake.from_tensor(value.detach())
        with fake:
            made = made.to("cuda")
        return made.requires_grad_(value.requires_grad)

    modules: Any = workload.modules
    for module in modules:
        module._apply(moved)  # noqa: SLF001 - the method behind `to`
    args, kwargs = tree_map(moved, (workload.args, workload.kwargs))
    leaves = tuple(tree_map(moved, list(workload.leaves)))
    return replace(workload, args=args, kwargs=kwargs, leaves=leaves)
