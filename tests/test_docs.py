"""The documentation: what is made from the code is current, and every link leads somewhere."""

import re
from pathlib import Path

import pytest

from tests.make_reference import FOLDER, pages

ROOT = Path(__file__).resolve().parents[1]
TEXTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a Markdown text."""
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text))
    return {heading.strip().replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("name", pages())
def test_the_reference_is_current(name: str) -> None:
    """docs/reference says what the code says: `make docs` writes it."""
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], "run `make docs`"


def test_nothing_else_is_in_the_reference() -> None:
    """A page of a command or schema that is gone is gone too."""
    assert {path.name for path in FOLDER.iterdir()} == set(pages())


def test_the_reference_is_the_same_each_time() -> None:
    """It depends on nothing but the code."""
    assert pages() == pages()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link names a file that is there, and a heading of it."""
    broken = []
    for link in _LINK.findall(path.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        is_there = target.exists()
        if is_there and anchor and target.suffix == ".md":
            is_there = anchor in anchors(target.read_text(encoding="utf-8"))
        broken += [] if is_there else [link]
    assert broken == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_the_index_names_every_text(path: Path) -> None:
    """docs/README.md leads to each text beside it."""
    if path.name != "README.md":
        assert f"({path.name})" in (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
