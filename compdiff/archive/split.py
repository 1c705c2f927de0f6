"""A run in pieces, each stored once. In: a run's canonical JSON. Out: record, setting, shape and parts; the JSON again.

The **record** is what no two runs share: times, addresses, the clock, the commit. The **setting** is what the runs of a
case on one machine with the same software share: environment, numerics, warnings. The **shape** is the rest, equal
for all runs of an unchanged case, with its large **parts** (graphs, generated code, op calls) taken out, which runs of
a changed case share as far as they are the same. All are named by the SHA-256 of what they hold.

It works on JSON, not on the model, so that pieces stay readable as the model grows, and so that the whole can be
checked by the hash of its bytes.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar

import msgspec

from compdiff.archive.columns import Column, pack, unpack
from compdiff.errors import FormatError
from compdiff.model import RUN_SCHEMA
from compdiff.store import MAX_RUN_BYTES

RECORD_SCHEMA = "compdiff.record/1"

Json: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]
T = TypeVar("T")

# What differs from run to run of an unchanged case, beside numbers. Taken out in this order, and put back last first.
_FACTS: tuple[Path, ...] = (
    ("created",),
    ("environment", "git_branch"),
    ("environment", "git_commit"),
    ("environment", "git_dirty"),
    ("timing", "others_cpu"),
)
# What differs from machine to machine.
_SETTING: tuple[Path, ...] = (
    ("environment",),
    ("left", "warnings"),
    ("numerics",),
    ("right", "warnings"),
    ("timing",),
    ("warnings",),
)
_NUMBERS = frozenset({"correlation", "ns_per_call", "peak_bytes"})
_NUMBER_SUFFIX = "_ns"
# Guards name objects by their addresses.
_TEXTS = frozenset({"guards"})
_ADDRESS = re.compile(r"(?<!\d)[1-9]\d{11,18}(?!\d)", re.ASCII)
_HOLE = "\0"
# What is stored on its own where it is large enough, innermost first: a kernel's code, then the list of calls it is in.
_PARTS = frozenset(
    {
        "attributed",
        "calls",
        "code",
        "dynamo",
        "guards",
        "joint",
        "kernels",
        "launches",
        "op_calls",
        "op_stats",
        "passes",
        "post_grad",
        "source",
        "wrapper_code",
    }
)
_SMALLEST_PART = 4096
_MOST_PARTS = 100_000
_ENCODER = msgspec.json.Encoder(order="sorted")
_COUNTS = "#"


class Blob(msgspec.Struct, frozen=True, array_like=True):
    """The name of something stored: the SHA-256 of its bytes, and how many they are."""

    hash: str
    size: int


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """A value that was taken out of the tree, and where it stood."""

    path: Path
    value: Json


class Part(msgspec.Struct, frozen=True, array_like=True):
    """Where in the tree something stood that is stored on its own."""

    path: Path
    blob: Blob


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What only one run holds: facts, and columns of numbers, one for each place, in the order of the tree."""

    shape: Blob
    facts: tuple[Fact, ...]
    columns: tuple[Column, ...]
    setting: Blob | None = None
    schema: str = RECORD_SCHEMA


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What runs of an unchanged case share; parts in the order in which they were taken out."""

    tree: Json
    parts: tuple[Part, ...]


class Pieces(msgspec.Struct, frozen=True):
    """A run as it is stored: `contents` holds the bytes of each blob by its hash."""

    record: Blob
    setting: Blob
    shape: Blob
    parts: tuple[Blob, ...]
    contents: dict[str, bytes]


def split(data: bytes) -> Pieces:
    """Return the pieces of a run's canonical JSON (`store.encode_run`)."""
    tree = msgspec.json.decode(data)
    columns = _Columns()
    tree = _walk(tree, "", columns)
    facts = tuple(_taken_facts(tree, _FACTS))
    contents: dict[str, bytes] = {}
    setting = _stored(_ENCODER.encode(list(_taken_facts(tree, _SETTING))), contents)
    parts = tuple(_taken_parts(tree, (), contents))
    shape = _stored(_ENCODER.encode(Shape(tree=tree, parts=parts)), contents)
    record = Record(shape=shape, facts=facts, columns=columns.packed(), setting=setting)
    return Pieces(
        record=_stored(msgspec.msgpack.encode(record), contents),
        setting=setting,
        shape=shape,
        parts=tuple(dict.fromkeys(part.blob for part in parts)),
        contents=contents,
    )


def join(record_blob: Blob, read: Callable[[Blob], bytes]) -> bytes:
    """Return the canonical JSON of a run; `read` returns the verified bytes of a blob.

    Raises:
        FormatError: the pieces do not fit together, or make up more than any run holds.
    """
    record = decode_record(read(record_blob))
    shape = decode_shape(read(record.shape))
    blobs = (record_blob, *named_by(record), *(part.blob for part in shape.parts))
    if sum(blob.size for blob in blobs) > MAX_RUN_BYTES:
        raise FormatError("its parts are larger than any run")
    setting = _decode_setting(read(record.setting)) if record.setting else ()
    tree = shape.tree
    try:
        for part in reversed(shape.parts):
            _put(tree, part.path, msgspec.json.decode(read(part.blob)))
        for fact in (*reversed(setting), *reversed(record.facts)):
            _put(tree, fact.path, fact.value)
        tree = _walk(tree, "", _Unpacked(record.columns))
        return _canonical(tree)
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FormatError(f"its pieces do not fit together ({error})") from error


def named_by(record: Record) -> tuple[Blob, ...]:
    """Return the blobs that a record names: its shape, and its setting if it has one."""
    return (record.shape, record.setting) if record.setting else (record.shape,)


def decode_shape(data: bytes) -> Shape:
    """Return a shape from its bytes.

    Raises:
        FormatError: they are none.
    """
    return _decoded(lambda: msgspec.json.decode(data, type=Shape), "shape", _MOST_PARTS)


def decode_record(data: bytes) -> Record:
    """Return a record from its bytes.

    Raises:
        FormatError: they are none, or of a newer compdiff.
    """
    record = _decoded(lambda: msgspec.msgpack.decode(data, type=Record), "record", 0)
    if record.schema != RECORD_SCHEMA:
        raise FormatError(f"schema {record.schema!r} is not {RECORD_SCHEMA}", "Upgrade compdiff.")
    return record


def _decode_setting(data: bytes) -> tuple[Fact, ...]:
    return _decoded(lambda: msgspec.json.decode(data, type=tuple[Fact, ...]), "setting", 0)


def _decoded(decode: Callable[[], T], what: str, most_parts: int) -> T:
    try:
        found = decode()
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise FormatError(f"not a {what} ({error})") from error
    if isinstance(found, Shape) and len(found.parts) > most_parts:
        raise FormatError(f"a {what} of more than {most_parts} parts")
    return found


def _canonical(tree: dict[str, Json]) -> bytes:
    """Return the tree as `store.encode_run` writes it: the schema first, then the keys in order."""
    schema = tree.pop("schema", RUN_SCHEMA)
    body = _ENCODER.encode(tree)
    return b'{"schema":' + _ENCODER.encode(schema) + b"," + body[1:] + b"\n"


def _stored(data: bytes, contents: dict[str, bytes]) -> Blob:
    name = sha256(data).hexdigest()
    contents[name] = data
    return Blob(name, len(data))


# ---------------------------------------------------------------- facts and parts


def _taken_facts(tree: Json, paths: Iterable[Path]) -> Iterator[Fact]:
    for path in paths:
        *parents, last = path
        node = tree
        for key in parents:
            node = node.get(key) or {}
        if last in node:
            yield Fact(path, node.pop(last))


def _taken_parts(node: Json, path: Path, contents: dict[str, bytes]) -> Iterator[Part]:
    """Take large parts out of a tree, which is changed, inner ones first."""
    for key, child in list(_children(node)):
        here = (*path, key)
        yield from _taken_parts(child, here, contents)
        if key in _PARTS:
            data = _ENCODER.encode(child)
            if len(data) >= _SMALLEST_PART:
                node[key] = None
                yield Part(here, _stored(data, contents))


def _children(node: Json) -> Iterator[tuple[str | int, Json]]:
    if isinstance(node, dict):
        yield from node.items()
    elif isinstance(node, list):
        yield from enumerate(node)


def _put(tree: Json, path: Path, value: Json) -> None:
    *parents, last = path
    for key in parents:
        tree = tree[key]
    tree[last] = value


# ---------------------------------------------------------------- numbers


class _Columns:
    """Takes numbers out of a tree, and leaves a 0 in the place of each, and an empty list in that of a list of them.

    All integers at such places are taken, so a 0 there is never one of the run's own.
    """

    def __init__(self) -> None:
        self._values: dict[str, list[int]] = {}

    def number(self, place: str, value: int) -> int:
        self._values.setdefault(place, []).append(value)
        return 0

    def numbers(self, place: str, values: list[int]) -> list[int]:
        self._values.setdefault(place, []).extend(values)
        self._values.setdefault(place + _COUNTS, []).append(len(values))
        return []

    def text(self, place: str, text: str) -> str:
        found = [] if _HOLE in text else _ADDRESS.findall(text)
        self.numbers(place, [int(digits) for digits in found])
        return _ADDRESS.sub(_HOLE, text) if found else text

    def is_list(self, values: list[Json]) -> bool:
        return all(type(value) is int for value in values)

    def packed(self) -> tuple[Column, ...]:
        return tuple(map(pack, self._values.values()))


class _Unpacked:
    """Puts back what `_Columns` took: the same walk, in the same order."""

    def __init__(self, columns: Iterable[Column]) -> None:
        self._columns = map(unpack, columns)
        self._values: dict[str, Iterator[int]] = {}

    def number(self, place: str, value: int) -> int:
        del value
        return self._next(place)

    def numbers(self, place: str, values: list[int]) -> list[int]:
        del values
        self._open(place)
        return [self._next(place) for _ in range(self._next(place + _COUNTS))]

    def text(self, place: str, text: str) -> str:
        found = self.numbers(place, [])
        pieces = text.split(_HOLE) if found else [text]
        filled = zip(pieces, ["", *map(str, found)], strict=True)
        return "".join(number + piece for piece, number in filled)

    def is_list(self, values: list[Json]) -> bool:
        return not values

    def _open(self, place: str) -> Iterator[int]:
        """Return the numbers of a place; a place met for the first time has the next column."""
        if place not in self._values:
            self._values[place] = iter(next(self._columns, ()))
        return self._values[place]

    def _next(self, place: str) -> int:
        try:
            return next(self._open(place))
        except StopIteration:
            raise FormatError(f"numbers are missing at {place}") from None


def _walk(node: Json, place: str, visit: "_Columns | _Unpacked") -> Json:
    """Return the tree with its numbers and addresses replaced by what `visit` gives for them, in the order of keys."""
    if isinstance(node, dict):
        for key in sorted(node):
            node[key] = _entered(key, node[key], f"{place}.{key}", visit)
    elif isinstance(node, list):
        node[:] = [_walk(child, place, visit) for child in node]
    return node


def _entered(key: str, value: Json, place: str, visit: "_Columns | _Unpacked") -> Json:
    if key.endswith(_NUMBER_SUFFIX) or key in _NUMBERS:
        return _numbers(value, place, visit)
    if key in _TEXTS and isinstance(value, list):
        return [visit.text(place, v) if isinstance(v, str) else v for v in value]
    return _walk(value, place, visit)


def _numbers(value: Json, place: str, visit: "_Columns | _Unpacked") -> Json:
    """Visit a value of which all integers, however deep, are numbers."""
    if type(value) is int:
        return visit.number(place, value)
    if isinstance(value, dict):
        return {key: _numbers(value[key], f"{place}.{key}", visit) for key in sorted(value)}
    if isinstance(value, list):
        if visit.is_list(value):
            return visit.numbers(place, value)
        return [_numbers(child, place, visit) for child in value]
    return value
