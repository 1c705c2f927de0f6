"""Tests of compdiff.report.comparison, and of what other outputs say of two runs."""

import re

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compdiff.analysis import compare
from compdiff.model import Run, Side
from compdiff.report.document import make_document
from compdiff.report.html_page import render_page
from compdiff.report.summary import render_summary
from compdiff.report.view import Page, make_page
from tests.builders import op
from tests.strategies import runs
from tests.variants import golden, replace, uncompiled, with_break, with_op_call, with_other_code

_SIDES: tuple[Side, ...] = ("left", "right")


def page(a: Run, b: Run, side: Side = "right") -> Page:
    """Return the page of a comparison."""
    return make_page(*compare(a, side, b, side))


def test_one_run_has_no_comparison() -> None:
    """The report of a run against its own eager side has no part for changes."""
    run = golden("linear")
    made = make_page(*compare(run, "left", run, "right"))
    assert made.comparison is None
    assert 'id="changes"' not in render_page(made)


def test_nothing_changed() -> None:
    """Equal runs say so, with what is the same."""
    run = golden("graph_break")
    made = page(run, run)
    assert made.comparison is not None
    assert made.comparison.same
    assert made.head.sentence == (
        "Nothing changed: 3 op calls or kernels, 2 rewrites, 1 graph break, 1 finding and 6 eager op calls are the same."
    )


def test_the_sentence_names_what_changed() -> None:
    """Rules are counted, then what was gained or lost."""
    run = golden("linear")
    made = page(run, with_break(uncompiled(run), "branch"))
    assert (
        made.head.sentence
        == "Changed: 1 split; 1 rewrite lost; 1 graph break gained; 1 finding lost; 1 finding gained."
    )


def test_the_case_is_said_to_have_changed() -> None:
    """Eager op calls without a partner are counted."""
    run = golden("mlp_geglu")
    made = page(run, with_op_call(run, 2, op(0, "aten::relu")))
    assert made.comparison is not None
    assert made.comparison.case == "The case changed: of the eager op calls, 1 in B only."


def test_times_stand_side_by_side() -> None:
    """Both medians are shown, and no speedup."""
    run = golden("linear")
    made = page(run, replace(run, created="later"))
    (metric,) = (metric for metric in made.head.metrics if metric.name == "Time per call")
    assert metric.change == "different runs: not compared"
    (same,) = (metric for metric in page(run, run).head.metrics if metric.name == "Time per call")
    assert same.change == "one run: its own report compares them"
    assert metric.left == metric.right != "-"
    assert made.head.verdict == ""


def test_left_kernels_stand_in_rows_with_their_source() -> None:
    """A left kernel is shown as what it is, at the line of the eager op calls that it does."""
    run = golden("mlp_geglu")
    made = page(run, run)
    ops = {op.id: (op, block.source) for g in made.rows for block in g.blocks for op in block.ops}
    kernel, source = ops["ek0"]
    assert (kernel.kind, kernel.work) == ("C++ kernel", "aten::gelu, aten::mul.Tensor")
    assert source is not None
    assert source.place.endswith("mlp_geglu.py:22")
    assert kernel.code == "left-code-0-2"
    assert list(ops) == ["e0", "e1", "ek0", "e2"]


def test_sums_cover_both_sides() -> None:
    """Left op calls and kernels are one sum, and parts add up."""
    made = page(golden("training_step"), golden("training_step"))
    assert [(one.total, sum(part.count for part in one.parts)) for one in made.head.sums] == [
        (19, 19),
        (13, 13),
        (6, 6),
    ]


@pytest.mark.parametrize("side", ["left", "right"])
def test_every_link_of_the_page_has_its_place(side: Side) -> None:
    """No anchor is missing and no id is given twice."""
    run = golden("training_step")
    html = render_page(page(run, with_break(uncompiled(run), "branch"), side))
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)


def test_strings_of_the_runs_stay_text() -> None:
    """A reason that looks like markup is shown, not read."""
    run = golden("linear")
    bad = with_break(run, "<script>alert(1)</script>|`x`")
    made = page(run, bad)
    assert "<script>alert" not in render_page(made)
    assert "<script>" not in render_summary(made)


def test_the_document_holds_the_comparison() -> None:
    """diff.json lists changes, counts what is the same, and gives each item its eager op calls."""
    run = golden("linear")
    document = make_document(*compare(run, "right", uncompiled(run), "right"))
    assert document.comparison is not None
    plain = msgspec.to_builtins(document.comparison)
    assert plain["changes"][0]["name"] == "mm-add-to-addmm (seeded-output)"
    assert plain["unchanged"]["eager op call"] == 2
    assert plain["work"]["e0"] == ("aten::mm", "aten::add.Tensor")
    assert document.speedup is None
    assert document.verdict is None


def test_the_summary_tells_changes_first() -> None:
    """The Markdown has the changes before the numbers."""
    run = golden("linear")
    text = render_summary(page(run, uncompiled(run)))
    parts = ["**Changed:", "Changes (2)", "What runs otherwise (1)", "| Op calls |"]
    assert [text.find(part) for part in parts] == sorted(text.find(part) for part in parts)
    assert all(part in text for part in parts)


def test_changed_code_is_shown_as_a_difference() -> None:
    """A kernel that is kept with other code comes with the lines that differ."""
    before = golden("mlp_geglu")
    after = with_other_code(before, "erf", "erf_u10")
    made = page(before, after)
    assert made.comparison is not None
    (row,) = made.comparison.changes
    assert [ref.id for ref in row.items] == ["ek0", "k0"]
    assert any(line.startswith("+") and "erf_u10" in line for line in row.code.splitlines())
    assert made.head.sentence == "Changed: 1 kernel with other code."


@settings(max_examples=40, deadline=None)
@given(runs(), runs(), st.sampled_from(_SIDES), st.sampled_from(_SIDES))
def test_any_two_runs_can_be_shown(a: Run, b: Run, a_side: Side, b_side: Side) -> None:
    """Each item of both sides has one place in the page, no link is dead, and the sums add up."""
    assume(all(side.op_calls or side.kernels for run in (a, b) for side in (run.left, run.right)))
    run, diff = compare(a, a_side, b, b_side)
    made = make_page(run, diff)
    html = render_page(made)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert {*diff.fates, *diff.origins, *re.findall(r'href="#([^"]+)"', html)} <= set(ids)
    assert all(one.total == sum(part.count for part in one.parts) for one in made.head.sums)
    assert render_summary(made)
