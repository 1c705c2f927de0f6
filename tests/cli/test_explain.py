"""`compdiff explain`."""

import pytest

from compdiff.cli import run_command


@pytest.mark.parametrize(
    ("rule", "words"), [("pointwise-fusion", "emulate_precision_casts"), ("rng-replaced", "drawn")]
)
def test_says_what_a_rewrite_does_to_the_numbers(
    rule: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line of its own, beside what the rule is."""
    assert run_command(["explain", rule]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("Numbers: ") and words in line for line in lines)


def test_is_silent_where_nothing_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    """A rule without such a sentence has no empty line for it."""
    assert run_command(["explain", "sdpa-pattern"]) == 0
    assert "Numbers:" not in capsys.readouterr().out
