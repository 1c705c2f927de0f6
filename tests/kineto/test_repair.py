"""Faults that Kineto wrote into files, each as a public report describes it."""

import json

import pytest

from compdiff.errors import FormatError
from compdiff.kineto import read

EVENT = '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 10, "dur": 5}'


def trace(*events: str) -> bytes:
    """Return a trace file with these events as they are."""
    return ('{"traceEvents": [\n' + ",\n".join(events) + "\n]}").encode()


def named(name: str) -> str:
    """Return an event with a name written as it is."""
    return (
        '{\n    "ph": "X", "cat": "python_function", "name": "'
        + name
        + '", "pid": 1, "tid": 2,\n    "ts": 1, "dur": 2,\n    "args": {"Python id": 1}\n  }'
    )


@pytest.mark.parametrize(
    ("name", "read_as", "said"),
    [
        (r"torch\cuda\x.py(3): f", r"torch\cuda\x.py(3): f", "names with bare backslashes"),
        (r"C:\users\ufoo(1): g", r"C:\users\ufoo(1): g", "names with bare backslashes"),
        ('{"device": "cpu"}(12): run', '{"device": "cpu"}(12): run', "names with bare quotes"),
        ("a\x01b", "a b", "control characters"),
    ],
)
def test_names_written_without_escaping(name: str, read_as: str, said: str) -> None:
    """The name is read as it was meant, the other events stay, and the reader is told."""
    found = read(trace(EVENT, named(name), EVENT))
    assert [event.name for event in found.events if event.category == "python_function"] == [
        read_as
    ]
    assert len(found.events) == 3
    assert found.odd[said] == 1


def test_bytes_that_are_no_text() -> None:
    """A byte that is not UTF-8 becomes a replacement character."""
    data = trace(EVENT, named("config.py(7): XX")).replace(b"XX", b"\xff")
    found = read(data)
    assert "config.py(7): �" in [event.name for event in found.events]
    assert found.odd["bytes that are not UTF-8"] == 1


def test_values_that_are_no_numbers() -> None:
    """NaN and Infinity become nothing; the same words in a name stay."""
    odd = EVENT.replace('"dur": 5', '"dur": 5, "args": {"bandwidth": NaN, "x": [-Infinity, 1]}')
    found = read(trace(odd, EVENT.replace("aten::mm", "NaN, Infinity")))
    assert found.odd["values that are no numbers"] == 2
    assert found.events[0].arguments["bandwidth"] is None
    assert "NaN, Infinity" in [event.name for event in found.events]


def test_legacy_flow_events() -> None:
    """The old profiler's list with half-quoted thread ids and doubled braces is read."""
    flow = '{"ph": "s", "name": "launch", "pid": 1, "tid": cuda0", "ts": 1, "args": {{}}}}'
    flow = flow.replace("}}}}", "}}}")
    data = f"[{EVENT},\n{flow},\n{EVENT}]".encode()
    found = read(data)
    assert [event.name for event in found.events] == ["aten::mm", "aten::mm"]


def test_a_list_is_a_trace() -> None:
    """Some exporters write the events alone."""
    assert len(read(f"[{EVENT}]".encode()).events) == 1


def test_a_cut_file_says_where() -> None:
    """A file that ends in an event is refused with the byte at which it ends."""
    whole = trace(*[EVENT] * 20)
    cut = whole[: len(whole) // 2]
    with pytest.raises(FormatError, match=f"truncated at byte {len(cut)}"):
        read(cut)


def test_sound_files_are_not_touched() -> None:
    """Nothing is counted as odd in a file that parses."""
    name = json.dumps('a "quoted" \\name\\ ü')[1:-1]
    found = read(trace(EVENT, named(name)))
    assert found.odd.total() == 0
    assert 'a "quoted" \\name\\ ü' in [event.name for event in found.events]
