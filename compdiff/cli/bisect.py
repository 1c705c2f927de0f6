"""`compdiff bisect`: the commit since which a case is another."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from compdiff.errors import CompdiffError
from compdiff.regression.config import CONFIG_FILE, SETUP_FILE

if TYPE_CHECKING:
    from compdiff.regression.bisect import Clone, Found, Outcome

_FILE = click.Path(path_type=Path, dir_okay=False)
_FAILED = 1
_LINES_SAID = 3


@click.command(name="bisect")
@click.argument("case")
@click.option("--good", required=True, metavar="REV", help="A revision at which it was right.")
@click.option("--bad", required=True, metavar="REV", help="One at which it is not.")
@click.option(
    "--find",
    "find",
    default="",
    metavar="PATTERN",
    help="Only this counts, KIND or KIND:NAME: rewrite-lost, 'kernel-gained:*', time-slower.",
)
@click.option("--same-case", is_flag=True, help="Take the case's file as it is now at each commit.")
@click.option("--config", type=_FILE, help="Settings, as in `check`.")
@click.option("-k", "select", default="", help="Cases whose name fits, as in `run`.")
@click.option("--device", default="", help="auto, cpu, cuda or cuda:N.")
@click.option("--target", default="", help="Plan for a GPU that need not be here.")
def command(  # noqa: PLR0913 - one for each option
    *,
    case: str,
    good: str,
    bad: str,
    find: str,
    same_case: bool,
    config: Path | None,
    select: str,
    device: str,
    target: str,
) -> int:
    """Find the first commit of the repository of CASE at which `compdiff check` fails against the GOOD one.

    Commits are checked out in a clone of its own. One at which the case cannot be run is skipped. Exit code 1 says that
    such commits are left, so that one of several is the first bad one.
    """
    from compdiff.regression.bisect import bisect, cloned

    place = Path(case) if Path(case).exists() else None
    if same_case and (place is None or not place.is_file()):
        raise CompdiffError(f"--same-case needs a case that is a file, not {case!r}", "Name one.")
    given = {"--device": device, "--target": target, "-k": select}
    options = [word for name, value in given.items() if value for word in (name, value)]
    with cloned(place.parent if place else Path()) as clone, TemporaryDirectory() as scratch:
        copies = Path(scratch) if same_case else None
        words = [_case_in(clone, case, place, copies), *options, *_settings(config)]
        tester = _Tester(clone, words, find, Path(scratch))
        ends = clone.commit(good), clone.commit(bad)
        tester.start(*ends)
        found = bisect(clone, *ends, tester.test)
        for line in _lines(clone, found, tester.problems):
            click.echo(line)
    return 0 if len(found.commits) == 1 else 1


def _lines(clone: "Clone", found: "Found", problems: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield which commit is the first bad one, or could be, and what is wrong with it."""
    steps = f"{found.tested} commit{'' if found.tested == 1 else 's'} tested"
    if len(found.commits) != 1:
        yield f"one of these is the first bad commit, and those before the last cannot be run ({steps}):"
    for commit in found.commits:
        start = "first bad commit: " if len(found.commits) == 1 else "  "
        yield f"{start}{clone.subject(commit)} ({clone.about(commit)})"
    if len(found.commits) == 1:
        yield from (f"  {text}" for text in problems.get(found.commits[0], ()))
        yield steps


def _case_in(clone: "Clone", case: str, place: Path | None, copies: Path | None) -> str:
    """Return what names the case in the clone: its path there, a copy of the file as it is now, or a reference."""
    from compdiff.regression.bisect import top_of

    if place is None:
        return case
    if copies is not None:
        copyfile(place, copies / place.name)
        return str(copies / place.name)
    inside = place.resolve().relative_to(top_of(place.parent).resolve())
    return str(clone.folder / inside)


def _settings(config: Path | None) -> list[str]:
    """Return the option that names the settings of now: those of the commit may not know the case."""
    names = [config] if config else [Path(CONFIG_FILE), Path(SETUP_FILE)]
    return next((["--config", str(path.resolve())] for path in names if path.is_file()), [])


class _Tester:
    """Runs `compdiff check` on the commit that is checked out, against what the good one left in a scratch folder.

    `problems` holds what was wrong with each bad commit.
    """

    def __init__(self, clone: "Clone", words: Sequence[str], find: str, scratch: Path) -> None:
        self.problems: dict[str, list[str]] = {}
        self._clone = clone
        self._words = words
        self._find = find
        self._scratch = scratch
        self._said = ""

    def start(self, good: str, bad: str) -> None:
        """Leave lock and runs of the good commit, and see that the bad one fails.

        Raises:
            CompdiffError: the good one cannot be run, or does not pass against itself, or the bad one does not fail.
        """
        self._clone.check_out(good)
        if self._compdiff("lock"):
            raise CompdiffError(
                f"the case cannot be run at the good commit {good[:10]}: {self._said}",
                "--same-case takes the case as it is now.",
            )
        if self._compdiff("check", "--out", str(self._baseline)):
            raise CompdiffError(
                f"the good commit {good[:10]} does not pass against itself: {self._said}",
                "`compdiff check` says more.",
            )
        self._clone.check_out(bad)
        if self.test(bad) != "bad":
            raise CompdiffError(
                f"the bad commit {bad[:10]} does not fail: {self._said}",
                "Check both revisions, and --find.",
            )

    def test(self, commit: str) -> "Outcome":
        """Return whether the commit that is checked out is good."""
        sarif = self._scratch / "check.sarif"
        sarif.unlink(missing_ok=True)
        words = ("--baseline", str(self._baseline), "--sarif", str(sarif))
        code = self._compdiff("check", *words)
        found = _problems(sarif, self._find) if code == _FAILED else []
        outcome: Outcome = "skip" if code > _FAILED else "bad" if found else "good"
        if found:
            self.problems[commit] = found
        click.echo(f"{outcome:4}  {self._clone.subject(commit)}")
        return outcome

    @property
    def _baseline(self) -> Path:
        return self._scratch / "good"

    def _compdiff(self, command: str, *words: str) -> int:
        """Run a command of compdiff in the clone, whose packages come before those that are installed."""
        from compdiff.regression.lock import LOCK_FILE
        from compdiff.regression.structure import one_line

        folder = self._clone.folder
        lock = ("--lock", str(self._scratch / LOCK_FILE))
        paths = [str(folder), str(folder / "src"), os.environ.get("PYTHONPATH", "")]
        result = subprocess.run(  # noqa: S603 - this project's own command
            [sys.executable, "-m", "compdiff", command, *self._words, *lock, *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        said = (result.stderr.strip() or result.stdout.strip()).splitlines()
        self._said = one_line(" ".join(said[-_LINES_SAID:]))
        return result.returncode


def _problems(sarif: Path, pattern: str) -> list[str]:
    """Return the sentences of the problems that fit a pattern of their kind, or of kind and name."""
    (run,) = json.loads(sarif.read_bytes())["runs"]
    wanted = pattern if ":" in pattern or not pattern else f"{pattern}:*"
    found = []
    for result in run["results"]:
        rule = result["ruleId"]
        name = result["partialFingerprints"]["compdiff/v1"].partition(f"/{rule}/")[2]
        if "suppressions" not in result and (not wanted or fnmatchcase(f"{rule}:{name}", wanted)):
            found.append(str(result["message"]["text"]))
    return found
