"""Targets by name and by file, and what is said of a wrong one."""

import json
from pathlib import Path

import msgspec
import pytest

from compdiff.errors import CompdiffError
from compdiff.targets import TARGETS, find_target

H200 = TARGETS["h200"]


def write(folder: Path, **changes: object) -> str:
    """Write the H200 with some fields changed; None leaves a field out."""
    content = msgspec.to_builtins(H200) | changes
    kept = {name: value for name, value in content.items() if value is not None}
    path = folder / "mine.json"
    path.write_text(json.dumps(kept))
    return str(path)


def test_finds_a_name_in_any_case() -> None:
    """H200 and h200 are one target."""
    assert find_target("H200") is H200


def test_reads_what_it_prints(tmp_path: Path) -> None:
    """A file with the fields of a target is that target."""
    assert find_target(write(tmp_path)) == H200


def test_unknown_name_lists_the_known_ones() -> None:
    """A slip shows what could have been meant."""
    with pytest.raises(CompdiffError, match="h300") as caught:
        find_target("h300")
    assert "h200" in caught.value.hint


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"l2_bytes": None}, "missing l2_bytes"),
        ({"l3_bytes": 1}, "unknown l3_bytes"),
        ({"l2_bytes": "big"}, "l2_bytes: Expected `int`"),
        ({"clock_mhz": 0}, "clock_mhz is 0"),
        ({"peak_tflops": {"float16": 1.0}}, "peak_tflops lacks float32"),
        ({"peak_tflops": {"float32": -1.0}}, r"peak_tflops.float32 is -1.0"),
        ({"capability": [6, 0]}, "capability 6.0 is too old"),
    ],
)
def test_wrong_file_names_the_field(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    """Whoever wrote the file sees which field to correct."""
    with pytest.raises(CompdiffError, match=words):
        find_target(write(tmp_path, **changes))


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00"])
def test_a_file_that_is_no_target_is_refused(tmp_path: Path, text: str) -> None:
    """What is not an object of JSON gives a message, not a traceback."""
    path = tmp_path / "mine.json"
    path.write_text(text)
    with pytest.raises(CompdiffError, match=r"mine\.json"):
        find_target(str(path))


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    """A path that is not there is not taken for a name."""
    with pytest.raises(CompdiffError, match=r"none\.json"):
        find_target(str(tmp_path / "none.json"))
