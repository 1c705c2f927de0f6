"""Concludes again from golden runs and compares; see tests/golden/README.md."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compdiff.align.items import right_items
from compdiff.analysis import analyse, check, compare, unexplained
from compdiff.expect import judge
from compdiff.model import Diff, Run
from compdiff.rewrites import RULES
from compdiff.store import read_run

_FOLDER = Path(__file__).parent / "golden"
_RUNS = sorted(_FOLDER.glob("*/*.run.json.gz"))


@pytest.fixture(
    name="run", params=_RUNS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}"
)
def _run(request: pytest.FixtureRequest) -> tuple[Path, Run, Diff]:
    run = read_run(request.param)
    return request.param, run, analyse(run)


def test_there_are_golden_runs() -> None:
    """The other tests of this file have something to test."""
    assert len(_RUNS) >= 20


def test_nothing_is_unexplained(run: tuple[Path, Run, Diff]) -> None:
    """Every op call has a fate and every kernel an origin."""
    _, measured, diff = run
    assert unexplained(diff) == (0, 0)
    check(measured, diff)


def test_expectations_hold(run: tuple[Path, Run, Diff]) -> None:
    """What the case says of itself is true of its golden run."""
    _, measured, diff = run
    assert judge(measured.expectation, measured, diff) == ()


def test_conclusions_are_as_accepted(run: tuple[Path, Run, Diff]) -> None:
    """Fates, origins and rewrites are those in the text beside the run."""
    path, measured, diff = run
    text = "\n".join(sketch(measured, diff)) + "\n"
    accepted = path.with_name(path.name.replace(".run.json.gz", ".txt"))
    if os.environ.get("COMPDIFF_ACCEPT"):
        accepted.write_text(text, encoding="utf-8")
    assert accepted.read_text(encoding="utf-8") == text


def test_the_same_run_gives_the_same_conclusions(run: tuple[Path, Run, Diff]) -> None:
    """Concluding twice gives equal results."""
    _, measured, diff = run
    assert analyse(measured) == diff


def test_a_run_compared_with_itself_keeps_all(run: tuple[Path, Run, Diff]) -> None:
    """Both sides of a comparison are the same run: nothing changed, and nothing is left out."""
    _, measured, diff = run
    combined, compared = compare(measured, "right", measured, "right")
    assert {fate.fate for fate in compared.fates.values()} == {"kept"}
    assert not compared.rewrites
    assert compared.comparison is not None
    assert compared.comparison.changes == ()
    assert compared.comparison.unchanged["rewrite"] == len(diff.rewrites)
    check(combined, compared)


def test_matches_name_items_that_exist(run: tuple[Path, Run, Diff]) -> None:
    """Each match, rewrite and origin speaks of op calls and items of this run."""
    _, measured, diff = run
    left, right = set(diff.fates), {item for item, _ in right_items(measured.right)}
    for match in diff.matches:
        assert set(match.left) <= left
        assert set(match.right) <= right
    for rewrite in diff.rewrites:
        assert {*rewrite.left, *rewrite.shared} <= left
        assert set(rewrite.right) <= right


@pytest.mark.parametrize("name", sorted({rule.name for rule in RULES}))
def test_each_rule_fires_on_its_case(name: str) -> None:
    """The case that a rule names shows it."""
    cases = [rule.case for rule in RULES if rule.name == name]
    runs = [read_run(path) for case in cases for path in _FOLDER.glob(f"*/{case}*.run.json.gz")]
    assert any(rewrite.rule == name for run in runs for rewrite in analyse(run).rewrites)


def sketch(run: Run, diff: Diff) -> Iterator[str]:
    """Yield the conclusions as lines to read and compare, without times."""
    for call in run.left.op_calls:
        fate = diff.fates[f"e{call.id}"]
        yield f"e{call.id} {call.name}: {fate.fate}{f' by {fate.rewrite}' if fate.rewrite else ''}"
    for item, made in right_items(run.right):
        origin = diff.origins[item]
        again = f", again {' '.join(origin.recomputed)}" if origin.recomputed else ""
        yield f"{item} {made.name}: {' '.join(origin.op_calls) or f'introduced: {origin.introduced}'}{again}"
    for rewrite in diff.rewrites:
        outcome = f" [{rewrite.outcome}]" if rewrite.outcome else ""
        shared = f" with {' '.join(rewrite.shared)}" if rewrite.shared else ""
        by_pass = f" by {rewrite.by_pass}" if rewrite.by_pass else ""
        left, right = " ".join(rewrite.left), " ".join(rewrite.right) or "nothing"
        yield f"{rewrite.id} {rewrite.rule}{outcome}: {left}{shared} -> {right}{by_pass}, {rewrite.source}"
    for missed in diff.missed:
        left, right = " ".join(missed.left), " ".join(missed.right)
        yield f"missed {missed.rule}: {left} as {right}, {missed.source}: {missed.why}"
