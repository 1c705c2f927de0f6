"""The views of an archive's site: what changed lately, versions of torch, histories."""

import msgspec
import pytest

from compdiff.archive import Commit, Entry
from compdiff.archive.entry import SideNumbers
from compdiff.regression.site import case_page, lines_by_case, page_name, site_index
from compdiff.report.site_pages import render_case_page, render_site_index
from tests.regression.test_levels import entries, entry

HOSTILE = '"><script>alert(1)</script>\x1b[31m'
replace = msgspec.structs.replace


def with_kernels(one: Entry, count: int) -> Entry:
    """Return the entry with so many kernels."""
    return replace(one, right=replace(one.right, kernels=count))


def late(*found: Entry) -> list[tuple[str, str]]:
    """Return kind and text of what changed lately."""
    return [(one.kind, one.text) for one in site_index(lines_by_case(found)).changes]


def test_the_worst_comes_first() -> None:
    """Wrong outputs before lost rewrites before kernels, before what got better."""
    first, second = entries([0.8, 0.8])
    before = replace(with_kernels(first, 1), rules={"fusion": 2}, numerics_within=True)
    after = replace(with_kernels(second, 2), rules={"fusion": 1}, numerics_within=False)
    other = [
        replace(with_kernels(one, count), case="other")
        for one, count in zip((first, second), (2, 1), strict=True)
    ]

    assert late(before, after, *other) == [
        ("worse", "outputs agree yes → no"),
        ("worse", "fusion 2 → 1"),
        ("worse", "kernels 1 → 2"),
        ("better", "kernels 2 → 1"),
    ]


def test_equal_runs_changed_nothing() -> None:
    """Another commit or torch alone is no change."""
    first, second = entries([0.8, 0.8])

    assert late(first, replace(second, torch="2.15.0")) == []


def test_another_level_of_time_is_told() -> None:
    """A slowdown that stays is one line; what is long past is none."""
    slower = entries([*[0.8] * 10, *[0.9] * 5])
    past = entries([*[0.8] * 10, *[0.9] * 30])

    assert late(*slower) == [("worse", "compiled time beside eager mode +12.5% (now 0.900)")]
    assert late(*past) == []


def test_a_cell_for_each_version() -> None:
    """In the order of versions; a version without run is empty; what got worse is marked."""
    found = [
        replace(with_kernels(one, count), torch=torch)
        for one, count, torch in zip(
            entries([0.8, 0.7, 0.9]), (1, 1, 2), ("2.9.1", "2.10.0+cu130", "2.14.0"), strict=True
        )
    ]
    other = replace(found[0], case="other", torch="2.14.0")

    page = site_index(lines_by_case([*found, other]))

    assert page.versions == ("2.9.1", "2.10.0", "2.14.0")
    assert [cell.text for cell in page.matrix[0].cells] == ["0.80x", "0.70x", "0.90x"]
    assert [cell.kind for cell in page.matrix[0].cells] == ["", "", "worse"]
    assert [cell.text for cell in page.matrix[1].cells] == ["", "", "0.80x"]


def test_a_history_newest_first() -> None:
    """Rows with what changed from the run before, links to the reports that there are, and both charts."""
    found = entries([0.8, 0.8, 0.8], clock=0.0)
    found[2] = with_kernels(found[2], 5)
    page = case_page("one", lines_by_case(found)["one"], {found[2].id: "../reports/x.html"})

    (line,) = page.lines
    assert [row.id for row in line.rows] == [one.id[:12] for one in reversed(found)]
    assert [row.changed for row in line.rows] == [("kernels 1 → 5",), (), ()]
    assert [row.href for row in line.rows] == ["../reports/x.html", "", ""]
    assert [chart.title for chart in line.charts] == [
        "Time per call",
        "Compiled time over eager time of the same run",
    ]


def test_plans_have_counts_in_place_of_times() -> None:
    """A plan was not timed."""
    side = SideNumbers(op_calls=2, launches=0, kernels=3)
    plan = replace(entry(0, "a", 1, 1), left=side, right=side, target="h200", basis="planned")
    page = case_page("one", lines_by_case([plan])["one"], {})

    assert page.lines[0].title.startswith("plan for h200")
    assert [chart.title for chart in page.lines[0].charts] == [
        "Op calls and kernels of the compiled side"
    ]


def test_long_histories_are_cut() -> None:
    """The newest are shown, and how many are not."""
    page = case_page("one", lines_by_case(entries([0.8] * 230))["one"], {})

    assert (len(page.lines[0].rows), page.lines[0].more) == (200, 30)
    assert page.summary.startswith("230 runs")


def test_options_are_part_of_the_title() -> None:
    """Runs of other options are a history of their own."""
    first, second = entries([0.8, 0.8])
    frozen = replace(second, options='{"options":{"freezing":true}}', device_name="CPU")

    titles = [line.place for line in lines_by_case([first, frozen])["one"]]

    assert sorted(titles) == ["", "CPU, freezing=true"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", "..", "é" * 300, HOSTILE])
def test_names_of_pages_stay_in_their_folder(name: str) -> None:
    """Letters, digits and dashes, and different for different cases."""
    found = page_name(name)

    assert found.removesuffix(".html").replace("-", "").isalnum()
    assert found.isascii()
    assert len(found) < 100
    assert found != page_name(f"{name}.")


def test_hostile_texts_are_text() -> None:
    """Nothing from an archive becomes markup."""
    first, second = entries([0.8, 0.8])
    texts = {"case": HOSTILE, "device_name": HOSTILE, "torch": HOSTILE, "options": HOSTILE}
    bad = [
        replace(one, **texts, tags=(HOSTILE,), failure=failure, commit=Commit(id=HOSTILE))
        for one, failure in ((first, ""), (second, HOSTILE))
    ]
    by_case = lines_by_case(bad)

    pages = (
        render_site_index(site_index(by_case)),
        render_case_page(case_page(HOSTILE, by_case[HOSTILE], {})),
    )

    for page in pages:
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page
