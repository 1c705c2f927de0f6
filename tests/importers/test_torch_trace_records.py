"""Records of a log: metadata, payloads, strings, damage."""

import pytest

from compdiff.importers.torch_trace.records import parse_json, read_records

HEAD = "V0102 03:04:05.678901 42 torch/_dynamo/x.py:7] "


def test_payloads_are_the_lines_with_a_tab() -> None:
    """Without the tab; a record without `has_payload` has none."""
    text = f'{HEAD}{{"a": {{}}, "has_payload": "x"}}\n\tone\n\t\n\t\ttwo\n{HEAD}{{"b": 1}}\n'
    found = read_records(text.encode())
    assert [item.payload for item in found.items] == ["one\n\n\ttwo", None]
    assert [dict(item.metadata) for item in found.items] == [
        {"a": {}, "has_payload": "x"},
        {"b": 1},
    ]
    assert not found.odd


def test_strings_are_a_table() -> None:
    """Texts by number; anything else is counted."""
    text = f'{HEAD}{{"str": ["/m.py", 3]}}\n{HEAD}{{"str": ["x"]}}\n'
    found = read_records(text.encode())
    assert found.strings == {3: "/m.py"}
    assert found.odd == {"entries of the string table that are none": 1}
    assert found.items == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f'{HEAD}{{"a": {{}}, "has_payload": "x"}}\n', "records whose payload is missing"),
        (f'{HEAD}{{"a": \n', "records whose JSON is damaged"),
        (f"{HEAD}[1]\n", "records whose JSON is damaged"),
        (f"{HEAD}{'[' * 99999}\n", "records whose JSON is damaged"),
        (f'{HEAD}{{"a": 1}}\nhello\n', "lines that belong to no record"),
        ("\tpayload of nothing\n", "lines that belong to no record"),
    ],
)
def test_damage(text: str, what: str) -> None:
    """It is counted by kind, and what follows is read."""
    found = read_records(f'{text}{HEAD}{{"last": 1}}'.encode())
    assert found.odd == {what: 1}
    assert dict(found.items[-1].metadata) == {"last": 1}


def test_bytes_that_are_no_text() -> None:
    """Lines with them are counted, and read."""
    data = f'{HEAD}{{"a": {{}}, "has_payload": "x"}}\n\tone '.encode() + b"\xff\xfe\n\ttwo\n"
    found = read_records(data)
    assert found.odd == {"lines with bytes that are no UTF-8": 1}
    assert (found.items[0].payload or "").endswith("two")


@pytest.mark.parametrize(
    ("text", "value"),
    [(r'"\ud800"', "�"), (r'"\udc00x"', "�x"), (r'"\ud83d\ude00"', "\N{GRINNING FACE}")],
)
def test_half_surrogate_pairs(text: str, value: str) -> None:
    """They cannot be written, and are replaced; whole ones are characters."""
    assert parse_json(text) == value
