"""Baselines in an archive: which runs a case is compared with, and what accepting leaves."""

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from compdiff.archive import Archive, Commit, Filter
from compdiff.cli import run_command
from compdiff.cli.baseline import accept, from_archive
from compdiff.model import Run
from compdiff.regression.config import Config
from compdiff.store import write_run
from tests.archive.runs import in_environment, measured_again, of_case
from tests.builders import timing
from tests.variants import golden, planned_golden, uncompiled

LINEAR = ("linear", "cpu")
replace = msgspec.structs.replace


@pytest.fixture(name="place")
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Archive.create(str(tmp_path / "archive")).close()
    return str(tmp_path / "archive")


def timed(turn: int, compiled_ns: int = 800_000, **environment: str | bool) -> Run:
    """Return a run of linear that was measured at another time."""
    run = in_environment(golden("linear"), **{"host": "here", **environment})
    return measured_again(replace(run, timing=timing(1_000_000, compiled_ns)), turn)


def add(place: str, *runs: Run, tag: str = "", commit: str = "") -> list[str]:
    """Add runs, and return their ids."""
    with closing(Archive.open(place)) as archive:
        ids = [archive.add(run, commit=Commit(id=commit)) for run in runs]
        for run_id in ids if tag else ():
            archive.tag(run_id, tag)
    return [str(run_id) for run_id in ids]


def planned() -> Run:
    """Return a plan of a case of the same name."""
    return of_case(planned_golden("mlp_geglu")[0], "linear")


def known(place: str, reference: str) -> list[Run]:
    """Return the runs that linear is compared with."""
    found = from_archive(Config(archive=place, baseline=reference), [LINEAR])
    return list(found.get(LINEAR, ()))


def test_all_runs_of_a_tag_count_newest_first(place: str) -> None:
    """Several runs say how far apart runs of the same code lie; five are enough."""
    runs = [timed(turn) for turn in range(7)]
    add(place, *runs, tag="good")

    assert known(place, "good") == runs[:1:-1]


def test_runs_of_the_same_commit_count(place: str) -> None:
    """The run that is meant comes first, then those of its commit, not those of another."""
    runs = [timed(turn) for turn in range(3)]
    add(place, *runs[:2], commit="ab" * 20)
    (newest,) = add(place, runs[2], commit="cd" * 20)
    first = add(place, runs[0], commit="ab" * 20)[0]

    assert known(place, first[:8]) == [runs[0], runs[1]]
    assert known(place, newest[:8]) == [runs[2]]


@pytest.mark.parametrize(
    "other",
    [
        timed(1, host="elsewhere"),
        timed(1, torch="2.13.0"),
        uncompiled(timed(1)),
        replace(timed(1), case=replace(golden("linear").case, params={"size": 64})),
        of_case(timed(1), "other"),
    ],
    ids=["host", "torch", "structure", "parameters", "case"],
)
def test_runs_that_are_not_comparable_do_not_count(place: str, other: Run) -> None:
    """Another machine, torch, structure, parameter or case is no noise of this one."""
    add(place, other, timed(2), tag="good")

    assert known(place, "good") == [timed(2)]


def test_a_reference_to_nothing_is_nothing_known(place: str) -> None:
    """A case that was never pinned is new: nothing is known of it."""
    add(place, timed(1))

    assert known(place, "pinned") == []


def test_a_plan_is_no_baseline_of_a_measurement(place: str) -> None:
    """The newest run of the same place is meant."""
    add(place, timed(1), replace(planned(), created="2027-01-01T00:00:00+00:00"))

    assert known(place, "latest") == [timed(1)]


def test_accepted_runs_take_the_place_of_pinned_ones(place: str) -> None:
    """All runs of the check are pinned, with who and why; those of other places stay pinned."""
    (plan,) = add(place, planned())
    (old,) = add(place, timed(1))
    with closing(Archive.open(place)) as archive:
        for entry in archive.find():
            archive.pin(entry.id)

    accept(place, [timed(2), timed(3)], by="me", why="faster")

    with closing(Archive.open(place)) as archive:
        pinned = {entry.id: entry.pin for entry in archive.find(Filter(pinned=True))}
    assert plan in pinned
    assert old not in pinned
    assert [(pin.by, pin.why) for pin in pinned.values() if pin and pin.why] == [
        ("me", "faster")
    ] * 2


def test_check_with_an_archive(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The first check notes that nothing is known, accepting pins, and then a slower run fails."""
    Path("compdiff.toml").write_text(f'archive = "{place}"\n', encoding="utf-8")
    path = Path("now/linear/run.json.gz")
    write_run(timed(1), path)
    assert run_command(["lock", "--runs", "now"]) == 0

    assert run_command(["check", "--runs", "now"]) == 0
    assert "the baseline has no run of it" in capsys.readouterr().out
    accepted = ["--update-baseline", "--why", "first"]
    assert run_command(["check", "--runs", "now", *accepted]) == 0
    assert f"pinned in {place}: linear" in capsys.readouterr().out

    write_run(timed(2), path)
    assert run_command(["check", "--runs", "now"]) == 0
    assert "time same" in capsys.readouterr().out
    write_run(timed(2, 880_000), path)
    assert run_command(["check", "--runs", "now"]) == 1
    assert "slower by 10.0 %" in capsys.readouterr().out


def test_another_host_is_named_and_no_regression(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of another machine passes with a note, unless the settings say that names of hosts mean nothing."""
    settings = f'archive = "{place}"\nbaseline = "latest"\n'
    Path("compdiff.toml").write_text(settings, encoding="utf-8")
    add(place, timed(1))
    write_run(timed(2, 880_000, host="there"), Path("now/linear/run.json.gz"))

    assert run_command(["check", "--runs", "now"]) == 0
    assert "measured on another machine: host here -> there" in capsys.readouterr().out

    Path("compdiff.toml").write_text(f"{settings}any_host = true\n", encoding="utf-8")
    assert run_command(["check", "--runs", "now"]) == 1
