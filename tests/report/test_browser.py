"""The report in a real browser: wide and narrow, dark and light. Skipped where there is none."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compdiff.report import write_outputs
from compdiff.report.ladder_outputs import write_ladder
from tests.ladder.examples import gpu_ladder
from tests.report.browser import Opened, needs_browser
from tests.report.examples import EXAMPLES, HOSTILE, geglu, traced, training
from tests.variants import planned_golden

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs_browser
# Text on its background, by the rule of WCAG 2 for relative luminance.
_CONTRAST = """() => {
  const channel = (value) => { value /= 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const ratios = [...document.querySelectorAll("body *")]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((element) => element.checkVisibility() && !element.closest("svg"))
    .map((element) => {
      const text = luminance(numbers(getComputedStyle(element).color));
      const ground = luminance(background(element));
      return [(Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05), element.outerHTML.slice(0, 120)];
    });
  return ratios.sort((a, b) => a[0] - b[0])[0];
}"""


@pytest.fixture(
    name="report",
    params=[*EXAMPLES, "planned", "ladder"],
    ids=lambda it: getattr(it, "__name__", it),
)
def _report(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = request.param
    if made == "ladder":
        return write_ladder(gpu_ladder(), tmp_path)[1]
    run, diff = planned_golden("training_step") if made == "planned" else made()
    return write_outputs(run, diff, tmp_path).html


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_asks_for_nothing_and_complains_of_nothing(
    chromium: "Browser", report: Path, scheme: str
) -> None:
    """The file itself is the only request, and the console stays empty."""
    opened = Opened(chromium, report, color_scheme=scheme)
    assert opened.requests == [report.as_uri()]
    assert opened.complaints == []


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_does_not_scroll_sideways(chromium: "Browser", report: Path, width: int) -> None:
    """Wide tables scroll in themselves, the page does not."""
    opened = Opened(chromium, report, viewport={"width": width, "height": 900})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(chromium: "Browser", report: Path, scheme: str) -> None:
    """All text has a contrast of at least 4.5 to 1."""
    opened = Opened(chromium, report, color_scheme=scheme)
    opened.page.evaluate(
        "document.querySelectorAll('details').forEach((it) => { it.open = true; })"
    )
    ratio, element = opened.page.evaluate(_CONTRAST)
    assert ratio >= 4.5, element


def test_counterparts_light_up(chromium: "Browser", tmp_path: Path) -> None:
    """Whoever points at an op call sees the kernel that it became."""
    opened = Opened(chromium, write_outputs(*geglu(), tmp_path).html)
    before = opened.page.locator("#k0").get_attribute("class")
    opened.page.locator("#e2").hover()
    assert opened.page.locator("#k0").get_attribute("class") != before


def test_hostile_names_run_nothing(chromium: "Browser", tmp_path: Path) -> None:
    """No dialog, no image, no error."""
    dialogs: list[str] = []
    opened = Opened(chromium, write_outputs(*training(), tmp_path).html)
    opened.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    opened.page.reload()
    assert dialogs == []
    assert opened.page.locator("img").count() == 0


def test_a_link_opens_what_is_folded(chromium: "Browser", tmp_path: Path) -> None:
    """A pasted link to a kernel's row shows that row."""
    path = write_outputs(*geglu(), tmp_path).html
    opened = Opened(chromium, path)
    opened.page.goto(f"{path.as_uri()}#k0")
    assert opened.page.locator("#k0").is_visible()


def test_without_script_all_is_there(chromium: "Browser", tmp_path: Path) -> None:
    """The script only adds to what stands in the page."""
    path = write_outputs(*geglu(), tmp_path).html
    opened = Opened(chromium, path, java_script_enabled=False)
    assert opened.page.get_by_text("pointwise-fusion").first.is_visible()
    assert opened.page.locator("#k0").is_visible()


# What ui.perfetto.dev does for a page that opened it: it answers PING with PONG, and takes a trace.
_PERFETTO = """<!DOCTYPE html><title>Perfetto</title><script>
window.addEventListener("message", (event) => {
  if (event.data === "PING") event.source.postMessage("PONG", "*");
  else document.title = "taken", window.taken = event.data.perfetto;
});
</script>"""


def test_perfetto_gets_a_trace_of_both_sides(chromium: "Browser", tmp_path: Path) -> None:
    """On a click, and not before, the other window is opened and handed a Chrome trace with a process for each side."""
    path = write_outputs(*traced(), tmp_path).html
    opened = Opened(chromium, path)
    opened.page.context.route(
        "https://ui.perfetto.dev/**",
        lambda route: route.fulfill(body=_PERFETTO, content_type="text/html"),
    )
    with opened.page.expect_popup() as popup:
        opened.page.get_by_role("button", name="Open in Perfetto").click()
    other = popup.value
    other.wait_for_function("window.taken")
    title, text = other.evaluate(
        "[window.taken.title, new TextDecoder().decode(window.taken.buffer)]"
    )
    assert title == f"compdiff: a-against-b {HOSTILE}"
    assert opened.requests == [path.as_uri()]
    assert opened.complaints == []
    _check_trace(json.loads(text)["traceEvents"])


def _check_trace(events: list[dict[str, Any]]) -> None:
    """Check that both sides are processes, with each op call, launch and kernel at its time, tied by flows."""
    names = {it["pid"]: it["args"]["name"] for it in events if it["name"] == "process_name"}
    assert names == {1: "eager", 2: "compiled"}
    threads = [it["args"]["name"] for it in events if it["name"] == "thread_name"]
    assert threads[:4] == ["op calls, thread 1", "op calls, thread 2", "launches", "stream 7"]
    complete = [it for it in events if it["ph"] == "X"]
    assert len(complete) == 8 + 5
    (gemm,) = [it for it in complete if it["args"].get("item") == "ek0"]
    assert (gemm["name"], gemm["ts"], gemm["dur"]) == ("gemm", 30, 20)
    assert gemm["args"]["fate"] == "kept"
    assert HOSTILE in {it["name"] for it in complete}
    starts = {it["id"]: it["ts"] for it in events if it["ph"] == "s"}
    ends = {it["id"]: it["ts"] for it in events if it["ph"] == "f"}
    assert starts == {"1-1": 20, "1-2": 60, "1-3": 92, "2-1": 10, "2-2": 30}
    assert ends == {"1-1": 30, "1-2": 70, "1-3": 90, "2-1": 20, "2-2": 40}


def test_no_answer_no_trace(chromium: "Browser", tmp_path: Path) -> None:
    """A window that does not answer is handed nothing, and closing it ends the asking."""
    opened = Opened(chromium, write_outputs(*traced(), tmp_path).html)
    silent = _PERFETTO.replace('"PONG"', '"who are you"')
    opened.page.context.route(
        "https://ui.perfetto.dev/**",
        lambda route: route.fulfill(body=silent, content_type="text/html"),
    )
    with opened.page.expect_popup() as popup:
        opened.page.get_by_role("button", name="Open in Perfetto").click()
    popup.value.wait_for_timeout(300)
    assert popup.value.evaluate("window.taken === undefined")
    popup.value.close()
    opened.page.wait_for_timeout(200)
    assert opened.complaints == []


def test_the_timeline_is_there_without_script(chromium: "Browser", tmp_path: Path) -> None:
    """Bars, titles, facts and the profiler's table need none; the button, which does, is not shown."""
    path = write_outputs(*traced(), tmp_path).html
    opened = Opened(chromium, path, java_script_enabled=False)
    assert opened.page.locator('.timeline [data-of="k1"] rect').is_visible()
    assert "gemm (ek0), kept" in (opened.page.locator('[data-of="ek0"] title').text_content() or "")
    assert opened.page.get_by_text("Device busy", exact=True).is_visible()
    assert not opened.page.get_by_role("button", name="Open in Perfetto").is_visible()


@pytest.mark.parametrize("width", [400, 1280])
def test_lanes_lie_on_one_axis(chromium: "Browser", tmp_path: Path, width: int) -> None:
    """The same time has the same place in the lanes of both sides; the picture scrolls in its own box."""
    path = write_outputs(*traced(), tmp_path).html
    opened = Opened(chromium, path, viewport={"width": width, "height": 900})
    place = (
        "(id) => document.querySelector(`.timeline [data-of=${id}] rect`).getBoundingClientRect()"
    )
    left, right = (opened.page.evaluate(f"{place}", item) for item in ("ek1", "k1"))
    # From 70 us on the left, from 40 us on the right, on an axis of 120 us.
    lane = opened.page.locator(".timeline .lane").first.bounding_box()
    assert lane is not None
    assert lane["width"] > 700
    assert left["x"] - right["x"] == pytest.approx(lane["width"] * 30 / 120, abs=1)


def test_pointing_at_a_bar_lights_up_its_counterparts(chromium: "Browser", tmp_path: Path) -> None:
    """The bar of a fused op call and that of the kernel which does its work are shown together."""
    opened = Opened(chromium, write_outputs(*traced(), tmp_path).html)
    opened.page.locator('.timeline [data-of="e1"]').hover()
    classes = opened.page.locator('.timeline [data-of="k1"]').get_attribute("class") or ""
    assert "lit" in classes.split()


@pytest.mark.parametrize("width", [400, 1280])
def test_the_bars_of_a_ladder(chromium: "Browser", tmp_path: Path, width: int) -> None:
    """Each bar is as long as its step, without a script; words in it stay within their segment."""
    _, path = write_ladder(gpu_ladder(), tmp_path)
    opened = Opened(
        chromium, path, viewport={"width": width, "height": 900}, java_script_enabled=False
    )
    chart = opened.page.locator(".ladder-bars")
    assert chart.is_visible()
    lengths = opened.page.evaluate(_BAR_LENGTHS)
    assert lengths["eager"] / lengths["aot_eager"] == pytest.approx(529 / 647, abs=0.01)
    assert lengths["reduce-overhead"] / lengths["aot_eager"] == pytest.approx(144 / 647, abs=0.01)
    assert opened.page.evaluate(_WORDS_THAT_STICK_OUT) == []


# Of a bar, from the first segment to the last.
_BAR_LENGTHS = """() => {
  const lengths = {};
  for (const group of document.querySelectorAll(".ladder-bars g[class^=part-]")) {
    const rung = group.querySelector("title").textContent.split(",")[0];
    lengths[rung] = (lengths[rung] || 0) + group.querySelector("rect").getBoundingClientRect().width;
  }
  return lengths;
}"""
_WORDS_THAT_STICK_OUT = """() => [...document.querySelectorAll(".ladder-bars g[class^=part-]")]
  .filter((group) => group.querySelector("text"))
  .filter((group) => {
    const box = group.querySelector("rect").getBoundingClientRect();
    const words = group.querySelector("text").getBoundingClientRect();
    return words.left < box.left || words.right > box.right;
  })
  .map((group) => group.textContent)"""
