"""How an item is shown."""

import pytest

from compdiff.model import Comparison
from compdiff.report.html_page import template_folder
from compdiff.report.lookup import Lookup
from compdiff.report.shades import LAUNCH, NO_OP_CALL, SEVERAL, SHADES, shade_of
from tests.builders import capture, diff, kernel, op, run


def lookup(comparison: Comparison | None = None) -> Lookup:
    """Return two op calls that became right kernels of each kind, and left kernels with and without an op call."""
    left = capture(
        "eager", (op(0), op(1)), (kernel(0, op_call=0), kernel(1, kind="library", op_call=None))
    )
    right = capture("compiled", (), tuple(kernel(number) for number in range(4)))
    fates = {"e0": ("kept", ""), "e1": ("fused", "")}
    origins = {"k0": ("e1",), "k1": ("e0", "e1"), "k2": "by the compiler", "k3": ""}
    return Lookup(run(left, right), diff(fates, origins, comparison=comparison))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("item", "shade"),
    [
        ("e0", "kept"), ("ek0", "kept"), ("ek1", NO_OP_CALL), ("k0", "fused"), ("k1", SEVERAL),
        ("k2", "introduced"), ("k3", "unexplained"),
    ],
)  # fmt: skip
def test_the_shade_of_each_kind_of_item(item: str, shade: str) -> None:
    """Left items have their fate, right ones that of what they came from."""
    assert shade_of(lookup(), item) == shade


def test_what_only_b_has_is_added() -> None:
    """In a comparison of two runs nothing is introduced by a compiler."""
    assert shade_of(lookup(Comparison()), "k2") == "added"


def test_every_shade_has_a_colour() -> None:
    """The style sheet knows each, and the sign of the badge of the same name."""
    style = (template_folder() / "report.css").read_text(encoding="utf-8")
    escapes = {"×": "\\00d7", "−": "\\2212"}  # noqa: RUF001 - the signs
    for kind, shade in SHADES.items():
        assert f".fate-{kind.replace(' ', '-')}" in style
        if kind not in {SEVERAL, NO_OP_CALL, LAUNCH}:
            assert f'--sign: "{escapes.get(shade.sign, shade.sign)}"' in style
