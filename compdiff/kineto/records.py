"""The bytes of a trace file as records. In: JSON as Kineto writes it, of any age. Out: its events as the file has them.

Source: the format of `torch.profiler.profile.export_chrome_trace` from torch 1.8 to 2.14, as found in public traces.
"""

from collections import Counter
from typing import Generic, TypeAlias, TypeVar

import msgspec

from compdiff.errors import FormatError
from compdiff.kineto.events import DEVICE_CATEGORIES, LAUNCH_CATEGORIES, ArgumentValue
from compdiff.kineto.repair import repaired

# Categories of older exports, and of ROCm, by the names of today.
CATEGORIES = {
    "Operator": "cpu_op",
    "operator": "cpu_op",
    "cpu_instant_event": "cpu_op",
    "Kernel": "kernel",
    "Runtime": "cuda_runtime",
    "runtime": "cuda_runtime",
    "hip_runtime": "cuda_runtime",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
    "memcpy": "gpu_memcpy",
    "memset": "gpu_memset",
    "user_annotation": "user_annotation",
    "Python function": "python_function",
}
DEVICE_SPELLINGS = DEVICE_CATEGORIES | {
    old for old, new in CATEGORIES.items() if new in DEVICE_CATEGORIES
}
LAUNCH_SPELLINGS = LAUNCH_CATEGORIES | {
    old for old, new in CATEGORIES.items() if new in LAUNCH_CATEGORIES
}
_HINT = "Export it with torch.profiler's export_chrome_trace."
# Up to here (101 days) a float tells nanoseconds apart; since 2024 Kineto counts from a quarter's start.
_EXACT_US = 2.0**43

ThreadPart: TypeAlias = int | float | str | None


# Records hold no other records: the garbage collector need not look at a million of them.
class _Record(msgspec.Struct, gc=False):
    ph: str = ""
    name: str = ""
    cat: str = ""
    pid: ThreadPart = ""
    tid: ThreadPart = ""
    args: msgspec.Raw = msgspec.Raw(b"")


class NumberRecord(_Record, gc=False):
    """An event whose times are numbers, in microseconds."""

    ts: int | float | None = None
    dur: int | float | None = None


class TextRecord(_Record, gc=False):
    """An event whose times are kept as they are written."""

    ts: msgspec.Raw = msgspec.Raw(b"")
    dur: msgspec.Raw = msgspec.Raw(b"")


Record: TypeAlias = NumberRecord | TextRecord
_E = TypeVar("_E", NumberRecord, TextRecord)


class _Device(msgspec.Struct):
    name: str = ""


class FileRecord(msgspec.Struct, Generic[_E]):
    """A file: its events and what it says of itself."""

    traceEvents: list[_E]  # noqa: N815 - the file's own spelling
    deviceProperties: list[_Device] = []  # noqa: N815
    distributedInfo: dict[str, ArgumentValue] = {}  # noqa: N815
    cuda_runtime_version: ArgumentValue = None
    cuda_driver_version: ArgumentValue = None


AnyFile: TypeAlias = FileRecord[NumberRecord] | FileRecord[TextRecord]


def parsed(data: bytes) -> tuple[AnyFile, Counter[str]]:
    """Return the file as records, where it is no JSON with the known faults mended, and how often there was each.

    Raises:
        FormatError: the bytes are not a Kineto trace, or end too early: says at which byte.
    """
    try:
        return _decoded(data), Counter()
    except msgspec.DecodeError as error:
        mended, odd = repaired(data)
        try:
            return _decoded(mended), odd
        except msgspec.DecodeError as second:
            raise FormatError(_message(data, second if odd else error), _HINT) from second


def numbered(file: AnyFile) -> list[NumberRecord] | None:
    """Return the complete events of a file, None where its times are kept as text."""
    found: list[NumberRecord] = []
    for item in file.traceEvents:
        if isinstance(item, TextRecord):
            return None
        if item.ph == "X":
            found.append(item)
    return found


def _decoded(data: bytes) -> AnyFile:
    """Return the file with its times as numbers; as text, which takes twice as long, where numbers do not hold them."""
    try:
        trace = _decoded_as(data, NumberRecord)
    except msgspec.ValidationError:
        return _decoded_as(data, TextRecord)
    floats = (event.ts for event in trace.traceEvents if isinstance(event.ts, float))
    return trace if max(floats, default=0.0) < _EXACT_US else _decoded_as(data, TextRecord)


def _decoded_as(data: bytes, event: type[_E]) -> FileRecord[_E]:
    if data.lstrip()[:1] == b"[":
        return FileRecord(traceEvents=msgspec.json.decode(data, type=list[event]))  # type: ignore[valid-type]
    trace: FileRecord[_E] = msgspec.json.decode(data, type=FileRecord[event])  # type: ignore[valid-type]
    return trace


def _message(data: bytes, error: msgspec.DecodeError) -> str:
    if "truncated" in str(error):
        return f"not a Kineto trace: it is truncated at byte {len(data):,}"
    return f"not a Kineto trace: {error}"
