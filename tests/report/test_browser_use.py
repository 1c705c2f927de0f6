"""What a reader does with a report in a real browser: links, pins, search, keys, repetitions, print."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compdiff.report.html_page import render_page
from compdiff.report.view import make_page
from tests.report.browser import Opened, needs_browser
from tests.report.examples import geglu
from tests.report.layers import layered
from tests.variants import planned_golden

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser


@pytest.fixture(name="paths", scope="module")
def _paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {"geglu": geglu(), "layers": layered(52), "training": planned_golden("training_step")}
    paths = {name: folder / f"{name}.html" for name in made}
    for name, example in made.items():
        paths[name].write_text(render_page(make_page(*example)))
    return paths


class Reader:
    """Opens reports, and at the end sees that none complained or asked for anything."""

    def __init__(self, browser: "Browser", paths: dict[str, Path]) -> None:
        self.browser = browser
        self.paths = paths
        self.opened: list[tuple[Opened, str]] = []

    def open(self, name: str, place: str = "", **context: object) -> "Page":
        """Return a page, at a place in it."""
        made = Opened(
            self.browser, self.paths[name], viewport={"width": 1280, "height": 900}, **context
        )
        self.opened.append((made, self.paths[name].as_uri()))
        if place:
            made.page.evaluate("(place) => { location.hash = place; }", place)
        return made.page

    def check(self) -> None:
        """Check that nothing was asked for or complained of, and close all."""
        for made, uri in self.opened:
            assert {request.partition("#")[0] for request in made.requests} == {uri}
            assert made.complaints == []
            made.close()


@pytest.fixture(name="reader")
def _reader(chromium: "Browser", paths: dict[str, Path]) -> Iterator[Reader]:
    reader = Reader(chromium, paths)
    yield reader
    reader.check()


def in_view(page: "Page", selector: str) -> bool:
    """Return whether an element is seen in the window, once the page has come to rest."""
    page.wait_for_timeout(100)
    return bool(
        page.locator(selector).first.evaluate(
            "(it) => { const box = it.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; }"
        )
    )


def classes(page: "Page", selector: str) -> set[str]:
    """Return the classes of an element."""
    return set((page.locator(selector).first.get_attribute("class") or "").split())


# ---------------------------------------------------------------- counterparts


def test_the_keyboard_lights_up_what_the_pointer_does(reader: Reader) -> None:
    """Focus on the link of an op call shows the kernel it became."""
    page = reader.open("geglu")
    page.locator("#e2 a.id").focus()
    assert "lit" in classes(page, "#k0")


def test_a_click_pins_what_a_pointer_elsewhere_leaves_lit(reader: Reader) -> None:
    """Until Escape, and with a link to share in the address."""
    page = reader.open("geglu")
    page.locator("#e2 .signature").click()
    page.mouse.move(5, 5)
    assert "lit" in classes(page, "#k0")
    assert page.url.endswith("#e2")
    assert "e2" in (page.locator("#pinned").text_content() or "")
    page.keyboard.press("Escape")
    assert "lit" not in classes(page, "#k0")
    assert not page.locator("#pinned").is_visible()


def test_ribbons_join_op_calls_and_kernels(reader: Reader) -> None:
    """Each op call on the screen has one, with the colour of its fate."""
    page = reader.open("geglu", "alignment")
    page.wait_for_selector(".ribbons path")
    assert page.locator("#alignment .group:has(#e2) .ribbons path.fate-fused").count() == 1
    page.locator("#e2").hover()
    page.wait_for_selector(".ribbons path.lit")


# ---------------------------------------------------------------- links


@pytest.mark.parametrize("place", ["e30", "r9", "k11", "c13", "code"])
def test_a_link_leads_to_its_item(reader: Reader, place: str) -> None:
    """Also far down in a page of which most has not been drawn yet."""
    page = reader.open("training", place)
    assert in_view(page, f"#{place}")


@pytest.mark.parametrize("place", ["e4217", "r1501", "k1001"])
def test_a_link_leads_into_a_repetition(reader: Reader, place: str) -> None:
    """An item of a layer that is folded away is shown in the place of the first layer's."""
    page = reader.open("layers", place)
    assert in_view(page, f"#{place}")
    assert page.locator("[data-repetition]").first.input_value() != "1"
    assert page.locator(f"#{place}").count() == 1


# ---------------------------------------------------------------- repetitions


def test_stepping_through_repetitions(reader: Reader) -> None:
    """Ids, modules, links and counterparts are those of the repetition shown, and back again."""
    page = reader.open("layers", "f1")
    first = page.locator("[data-fold=f1]").inner_html()
    page.get_by_role("button", name="Next repetition").click()
    assert page.locator("#e100 .detail").first.text_content() == "module layers.1.blocks.0"
    assert page.locator("#e100 a.by").get_attribute("href") == "#r41"
    assert page.locator("#r41 h3").count() == 1
    page.locator("#e102").hover()
    assert "lit" in classes(page, "#k41")
    page.get_by_role("button", name="Previous repetition").click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(50)
    assert page.locator("[data-fold=f1] .name").count() == first.count('class="name"')
    assert page.locator("#e0").count() == 1


def test_what_differs_in_a_repetition_is_shown(reader: Reader) -> None:
    """The 25th layer keeps an op call that the others fuse."""
    page = reader.open("layers", "f1")
    words = page.locator(".unlike").first.text_content() or ""
    assert "Repetition 25" in words
    assert page.locator(".unlike #e2499.fate-kept").is_visible()


def test_repetitions_are_named_without_script(chromium: "Browser", paths: dict[str, Path]) -> None:
    """Their number, where they are, and what differs stand in the page."""
    opened = Opened(chromium, paths["layers"], java_script_enabled=False)
    head = opened.page.locator("#f1 .fold-head")
    assert "x 52" in (head.text_content() or "")
    assert not opened.page.locator(".stepper").first.is_visible()
    assert not opened.page.locator("#search").is_visible()
    opened.close()


# ---------------------------------------------------------------- search and views


@pytest.mark.parametrize(
    ("words", "seen", "unseen"),
    [
        ("pointwise", "#e2", "#e1"),
        ("fate:fused", "#e2", "#e0"),
        ("kernel:cpp_fused", "#k0", "#e1"),
        ("op:aten::mm", "#e1", "#e2"),
        ("rule:pointwise", "#e2", "#e1"),
        ("file:geglu.py", "#e0", ""),
        ("fate:fused op:mul", "#e5", "#e2"),
    ],
)
def test_search(reader: Reader, words: str, seen: str, unseen: str) -> None:
    """Words and fields leave what fits all of them."""
    page = reader.open("geglu", "alignment")
    page.keyboard.press("/")
    page.keyboard.type(words)
    assert page.locator(seen).is_visible()
    assert not unseen or not page.locator(unseen).is_visible()
    assert " of the alignment, " in (page.locator("#search-result").text_content() or "")
    page.keyboard.press("Escape")
    assert page.locator("#e0").is_visible()


def test_search_by_pass(reader: Reader) -> None:
    """A pass is that of the rewrites which an op call takes part in."""
    page = reader.open("training", "alignment")
    page.locator("#search").fill("pass:prepare_softmax_pattern")
    assert page.locator("#e6").is_visible()
    assert not page.locator("#e1").is_visible()


def test_an_id_and_enter(reader: Reader) -> None:
    """Lead to the item, folded away or not."""
    page = reader.open("layers")
    page.locator("#search").fill("e4217")
    page.keyboard.press("Enter")
    assert in_view(page, "#e4217")


def test_changed_only(reader: Reader) -> None:
    """What was kept is a thin line; works without script."""
    page = reader.open("geglu", "alignment", java_script_enabled=False)
    page.locator("#changed-only").check()
    box = page.locator(".group:has(#e1)").bounding_box()
    assert box is not None
    assert box["height"] < 12
    assert page.locator("#e2").is_visible()


def test_unified(reader: Reader) -> None:
    """What became of an op call stands under it, not beside it; works without script."""
    page = reader.open("geglu", "alignment", java_script_enabled=False)
    page.locator("#unified").check()
    left, right = page.locator("#e2").bounding_box(), page.locator("#k0").bounding_box()
    assert left is not None
    assert right is not None
    assert right["y"] >= left["y"] + left["height"]
    assert abs(right["x"] - left["x"]) < 20


# ---------------------------------------------------------------- keys


def test_the_keyboard_path(reader: Reader) -> None:
    """J and k walk the rewrites, u and c change the view, ? explains, Escape ends."""
    page = reader.open("training")
    focused = "document.activeElement.id"
    page.keyboard.press("j")
    assert page.evaluate(focused) == "r1"
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate(focused) == "r2"
    assert in_view(page, "#r2")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()
    page.keyboard.press("u")
    assert page.locator("#unified").is_checked()
    page.keyboard.press("c")
    assert page.locator("#changed-only").is_checked()


def test_keys_are_letters_in_the_search_box(reader: Reader) -> None:
    """Nothing else happens while somebody types."""
    page = reader.open("geglu")
    page.keyboard.press("/")
    page.keyboard.type("juck?")
    assert page.locator("#search").input_value() == "juck?"
    assert not page.locator("#unified").is_checked()


# ---------------------------------------------------------------- paper, frames, long code


@pytest.mark.parametrize("name", ["geglu", "training", "layers"])
def test_print(reader: Reader, name: str) -> None:
    """A report prints to a PDF of several pages."""
    page = reader.open(name, color_scheme="dark")
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert (
        pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page/") + pdf.count(b"/Type /Page ") >= 2
    )


def test_in_a_sandboxed_frame(chromium: "Browser", paths: dict[str, Path], tmp_path: Path) -> None:
    """Where a script may run but nothing else, all works; where none may, all is there."""
    outer = tmp_path / "outer.html"
    source = paths["geglu"].as_uri()
    frame = '<iframe id="{}" sandbox="{}" src="{}" width="1200" height="800"></iframe>'
    frames = (frame.format(flags or "none", flags, source) for flags in ("allow-scripts", ""))
    outer.write_text(f"<!DOCTYPE html><title>frames</title>{''.join(frames)}")
    opened = Opened(chromium, outer)
    scripted = opened.page.frame_locator("#allow-scripts")
    scripted.locator("#e2 .signature").click()
    assert "lit" in (scripted.locator("#k0").get_attribute("class") or "")
    plain = opened.page.frame_locator("#none")
    assert plain.locator("#k0").is_visible()
    errors = [text for text in opened.complaints if "Blocked script execution" not in text]
    assert errors == []
    opened.close()


def test_long_code_is_unpacked(reader: Reader) -> None:
    """Its start stands in the page; when it is opened, all of it."""
    page = reader.open("layers", "code")
    code = page.locator("#dynamo-0")
    assert "gelu_5199" not in (code.locator("code").text_content() or "")
    code.locator("summary").click()
    page.wait_for_function(
        "document.querySelector('#dynamo-0 code').textContent.includes('gelu_5199')"
    )
    assert not code.locator(".cut").is_visible()


def test_two_stages_compared(reader: Reader) -> None:
    """Line by line, with signs, and counted."""
    page = reader.open("training", "code")
    page.locator("#compare-left").select_option(label="Dynamo graph")
    page.locator("#compare-right").select_option(label="Post-grad graph")
    page.locator("#compare").click()
    page.wait_for_selector("#compare-result .plus")
    page.wait_for_selector("#compare-result .minus")
    assert "lines removed" in (page.locator("#compare-summary").text_content() or "")


def test_a_piece_of_code_equals_itself(reader: Reader) -> None:
    """Nothing is removed or added, also where it was packed."""
    page = reader.open("layers", "code")
    page.locator("#compare-left").select_option("dynamo-0")
    page.locator("#compare-right").select_option("dynamo-0")
    page.locator("#compare").click()
    page.wait_for_function("document.querySelector('#compare-summary').textContent")
    assert page.locator("#compare-summary").text_content() == "0 lines removed, 0 added, 5201 equal"


def test_nothing_moves_while_the_page_loads(reader: Reader) -> None:
    """No layout shift: what the script adds has its place before it runs."""
    page = reader.open("training")
    shift = page.evaluate(
        """() => new Promise((done) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
          }).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => done(sum), 300);
        })"""
    )
    assert shift < 0.01
