"""Measures or plans the shipped cases and saves their runs as golden ones. Run by `make golden`.

Arguments: where (`cpu`, or the name of a target to plan for), then names of cases that select some.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from compdiff.model import Run
from compdiff.store import read_run, write_run

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden"


def main(where: str, *names: str) -> int:
    """Run the named cases, or all, and save the runs that succeeded; return the number of those that did not."""
    device = ["--device", "cpu"] if where == "cpu" else ["--target", where, "--jobs", "2"]
    cases = [f"cases/{name}.py" for name in names] or ["cases"]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "compdiff",
            "run",
            *cases,
            *device,
            "--out",
            folder,
        ]
        subprocess.run(command, cwd=ROOT, check=False)  # noqa: S603 - this project's own command
        runs = {
            path.parent.name: read_run(path) for path in sorted(Path(folder).glob("*/run.json.gz"))
        }
    for name, run in runs.items():
        if run.failure is None:
            write_run(without_date(run), GOLDEN / where / f"{name}.run.json.gz")
    failed = [name for name, run in runs.items() if run.failure is not None]
    print(  # noqa: T201 - a script
        f"{len(runs) - len(failed)} golden runs in {GOLDEN / where}; failed: {', '.join(failed) or 'none'}"
    )
    return len(failed)


def without_date(run: Run) -> Run:
    """Return the run without what changes from day to day though nothing that it measures does."""
    environment = msgspec.structs.replace(
        run.environment, git_commit="", git_branch="", git_dirty=False, host=""
    )
    return msgspec.structs.replace(run, created="", environment=environment)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
