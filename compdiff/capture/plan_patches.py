"""Makes torch and Inductor believe in a GPU that is not there. In: a Target. Out: a context in which cases can be planned.

Each patch is one context manager that puts back what it found: `plan_device` answers for the device, `plan_compiler` for
what Inductor does on it, `plan_case` for what the case does. Nothing is patched by importing any of them.
"""

import contextlib
from collections.abc import Iterator

from compdiff.capture import plan_case, plan_compiler, plan_device
from compdiff.capture.plan_device import FakeTensorMode
from compdiff.capture.plan_log import PlanLog
from compdiff.model import Target


@contextlib.contextmanager
def pretended(target: Target, fake: FakeTensorMode, log: PlanLog) -> Iterator[None]:
    """Answer all that torch asks of a device while a case is planned; everything is put back at the end."""
    with contextlib.ExitStack() as stack:
        for patch in (
            plan_device.torch_cuda(target),
            plan_device.device_interface(target),
            plan_device.device_workers(target),
            plan_device.device_rates(target),
            plan_device.triton_driver(target),
            plan_compiler.inductor_settings(),
            plan_compiler.kernels_not_launched(log),
            plan_compiler.memory(fake),
            plan_compiler.graph_calls(log),
            plan_compiler.constant_folding(),
            plan_compiler.padding_decision(log),
            plan_compiler.template_choice(log),
            plan_case.attention(target, log),
            plan_case.values(fake, log),
            plan_case.module_moves(),
            plan_case.recurrent_weights(),
            plan_compiler.cuda_graphs(log),
            plan_case.backward(),
        ):
            stack.enter_context(patch)
        yield
