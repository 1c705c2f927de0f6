"""The dispatch-mode pass. In: a step to run. Out: its op calls with tensors, data flow and source places.

The recorder sees every call below autograd and below composite ops, in the order in which they run, on the thread of
the caller and on autograd's. It never supplies times.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from compdiff.capture import inductor
from compdiff.capture.arguments import argument_text
from compdiff.capture.recorder import Place
from compdiff.model import OpCall, SourceLocation, TensorMeta
from compdiff.source import user_location

# What computes nothing: questions about a tensor, and the profiler's own marks, which optimizers set around a step.
IGNORED_OPS = frozenset(
    {
        "prim::device",
        "prim::layout",
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
    }
)


@dataclass
class Recording:
    """What one pass saw: op calls in order, and for each the (compile id, node) that made it."""

    op_calls: list[OpCall] = field(default_factory=list)
    places: list[tuple[str | None, str | None]] = field(default_factory=list)


class TensorIds:
    """Numbers tensor contents and storages in order of appearance, without keeping their memory alive."""

    def __init__(self) -> None:
        self._storages: dict[int, tuple[int, StorageWeakRef]] = {}
        self._versions: dict[int, int] = {}
        self._values: dict[tuple[object, ...], int] = {}

    def meta(self, tensor: torch.Tensor) -> TensorMeta:
        """Return shape, stride, dtype, device and the two numbers of `tensor` now."""
        storage = self._storage(tensor)
        strided = tensor.layout == torch.strided
        stride = tuple(_as_int(size) for size in tensor.stride()) if strided else ()
        shape = tuple(_as_int(size) for size in tensor.shape)
        offset = tensor.storage_offset() if strided else 0
        key = (storage, self._versions.get(storage, 0), offset, shape, stride, tensor.dtype)
        return TensorMeta(
            shape=shape,
            stride=stride,
            dtype=str(tensor.dtype).removeprefix("torch."),
            device=str(tensor.device),
            value=self._values.setdefault(key, len(self._values)),
            storage=storage,
        )

    def written(self, tensor: torch.Tensor) -> None:
        """Note that the contents of `tensor`'s storage change, so that they get a new number."""
        storage = self._storage(tensor)
        self._versions[storage] = self._versions.get(storage, 0) + 1

    def _storage(self, tensor: torch.Tensor) -> int:
        if tensor.layout != torch.strided:
            return -1 - id(tensor)
        # The weak reference keeps the address from being reused while its memory may be freed.
        reference = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]
        known = self._storages.get(reference.cdata)
        if known is None:
            known = self._storages[reference.cdata] = (len(self._storages), reference)
        return known[0]


class OpRecorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records each dispatcher call under it; with `sources` it also walks the Python stack for the user's line."""

    # A higher-order op (`associative_scan`, `cond`) is one call; what its body does is not seen.
    supports_higher_order_operators = True

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Return True, so that compiled code runs as compiled under this mode (torch >= 2.11)."""
        return True

    def __init__(self, place: Place, *, sources: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recording = Recording()
        self.ids = TensorIds()
        self._place = place
        self._sources = sources
        self._last_sequence = inductor.next_sequence_number() - 1

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - an OpOverload; torch types it no closer
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Run the call and note it; the signature is torch's."""
        kwargs = kwargs or {}
        schema = getattr(func, "_schema", None)  # a higher-order op has none
        name = schema.name if schema else f"higher_order::{func.name()}"
        if name in IGNORED_OPS or self._place.paused:
            return func(*args, **kwargs)
        inputs = tuple(
            self.ids.meta(leaf) for leaf in tree_leaves((args, kwargs)) if _is_tensor(leaf)
        )
        node, sequence = self._autograd()
        result = func(*args, **kwargs)
        mutates = bool(schema and schema.is_mutable)
        if mutates:
            self._note_writes(func, args, kwargs)
        self.recording.places.append((self._place.compile_id, self._place.node))
        self.recording.op_calls.append(
            OpCall(
                id=len(self.recording.op_calls),
                name=name,
                overload=func._overloadname if schema else "",  # noqa: SLF001 - the op's own name
                inputs=inputs,
                outputs=tuple(
                    self.ids.meta(leaf) for leaf in tree_leaves(result) if _is_tensor(leaf)
                ),
                arguments=argument_text(args, kwargs),
                source=self._source(),
                phase="backward" if node else "forward",
                autograd_node=node,
                sequence=sequence,
                mutates=mutates,
            )
        )
        return result

    def values_of(self, outputs: object) -> tuple[int, ...]:
        """Return the numbers of the tensors in `outputs`, to be read before they can change."""
        return tuple(self.ids.meta(leaf).value for leaf in tree_leaves(outputs) if _is_tensor(leaf))

    def _autograd(self) -> tuple[str, int]:
        """Return (autograd function running now, its number), or ("", number of the one just created, else -1)."""
        running = inductor.running_autograd_node()
        if running is not None:
            return running
        newest = inductor.next_sequence_number() - 1
        created = newest > self._last_sequence
        self._last_sequence = newest
        return "", newest if created else -1

    def _note_writes(
        self,
        func: Any,  # noqa: ANN401 - as above
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> None:
        for index, argument in enumerate(func._schema.arguments):  # noqa: SLF001
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            value = args[index] if index < len(args) else kwargs.get(argument.name)
            for leaf in tree_leaves(value):
                if _is_tensor(leaf):
                    self.ids.written(leaf)

    def _source(self) -> SourceLocation | None:
        return user_location(inductor.calling_frame()) if self._sources else None


def record(
    step: Callable[[], object], place: Place, *, sources: bool
) -> tuple[Recording, tuple[int, ...]]:
    """Run `step` once under a recorder; return what it saw and the value numbers of the step's outputs."""
    recorder = OpRecorder(place, sources=sources)
    with recorder:
        outputs = step()
    calls = recorder.recording.op_calls
    recorder.recording.op_calls = with_forward_sources(calls)
    return recorder.recording, recorder.values_of(outputs)


def with_forward_sources(calls: list[OpCall]) -> list[OpCall]:
    """Return the calls with each backward call given the source place and module of its forward call."""
    forward = {
        call.sequence: call for call in calls if call.phase == "forward" and call.sequence >= 0
    }
    placed = []
    for call in calls:
        origin = forward.get(call.sequence) if call.phase == "backward" else None
        if call.phase == "backward":
            source = origin.source if origin else None
            call = msgspec.structs.replace(call, source=source)  # noqa: PLW2901
        placed.append(call)
    return placed


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _as_int(size: object) -> int:
    """Return a size as a plain int; an unknown symbolic one raises torch's own error."""
    return int(size)  # type: ignore[call-overload, no-any-return]
