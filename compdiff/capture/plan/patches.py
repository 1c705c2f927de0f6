"""Makes torch and Inductor believe in a GPU that is not there. In: a Target. Out: a context in which cases can be planned.

Each patch is one context manager that puts back what it found: `device` answers for the device, `compiler` for
what Inductor does on it, `case` for what the case does. Nothing is patched by importing any of them.
"""

import contextlib
from collections.abc import Iterator

from compdiff.capture.plan import case, compiler, device
from compdiff.capture.plan.device import FakeTensorMode
from compdiff.capture.plan.log import PlanLog
from compdiff.model import Target


@contextlib.contextmanager
def pretended(target: Target, fake: FakeTensorMode, log: PlanLog) -> Iterator[None]:
    """Answer all that torch asks of a device while a case is planned; everything is put back at the end."""
    with contextlib.ExitStack() as stack:
        for patch in (
            device.torch_cuda(target),
            device.device_interface(target),
            device.device_workers(target),
            device.device_rates(target),
            device.triton_driver(target),
            compiler.inductor_settings(),
            compiler.kernels_not_launched(log),
            compiler.memory(fake),
            compiler.graph_calls(log),
            compiler.constant_folding(),
            compiler.traced_constants(),
            compiler.padding_decision(log),
            compiler.template_choice(log),
            case.attention(target, log),
            case.values(fake, log),
            case.module_moves(),
            case.copies(),
            case.kernels_for_shapes(),
            case.recurrent_weights(),
            compiler.cuda_graphs(log),
            case.backward(),
        ):
            stack.enter_context(patch)
        yield
