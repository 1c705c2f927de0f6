"""Reports of golden runs of each case family in a real browser: sound, silent, open to everyone (axe)."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compdiff.analysis import analyse, compare
from compdiff.report.html_page import render_page
from compdiff.report.view import make_page
from compdiff.store import read_run
from tests.report.browser import Opened, needs_browser
from tests.report.examples import training
from tests.variants import GOLDEN

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs_browser
# One or two of each family: pointwise, products, norms, attention, convolution, losses, training, random numbers, views and
# writes in place, constants, breaks and dynamic shapes, repeated layers; measured on a CPU and planned.
_CASES = (
    "cpu/mlp_geglu", "cpu/linear", "cpu/layernorm_residual", "cpu/attention_sdpa", "cpu/conv_bn_relu", "cpu/cross_entropy",
    "cpu/training_step", "cpu/dropout", "cpu/inplace_update", "cpu/constant_fold", "cpu/graph_break", "cpu/dynamic_batch",
    "cpu/deep_mlp_training", "cpu/embedding_bag", "h200/attention_manual", "h200/softmax", "h200/conv_bn_relu",
)  # fmt: skip
_OPEN_ALL = "document.querySelectorAll('details').forEach((it) => { it.open = true; })"
_DEAD_LINKS = """() => [...document.querySelectorAll("a[href^='#']")].map((it) => it.getAttribute("href").slice(1))
  .filter((id) => id && !document.getElementById(decodeURIComponent(id)))"""
_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_ITEM = "#alignment .item[data-links]:not([data-links=''])"


def page_of(case: str) -> str:
    """Return the report of a golden run, of two compared, or of the example that has everything in it."""
    if case == "example":
        return render_page(make_page(*training()))
    runs = [read_run(GOLDEN.parent / f"{name}.run.json.gz") for name in case.split(" and ")]
    if len(runs) == 2:
        return render_page(make_page(*compare(runs[0], "right", runs[1], "right")))
    return render_page(make_page(runs[0], analyse(runs[0])))


@pytest.mark.parametrize("case", [*_CASES, "cpu/linear and cpu/unfused_bias", "example"])
def test_sound_and_silent(chromium: "Browser", tmp_path: Path, case: str) -> None:
    """No request, no complaint, no id twice; an item lights up with a counterpart; no link leads nowhere."""
    path = tmp_path / "report.html"
    path.write_text(page_of(case))
    opened = Opened(chromium, path, viewport={"width": 1280, "height": 900})
    page = opened.page
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((it) => it.id)")
    assert len(ids) == len(set(ids))
    if page.locator(_ITEM).count():
        page.locator(_ITEM).first.hover()
        assert page.locator(".lit").count() > 1
    page.evaluate(_OPEN_ALL)
    assert opened.requests == [path.as_uri()]
    assert opened.complaints == []
    assert opened.js(_DEAD_LINKS) == []
    opened.close()


# axe takes seconds for a page: one of each kind.
@pytest.mark.parametrize(
    "case",
    [
        "cpu/mlp_geglu",
        "cpu/graph_break",
        "h200/softmax",
        "cpu/linear and cpu/unfused_bias",
        "example",
    ],
)
def test_open_to_everyone(chromium: "Browser", tmp_path: Path, case: str) -> None:
    """Axe finds nothing against WCAG 2.2 AA or its best practices, with all that is folded opened."""
    path = tmp_path / "report.html"
    path.write_text(page_of(case))
    opened = Opened(chromium, path, viewport={"width": 1280, "height": 900})
    opened.js(_OPEN_ALL)
    assert _violations(opened) == []
    opened.close()


def _violations(opened: Opened) -> list[str]:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    found = axe.Axe().run(opened.page, options={"runOnly": list(_TAGS)}).response["violations"]
    return [f"{it['id']}: {it['nodes'][0]['html'][:200]}" for it in found]
