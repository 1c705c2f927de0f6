"""Makes the pictures of README.md and docs/ from golden runs, in Chromium. Run: python docs/make_images.py."""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from compdiff.analysis import analyse
from compdiff.report.html_page import render_page
from compdiff.report.view import make_page
from compdiff.store import read_run

ROOT = Path(__file__).resolve().parent.parent
# Picture, golden run, place in the page, height.
_PICTURES = (
    ("linear.png", "h200/linear-size4096", "", 1180),
    ("layers.png", "cpu/deep_mlp_training", "alignment", 760),
)
_FLAGS = ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"]


def main() -> int:
    """Write all pictures; 2 where there is no Chromium."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.stderr.write("No Chromium here. Debian: apt-get install chromium\n")
        return 2
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        for name, case, place, height in _PICTURES:
            run = read_run(ROOT / "tests" / "golden" / f"{case}.run.json.gz")
            path = Path(folder) / "report.html"
            path.write_text(render_page(make_page(run, analyse(run))))
            page = browser.new_page(
                viewport={"width": 1280, "height": height}, color_scheme="light"
            )
            page.goto(f"{path.as_uri()}{f'#{place}' if place else ''}")
            page.wait_for_timeout(500)
            page.screenshot(path=ROOT / "docs" / "images" / name)
            page.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
