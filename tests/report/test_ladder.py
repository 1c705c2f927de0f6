"""The ladder for people: texts, bars, the page, the terminal."""

import io
import re
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from compdiff.kineto.split import OTHER, PARTS
from compdiff.ladder.build import Climbed, make_ladder
from compdiff.ladder.records import Ladder, Payback, Speed
from compdiff.ladder.rungs import RUNGS
from compdiff.report.ladder_bars import LEFT, draw_bars
from compdiff.report.ladder_outputs import LadderEntry, write_ladder, write_ladder_index
from compdiff.report.ladder_parts import LABELS, make_part_table
from compdiff.report.ladder_terminal import terminal_ladder
from compdiff.report.ladder_view import LadderPage, make_ladder_page, payback_text, speed_words
from tests.ladder.examples import SPEC, climbed, gpu_ladder, rung_run, timing
from tests.report.test_html_page import Elements
from tests.variants import planned_golden


def planned_ladder() -> Ladder:
    """Return the ladder of a golden plan."""
    plan, _ = planned_golden("linear-size64")
    return make_ladder(SPEC, [Climbed(kind=kind, run=plan) for kind in RUNGS])


def page_of(ladder: Ladder) -> LadderPage:
    """Return the page of a ladder."""
    return make_ladder_page(ladder, "report.html")


def printed(ladder: Ladder, width: int = 120, *, color: bool = False) -> str:
    """Return what the terminal shows."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=color, highlight=False)
    console.print(terminal_ladder(page_of(ladder), Path("out/ladder.html")))
    return file.getvalue()


# ---------------------------------------------------------------- texts


def test_a_change_in_words() -> None:
    """The speed with its interval, then counts, parts that surely changed, parts that surely did not."""
    change = page_of(gpu_ladder()).changes[2]
    assert change.title == "default -> reduce-overhead"
    assert change.verdict == "faster"
    speed, counts, parts, same, *others = change.sentences
    assert re.fullmatch(r"2\.3\dx faster \(2\.\d\d to 2\.\d\d; noise alone may make .* %\)", speed)
    assert counts == "launches 2 -> 1"
    assert "launches 41.1 us -> 5.99 us" in parts
    assert "op calls 60.2 us -> none" in parts
    assert same == "the same: device work and guards and cache lookup"
    assert others == ["the same generated code", "replayed as a CUDA graph"]


def test_noise_is_never_told_as_a_difference() -> None:
    """On a busy machine no sentence gives a time before and after, and no rung a speed."""
    busy = timing(500_000, 130_000, others_cpu=0.5)
    found = [
        Climbed(kind=it.kind, run=msgspec.structs.replace(it.run, timing=busy))
        for it in climbed("aot_eager", "default", "reduce-overhead")
        if it.run is not None
    ]
    page = page_of(make_ladder(SPEC, found))
    sentences = [text for change in page.changes for text in change.sentences]
    assert not [text for text in sentences if " us -> " in text or "x faster" in text]
    assert {row.speed for row in page.rungs[1:]} == {"speed unclear"}
    assert {row.payback for row in page.rungs[1:]} == {"unclear"}
    assert any("other processes used up to 50.0 % of the CPU" in text for text in page.notices)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("faster", "2.00x faster"),
        ("slower", "2.00x slower"),
        ("same", "as fast within noise"),
        ("unclear", "speed unclear"),
    ],
)
def test_speed_in_words(verdict: str, words: str) -> None:
    """Only a verdict gives a number."""
    ratio = 0.5 if verdict == "slower" else 2.0
    made = {"verdict": verdict, "median": ratio, "low": ratio, "high": ratio, "noise": None}
    assert speed_words(msgspec.convert(made, Speed)) == words


@pytest.mark.parametrize(
    ("payback", "text"),
    [
        (None, "-"),
        (Payback(state="unknown", compile_ns=0), "-"),
        (Payback(state="never", compile_ns=5), "never"),
        (Payback(state="unclear", compile_ns=5), "unclear"),
        (
            Payback(state="pays", compile_ns=5, calls=1200, low=900, high=1500),
            "1,200 (900 to 1,500)",
        ),
        (Payback(state="pays", compile_ns=5, calls=3, low=3, high=3), "3"),
    ],
)
def test_payback_in_words(payback: Payback | None, text: str) -> None:
    """A number with its interval, or why there is none."""
    assert payback_text(payback) == text


def test_one_sentence_for_all_rungs() -> None:
    """Measured: against eager mode; planned: by kernels, launches and the estimate; a failed rung says so."""
    sentence = page_of(gpu_ladder()).sentence
    assert sentence.startswith(
        "Eager mode: 498 us a call. aot_eager 1.24x slower; default 1.66x faster;"
    )
    assert sentence.endswith("max-autotune failed.")
    assert (
        "default 2 kernels in 2 launches, 4.00 us estimated" in page_of(planned_ladder()).sentence
    )


def test_an_empty_ladder_is_a_page() -> None:
    """Where no rung left a run, the page says so of each."""
    nothing = make_ladder(SPEC, [Climbed(kind=kind, failure="no torch") for kind in RUNGS])
    page = page_of(nothing)
    assert page.sentence.startswith("Eager mode: not measured. aot_eager failed;")
    assert (page.parts, page.bars, page.changes) == (None, None, ())


def test_estimates_that_read_the_same_are_told_once() -> None:
    """No sentence has a number on both sides of an arrow that is the same."""
    change = page_of(planned_ladder()).changes[0]
    assert change.sentences[1] == (
        "estimated device work the same (4.00 us), memory traffic the same (48.0 KiB)"
    )


# ---------------------------------------------------------------- parts


def test_all_parts_have_words() -> None:
    """A part without a label could not be shown."""
    assert list(LABELS) == [*PARTS, OTHER]


def test_parts_and_sums() -> None:
    """A row for each part, a column for each rung that was split; idle is what is not device work."""
    table = make_part_table(gpu_ladder())
    assert table is not None
    assert table.rungs == ("eager", "aot_eager", "default", "reduce-overhead")
    assert [row.name for row in table.rows] == [
        "device",
        "launches",
        "lookup",
        "wrapper",
        "op_calls",
        "wait",
        "other",
    ]
    assert [cell.time for cell in table.rows[-2].cells] == ["-", "-", "-", "7.99 us"]
    assert table.rows[1].cells[2].host == "61.6 us in all"
    assert table.totals[3] == "144 us"
    assert table.idle[3] == "74.2 us, 51.5 %"


def test_a_cpu_has_no_idle_device() -> None:
    """Without a device there is no idle time, and no word of one."""
    table = make_part_table(_on_cpu())
    assert table is not None
    assert table.idle == ()
    assert not [row for row in table.rows if "device is idle" in row.means]


def _on_cpu() -> Ladder:
    """Return a ladder of one rung whose steps ran nothing on a device."""
    run = rung_run("default")
    sides = {}
    for side, capture in (("left", run.left), ("right", run.right)):
        splits = tuple(
            msgspec.structs.replace(
                it,
                total_ns=it.total_ns - it.parts_ns["device"],
                parts_ns={name: ns for name, ns in it.parts_ns.items() if name != "device"},
                host_ns={},
            )
            for it in capture.splits
        )
        sides[side] = msgspec.structs.replace(capture, splits=splits)
    return make_ladder(
        SPEC,
        [Climbed(kind=RUNGS[1], run=msgspec.structs.replace(run, **sides))],
    )


# ---------------------------------------------------------------- bars


def test_segments_follow_each_other() -> None:
    """Each begins where the one before ends, and the longest bar fills the room."""
    bars = draw_bars(gpu_ladder())
    assert bars is not None
    for bar in bars.bars:
        at = float(LEFT)
        for segment in bar.segments:
            assert float(segment.x) == pytest.approx(at, abs=0.11)
            at = float(segment.x) + float(segment.width)
    ends = [float(it.segments[-1].x) + float(it.segments[-1].width) for it in bars.bars]
    assert max(ends) == pytest.approx(float(bars.ticks[-1].x), abs=0.2)
    assert bars.bars[1].median == "unprofiled median 621 us"


def test_labels_stand_where_they_fit() -> None:
    """A narrow segment has its words in its title alone."""
    bars = draw_bars(gpu_ladder())
    assert bars is not None
    labels = {segment.part: segment.label for segment in bars.bars[3].segments}
    assert labels["lookup"] == ""
    assert bars.bars[0].segments[0].label == "device work"
    titles = [segment.title for segment in bars.bars[3].segments]
    assert "launches: 5.99 us, 4.2 %" in titles


def test_a_plan_has_no_bars() -> None:
    """Nothing was run, so there is nothing to draw."""
    assert draw_bars(planned_ladder()) is None


# ---------------------------------------------------------------- the page


def test_writes_page_and_json(tmp_path: Path) -> None:
    """Both files stand in the case's folder, and links lead to the reports of the rungs."""
    _, html = write_ladder(gpu_ladder(), tmp_path / "case")
    assert html == tmp_path / "case" / "ladder.html"
    assert {it.name for it in html.parent.iterdir()} == {"ladder.html", "ladder.json"}
    elements = Elements(html.read_text())
    links = [link for link in elements.every("href") if not link.startswith(("data:", "#"))]
    assert links == [f"{name}/report.html" for name in ("aot_eager", "default", "reduce-overhead")]


def test_outside_text_stays_text(tmp_path: Path) -> None:
    """The case's summary and a failure's message are shown as they are."""
    _, html = write_ladder(gpu_ladder(), tmp_path)
    elements = Elements(html.read_text())
    assert "b" not in {tag for tag, _ in elements.found}
    words = "".join(elements.words)
    assert "A case <b>." in words
    assert "case: ran out of <memory>" in words
    assert "style" not in {name for _, found in elements.found for name in found}


def test_the_picture_has_its_table(tmp_path: Path) -> None:
    """Each part of each bar stands in the table below, and the picture says what it shows."""
    page, html = write_ladder(gpu_ladder(), tmp_path)
    words = " ".join(Elements(html.read_text()).words)
    assert page.parts is not None
    for row in page.parts.rows:
        assert row.label in words
        assert all(cell.time in words for cell in row.cells)
    assert 'role="img" aria-label="The profiled step of each rung' in html.read_text()


def test_a_planned_page_invents_no_times(tmp_path: Path) -> None:
    """It has estimates, says what they are, and neither a time per call nor a picture."""
    _, html = write_ladder(planned_ladder(), tmp_path)
    words = " ".join(Elements(html.read_text()).words)
    assert "Device work, estimated" in words
    assert "Time per call" not in words
    assert "cannot be known without the device" in words
    assert "<svg class=" not in html.read_text()


def test_an_index_of_ladders(tmp_path: Path) -> None:
    """A row for each case, from eager mode to the default rung, with the rungs that failed; links are safe."""
    page = page_of(gpu_ladder())
    entries = [LadderEntry(case="a b", page=page), LadderEntry(case="gone", failure="no torch")]
    text = write_ladder_index(tmp_path, entries).read_text()
    elements = Elements(text)
    assert "a%20b/ladder.html" in elements.every("href")
    words = " ".join(elements.words)
    for expected in ("1.66x faster", "3 → 1", "incomplete", "max-autotune: case: ran", "no torch"):
        assert expected in words


# ---------------------------------------------------------------- the terminal


def test_the_terminal_shows_all_rungs() -> None:
    """Rungs, parts, changes, the failure with its reason, and where the page is."""
    text = printed(gpu_ladder())
    assert re.search(r"default +300 us \(299 to 301\) +1\.66x faster", text)
    assert re.search(r"max-autotune +failed +- ", text)
    assert re.search(r"launches +89\.5 us +80\.3 us +41\.1 us +5\.99 us", text)
    assert "failed max-autotune: case: ran out of <memory>" in text
    assert "default -> reduce-overhead" in text
    assert "ladder out/ladder.html" in text
    assert "\x1b" not in text


def test_a_terminal_gets_colours_but_no_escapes_from_outside() -> None:
    """Control characters of a message are spelled out."""
    ladder = make_ladder(
        SPEC, [*climbed("aot_eager"), Climbed(kind=RUNGS[1], failure="\x1b[31mred")]
    )
    assert "\x1b[31mred" not in printed(ladder)
    assert "\x1b[" in printed(ladder, color=True)


def test_a_plan_in_the_terminal() -> None:
    """Kernels, launches and estimates; no time per call."""
    text = printed(planned_ladder())
    assert "device work, estimated" in text
    assert "time per call" not in text
    assert "note nothing was run on a GPU" in text
