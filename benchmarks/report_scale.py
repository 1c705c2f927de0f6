"""How large, how fast to make and how fast to open the report of a large run is. Prints a table; 1 where a limit is broken.

    python -m benchmarks.report_scale [--layers 100 --layers 1000] [--keep FOLDER]

A layer is 100 op calls. The run is made up (tests/report/layers.py); the page is opened in Chromium from a file.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.report.layers import OPS_A_LAYER, layered

# By op calls: most megabytes, seconds to render, seconds to open.
LIMITS = {10_000: (6.0, 2.0, 1.5), 100_000: (None, None, 4.0)}
# From the start of the navigation until the page has been drawn and answers.
_READY = """() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"""
# The longest time between two frames while the page scrolls by a screen a frame, at most 200 screens.
_SCROLL = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let longest = 0, last = await frame();
  const times = [];
  for (let at = 0, n = 0; at < document.documentElement.scrollHeight && n < 200; at += innerHeight, n += 1) {
    scrollTo({ top: at, behavior: "instant" });
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(times.length * share)];
  return { median: at(0.5), p95: at(0.95), elements: document.querySelectorAll("*").length };
}"""
_SEARCH = """async (words) => {
  const box = document.getElementById("search");
  if (!box) return null;
  const start = performance.now();
  box.value = words;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now() - start;
}"""


def measure(layers: int, folder: Path) -> dict[str, float]:
    """Return the size in MB, the seconds to render and to open, and how smoothly the page of so many layers scrolls."""
    from playwright.sync_api import sync_playwright

    from compdiff.report.html_page import render_page
    from compdiff.report.view import make_page

    made = layered(layers)
    start = time.perf_counter()
    html = render_page(make_page(*made))
    rendered = time.perf_counter() - start
    path = folder / f"layers-{layers}.html"
    path.write_text(html)
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"]
        )
        opened = sorted(_open(browser, path) for _ in range(3))[1]
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.as_uri())
        searched = page.evaluate(_SEARCH, "gelu")
        page.evaluate(_SEARCH, "")
        scrolled = page.evaluate(_SCROLL)
        browser.close()
    return {
        "op calls": layers * OPS_A_LAYER,
        "MB": path.stat().st_size / 1e6,
        "render s": rendered,
        "open s": opened,
        "search ms": searched or 0.0,
        "frame ms": scrolled["median"],
        "frame p95 ms": scrolled["p95"],
        "elements": scrolled["elements"],
    }


def _open(browser: object, path: Path) -> float:
    page = browser.new_page(viewport={"width": 1280, "height": 900})  # type: ignore[attr-defined]
    page.goto(path.as_uri(), wait_until="load")
    seconds = page.evaluate(_READY) / 1_000
    page.close()
    return float(seconds)


def broken(row: dict[str, float]) -> list[str]:
    """Return which limits a row of the table breaks."""
    limits = LIMITS.get(int(row["op calls"]), (None, None, None))
    names = ("MB", "render s", "open s")
    return [
        f"{name} is {row[name]:.2f}, more than {limit}"
        for name, limit in zip(names, limits, strict=True)
        if limit is not None and row[name] > limit
    ]


def main() -> int:
    """Measure each size, print the table and return 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, action="append")
    parser.add_argument("--keep", type=Path, help="folder for the pages")
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    failures = []
    for layers in arguments.layers or (100, 1_000):
        row = measure(layers, folder)
        print("  ".join(f"{name} {value:,.2f}" for name, value in row.items()), flush=True)
        failures += broken(row)
    print("\n".join(failures) or "all limits hold")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
