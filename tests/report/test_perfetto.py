"""The data that a browser makes a trace of."""

import json
from typing import Any

import pytest

from compdiff.analysis import analyse
from compdiff.importers import Asked, import_traces
from compdiff.report.html_page import render_page
from compdiff.report.lookup import Lookup
from compdiff.report.timeline import make_timeline
from compdiff.report.view import make_page
from tests.importers.traces import DATA
from tests.report.examples import HOSTILE, Example, traced


def data(example: Example) -> str:
    """Return the JSON of an example."""
    made = make_timeline(Lookup(*example))
    assert made is not None
    return made.data


def test_it_cannot_end_the_element_it_stands_in() -> None:
    """Names from outside hold markup: none of its characters is in the text, and the names come back whole."""
    text = data(traced())
    assert not set("<>&") & set(text)
    assert HOSTILE in json.loads(text)["names"]


def test_rows_are_six_integers_with_starts_after_each_other() -> None:
    """Name, start after the one before, duration, id, shade, launch from 1."""
    document: dict[str, Any] = json.loads(data(traced()))
    left, right = document["sides"]
    lanes = {lane["name"]: lane for lane in left["lanes"]}
    stream = lanes["stream 7"]
    assert stream["prefix"] == "ek"
    gemm, add = stream["rows"][:6], stream["rows"][6:]
    assert document["names"][gemm[0]] == "gemm"
    assert gemm[1:4] == [30_000, 20_000, 0]
    assert document["shades"][gemm[4]] == "kept"
    assert gemm[5] == lanes["launches"]["rows"][5] == 1
    assert add[1:4] == [40_000, 25_000, 1]
    assert [lane["prefix"] for lane in right["lanes"]] == ["c", "", "k"]


@pytest.mark.parametrize("name", ["tl-h100-bert-small", "tl-mi300-bert-small"])
def test_it_is_a_small_part_of_the_page(name: str) -> None:
    """Every event of both sides takes less than a quarter of the page."""
    run = import_traces(DATA / f"{name}.json.gz", None, Asked(whole=True))
    example = Example(run, analyse(run))
    assert len(data(example)) < len(render_page(make_page(*example))) / 4
