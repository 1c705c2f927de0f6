"""Why kernels were not fused. In: torch's scheduler at work. Out: what it declined, what each kernel computes.

Private names of torch (2.13 and 2.14): WhyNoFuse, torch/_inductor/scheduler.py, which is made for each pair of nodes that
the scheduler considers and called with the reason when it declines (it logs them as `TORCH_LOGS=fusion` does); and
set_kernel_post_grad_provenance_tracing, torch/_inductor/debug.py, which is told of each kernel with what it computes.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from compdiff.capture.recorder import Recorder
from compdiff.capture.refusals import Declined

# Said of a pair that was asked for in the wrong order; the right one has its own reason.
_ASKED_BACKWARDS = "node1 must go before node2"
_TOLD = "set_kernel_post_grad_provenance_tracing"
# Those that have it by name, and its own module, which the others ask when they need it.
_TELLERS = ("codegen.cpp", "codegen.triton", "debug")


@contextlib.contextmanager
def fusion_log(recorder: Recorder) -> Iterator[None]:
    """Note why the scheduler does not fuse, and which operations each kernel computes."""

    def note(declined: Declined) -> None:
        if recorder.current is not None:
            recorder.current.declined.append(declined)

    def note_kernel(handle: str, operations: frozenset[str]) -> None:
        if recorder.current is not None:
            recorder.current.operations[handle] = operations

    with _declined_fusions(note), _kernels_told(note_kernel):
        recorder.hears_scheduler = True
        yield


@contextlib.contextmanager
def _declined_fusions(note: Callable[[Declined], None]) -> Iterator[None]:
    """Hand each pair of a producer and its consumer that the scheduler does not fuse to `note`, with its reason."""
    from torch._inductor.scheduler import WhyNoFuse

    make, say = WhyNoFuse.__init__, WhyNoFuse.__call__
    # By the id of the WhyNoFuse, which has no room for more: the newest of an id is the one alive.
    pairs: dict[int, tuple[Any, Any]] = {}

    def keep_nodes(self: Any, node1: Any, node2: Any) -> None:
        make(self, node1, node2)
        pairs[id(self)] = node1, node2

    def say_and_note(self: Any, reason: str, *args: Any) -> None:
        say(self, reason, *args)
        for first, second in (pairs[id(self)], pairs[id(self)][::-1]):
            read = {dependency.name for dependency in second.read_writes.reads}
            between = [buffer for buffer in first.get_outputs() if buffer.get_name() in read]
            if between and reason != _ASKED_BACKWARDS:
                declined = Declined(
                    first=frozenset(first.get_operation_names()),
                    second=frozenset(second.get_operation_names()),
                    tensors=_node_names(between),
                    reason=reason % args,
                )
                note(declined)

    with (
        mock.patch.object(WhyNoFuse, "__init__", keep_nodes),
        mock.patch.object(WhyNoFuse, "__call__", say_and_note),
    ):
        yield


def _node_names(buffers: Sequence[Any]) -> tuple[str, ...]:
    nodes = (buffer.node.get_origin_node() for buffer in buffers)
    return tuple(node.name for node in nodes if node is not None)


@contextlib.contextmanager
def _kernels_told(note: Callable[[str, frozenset[str]], None]) -> Iterator[None]:
    """Hand each generated kernel to `note` by its handle (`name:3`), with the operations that it computes."""
    with contextlib.ExitStack() as stack:
        for name in _TELLERS:
            module = importlib.import_module(f"torch._inductor.{name}")
            original = getattr(module, _TOLD, None)
            if original is not None:
                stack.enter_context(mock.patch.object(module, _TOLD, _noting(original, note)))
        yield


def _noting(
    original: Callable[..., int | None], note: Callable[[str, frozenset[str]], None]
) -> Callable[..., int | None]:
    def tell(schedule: Any, kernel_name: str, *args: Any, **kwargs: Any) -> int | None:
        handle = original(schedule, kernel_name, *args, **kwargs)
        if handle is not None:
            note(f"{kernel_name}:{handle}", _operations(schedule))
        return handle

    return tell


def _operations(schedule: Any) -> frozenset[str]:
    """Return the names of the operations in a kernel's schedule, or that of an extern kernel."""
    if not isinstance(schedule, (list, tuple)):
        return frozenset([schedule.get_operation_name()])
    nodes = (node for node in schedule if hasattr(node, "get_operation_names"))
    return frozenset(name for node in nodes for name in node.get_operation_names())
