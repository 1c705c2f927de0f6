"""`compdiff archive site`: pages that need no network."""

import re
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from compdiff.archive import Archive, Commit
from compdiff.cli import run_command
from tests.archive.runs import in_environment, measured_again
from tests.builders import timing
from tests.variants import golden, planned_golden, uncompiled


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> str:
    """Make an archive of two cases, one of which lost its rewrite and is slower since the seventh run, and a plan."""
    place = str(tmp_path / "archive")
    linear = golden("linear")
    with closing(Archive.create(place)) as archive:
        for turn in range(12):
            run = linear if turn < 6 else in_environment(uncompiled(linear), torch="2.15.0")
            times = timing(1_000_000, 800_000 if turn < 6 else 900_000)
            run = measured_again(msgspec.structs.replace(run, timing=times), turn)
            archive.add(run, commit=Commit(id=f"{turn:02x}" * 20))
        archive.add(golden("softmax"))
        archive.add(planned_golden("mlp_geglu")[0])
    return place


def site(place: str, out: Path, *words: str) -> int:
    """Return the exit code."""
    return run_command(["archive", "site", str(out), "--archive", place, *words])


def test_every_link_leads_to_a_page(place: str, tmp_path: Path) -> None:
    """The front page, a page a case, and the reports of the newest runs; nothing is loaded from elsewhere."""
    assert site(place, tmp_path / "site") == 0

    pages = list((tmp_path / "site").rglob("*.html"))
    assert len([page for page in pages if page.parent.name == "cases"]) == 3
    assert len([page for page in pages if page.parent.name == "reports"]) == 3
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text
        if page.parent.name != "reports":
            for link in re.findall(r'href="([^"#]+)"', text):
                assert link == "data:," or (page.parent / link).resolve().exists()


def test_what_changed_lately_is_on_the_front(place: str, tmp_path: Path) -> None:
    """The lost rewrite and the slower level, worst first, and both versions of torch."""
    assert site(place, tmp_path / "site") == 0

    text = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    slower, lost = (
        text.index("compiled time beside eager mode +12"),
        text.index("mm-add-to-addmm 1 → 0"),
    )
    assert slower < lost
    assert "torch 2.14.1" in text
    assert "torch 2.15.0" in text


def test_filters_choose_the_runs(place: str, tmp_path: Path) -> None:
    """`--case` and the others mean what they do in `list`; nothing to show is an error."""
    assert site(place, tmp_path / "site", "--case", "softmax", "--reports", "0") == 0
    assert [page.parent.name for page in (tmp_path / "site").rglob("*.html")] == ["site", "cases"]

    assert site(place, tmp_path / "none", "--case", "nothing") == 2
    assert not (tmp_path / "none").exists()


def test_writing_again_keeps_the_reports(place: str, tmp_path: Path) -> None:
    """A run never changes, so its report is written once; the pages are the same bytes."""
    out = tmp_path / "site"
    assert site(place, out) == 0
    before = {page: (page.stat().st_mtime_ns, page.read_bytes()) for page in out.rglob("*.html")}

    assert site(place, out) == 0

    for page, (written, content) in before.items():
        assert page.read_bytes() == content
        assert page.parent.name != "reports" or page.stat().st_mtime_ns == written
