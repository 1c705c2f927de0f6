"""A run in pieces is the same run when it is put together, and shares what did not change."""

from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compdiff.archive.split import Blob, Pieces, Record, Shape, join, split
from compdiff.errors import FormatError
from compdiff.model import Compilation, Run
from compdiff.store import encode_run
from tests.archive.runs import golden, measured_again, of_case
from tests.strategies import runs

_TEXTS = st.text(max_size=20) | st.from_regex(r"ID\(\d{10,22}\)\x00?", fullmatch=True)


def joined(pieces: Pieces, contents: Mapping[str, bytes] | None = None) -> bytes:
    """Return the run of pieces."""
    found = pieces.contents if contents is None else contents
    return join(pieces.record, lambda blob: found[blob.hash])


def with_guards(run: Run, *guards: str) -> Run:
    """Return a run whose compiler said these guards."""
    compiler = golden().right.compiler
    assert compiler is not None
    compilations = (Compilation(compile_id="0/0", guards=guards, phases_ns={"a": 5, "b": 0}),)
    compiler = msgspec.structs.replace(compiler, compilations=compilations)
    right = msgspec.structs.replace(run.right, compiler=compiler)
    return msgspec.structs.replace(run, right=right)


@pytest.mark.parametrize("name", ["linear", "training_step", "graph_break", "dropout"])
def test_golden_runs_come_back(name: str) -> None:
    """Real runs are the same bytes again."""
    data = encode_run(golden(name))

    assert joined(split(data)) == data


@given(runs(), st.lists(_TEXTS, max_size=5), st.dictionaries(st.text(max_size=5), st.integers()))
def test_any_run_comes_back(run: Run, guards: list[str], params: dict[str, int]) -> None:
    """Whatever strings and numbers a run holds, also such as look like what is taken out."""
    limited = {key: value % 2**62 for key, value in params.items()}
    case = msgspec.structs.replace(run.case, params={**limited, "a_ns": 7, "guards": 1})
    data = encode_run(msgspec.structs.replace(with_guards(run, *guards), case=case))

    assert joined(split(data)) == data


def test_digits_of_other_scripts_are_no_address() -> None:
    """An Arabic zero is a digit for `re`, and would come back as an ASCII one."""
    data = encode_run(with_guards(golden(), "10000000000\u0660"))

    assert joined(split(data)) == data


def test_another_measurement_has_the_same_shape() -> None:
    """Times, the clock and addresses are in the record; nothing else is new."""
    first = with_guards(measured_again(golden(), 1), "___check_obj_id(G['torch'], 140380936175056)")
    second = with_guards(
        measured_again(golden(), 2), "___check_obj_id(G['torch'], 139764881833344)"
    )

    one, two = split(encode_run(first)), split(encode_run(second))

    assert one.shape == two.shape
    assert one.contents.keys() & two.contents.keys() == one.contents.keys() - {one.record.hash}


def test_large_parts_are_shared_by_runs_of_other_cases() -> None:
    """Another name of the case is another shape; graphs and code are stored once all the same."""
    run = golden("training_step")

    one, two = split(encode_run(run)), split(encode_run(of_case(run, "other")))

    assert one.shape != two.shape
    assert one.parts
    assert one.parts == two.parts


def test_each_blob_is_named_by_its_content() -> None:
    """Names are SHA-256, so no two contents have one name, and damage is seen."""
    pieces = split(encode_run(golden()))

    blobs = (pieces.record, pieces.setting, pieces.shape, *pieces.parts)
    names = {blob.hash for blob in blobs}
    assert names == pieces.contents.keys()


def tampered(change: dict[str, object], *, of_shape: bool = False) -> Pieces:
    """Return pieces of which record or shape was changed."""
    pieces = split(encode_run(golden("training_step")))
    record = msgspec.msgpack.decode(pieces.contents[pieces.record.hash], type=Record)
    contents = dict(pieces.contents)
    if of_shape:
        shape = msgspec.json.decode(contents[record.shape.hash], type=Shape)
        contents["shape"] = msgspec.json.encode(msgspec.structs.replace(shape, **change))
        change = {"shape": Blob("shape", len(contents["shape"]))}
    contents["record"] = msgspec.msgpack.encode(msgspec.structs.replace(record, **change))
    name = Blob("record", len(contents["record"]))
    return Pieces(
        record=name, setting=pieces.setting, shape=pieces.shape, parts=(), contents=contents
    )


@pytest.mark.parametrize(
    "change",
    [
        {"columns": ()},
        {"facts": [[["left", "op_calls", "x"], 1]]},
        {"facts": [[[], 1]]},
        {"facts": [[["nowhere", "at", "all"], 1]]},
        {"schema": "compdiff.record/2"},
        {"shape": Blob("record", 1)},
        {"setting": Blob("record", 1)},
    ],
)
def test_a_record_that_does_not_fit_is_refused(change: dict[str, object]) -> None:
    """Facts that lead nowhere and numbers that are missing are errors of the format, not of Python."""
    with pytest.raises(FormatError):
        joined(tampered(change))


@pytest.mark.parametrize(
    "change",
    [
        {"tree": []},
        {"tree": None},
        {"tree": {"left": 5}},
        {"parts": [[["left", "op_calls"], ["shape", 10**12]]]},
        {"parts": [[[0], ["shape", 5]]]},
    ],
)
def test_a_shape_that_does_not_fit_is_refused(change: dict[str, object]) -> None:
    """So are trees that are none, and parts that claim to be larger than any run."""
    with pytest.raises(FormatError):
        joined(tampered(change, of_shape=True))


def test_a_tree_without_end_is_refused() -> None:
    """Nesting that would overflow the stack is an error of the format."""
    pieces = tampered({})
    deep = b'{"tree":' + b"[" * 100_000 + b"]" * 100_000 + b',"parts":[]}'

    with pytest.raises(FormatError):
        joined(
            pieces, {**pieces.contents, split(encode_run(golden("training_step"))).shape.hash: deep}
        )
