"""Records of a TORCH_TRACE log. In: its bytes. Out: metadata and payload of each record, and counts of what is damaged.

A record is one line, `V0131 12:00:00.000000 1234 torch/file.py:12] {json}`; the lines of its payload follow, each with a
leading tab. Source: TorchLogsFormatter, torch/_logging/_internal.py (torch 2.14); meta-pytorch/tlparse reads the same.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_LINE = re.compile(r"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+?:\d+\] (?P<json>.*)")
_HALF_PAIR = re.compile(
    r"\\u[dD][89abAB]\w\w(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]\w\w)\\u[dD][c-fC-F]\w\w"
)


@dataclass(frozen=True)
class LogRecord:
    """One record; `payload` is None where the record has none, or has lost it."""

    metadata: Mapping[str, object]
    payload: str | None


@dataclass
class Records:
    """The records of a log in order, its table of strings, and how many of what was damaged."""

    items: list[LogRecord] = field(default_factory=list)
    strings: dict[int, str] = field(default_factory=dict)
    odd: Counter[str] = field(default_factory=Counter)


def read_records(data: bytes) -> Records:
    """Return all records of a log that can be read."""
    text = data.decode("utf-8", errors="replace")
    found = Records()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        found.odd["lines with bytes that are no UTF-8"] = sum(map(_is_damaged, data.split(b"\n")))
    for head, payload in _parts(text, found.odd):
        _add(found, head, payload)
    found.odd = +found.odd
    return found


def parse_json(text: str) -> object:
    """Return a JSON value; halves of surrogate pairs, which no text can hold, become U+FFFD.

    Raises:
        ValueError: it is no JSON, or nested too deep.
    """
    try:
        return json.loads(_HALF_PAIR.sub(r"\\ufffd", text))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _is_damaged(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _parts(text: str, odd: Counter[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each record's JSON and the lines of its payload."""
    head: str | None = None
    payload: list[str] = []
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        if match is not None:
            if head is not None:
                yield head, payload
            head, payload = match["json"], []
        elif line.startswith("\t") and head is not None:
            payload.append(line[1:])
        elif line.strip():
            odd["lines that belong to no record"] += 1
    if head is not None:
        yield head, payload


def _add(found: Records, head: str, lines: list[str]) -> None:
    try:
        metadata = parse_json(head)
    except ValueError:
        found.odd["records whose JSON is damaged"] += 1
        return
    if not isinstance(metadata, dict):
        found.odd["records whose JSON is damaged"] += 1
        return
    if "str" in metadata:
        _add_string(found, metadata["str"])
        return
    if "has_payload" in metadata and not lines:
        found.odd["records whose payload is missing"] += 1
    payload = "\n".join(lines) if "has_payload" in metadata and lines else None
    found.items.append(LogRecord(metadata, payload))


def _add_string(found: Records, entry: object) -> None:
    if isinstance(entry, list) and len(entry) == 2:  # noqa: PLR2004 - [text, number]
        text, number = entry
        if isinstance(text, str) and isinstance(number, int):
            found.strings[number] = text
            return
    found.odd["entries of the string table that are none"] += 1
