"""All op calls as a tree in the terminal."""

import io
import re

import pytest
from rich.console import Console

from compdiff.analysis import analyse
from compdiff.report.tree import terminal_tree
from compdiff.report.view import make_page
from tests.report.examples import EXAMPLES, Example, geglu, training
from tests.variants import golden


def printed(example: Example, *, width: int = 400, color: bool = False) -> str:
    """Return what the terminal shows."""
    console = Console(file=io.StringIO(), width=width, force_terminal=color)
    with console.capture() as shown:
        console.print(terminal_tree(make_page(*example)))
    return shown.get()


def example(case: str) -> Example:
    """Return the golden run of a case."""
    run = golden(case)
    return Example(run, analyse(run))


@pytest.mark.parametrize("case", ["linear", "mlp_geglu", "training_step", "graph_break"])
def test_every_item_is_shown(case: str) -> None:
    """Each eager op call stands once in the tree, each compiled item too."""
    run, diff = example(case)
    lines = printed(Example(run, diff)).splitlines()
    shown = [line for line in lines if "shown elsewhere" not in line]
    found = re.findall(r"[├└]── (?:=> )?([eck]\d+) ", "\n".join(shown))
    assert sorted(found) == sorted([*diff.fates, *diff.origins])


def test_phases_are_branches() -> None:
    """A training step has two."""
    text = printed(example("training_step"))
    assert "├── forward\n" in text
    assert "└── backward\n" in text


def test_one_phase_is_no_branch() -> None:
    """Inference has none."""
    assert "── forward" not in printed(example("linear"))


def test_fates_are_words() -> None:
    """What became of the op calls is written, not only coloured."""
    text = printed(geglu())
    assert "eliminated  r2 view-elimination" in text or "eliminated  r1 view-elimination" in text
    assert "fused  " in text


@pytest.mark.parametrize("made", EXAMPLES)
def test_hostile_names_stay_text(made: object) -> None:
    """No escape sequence reaches the terminal, and brackets are shown as they are."""
    assert callable(made)
    assert "\x1b" not in printed(made())


def test_color_is_for_terminals() -> None:
    """A terminal gets colours."""
    assert "\x1b[" in printed(training(), color=True)


def test_a_narrow_terminal_loses_nothing() -> None:
    """Lines wrap at the width."""
    text = printed(example("mlp_geglu"), width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert "cpp_fused_gelu_mul_0" in text.replace("\n", "")
