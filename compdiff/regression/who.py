"""Who accepts a change. In: the folder of a repository. Out: the user of git, else of the system, on one line."""

import getpass
import subprocess
from pathlib import Path

from compdiff.regression.structure import one_line

_TIMEOUT_S = 10


def who(folder: Path) -> str:
    """Return `Name <address>` as git is set up in a folder, else the name of the system's user."""
    name, email = (_git_setting(folder, key) for key in ("user.name", "user.email"))
    if name:
        return one_line(f"{name} <{email}>" if email else name)
    try:
        return one_line(getpass.getuser())
    except (
        KeyError,
        OSError,
    ):  # no such user in the system: a container that runs under a bare number
        return "unknown"


def _git_setting(folder: Path, key: str) -> str:
    try:
        result = subprocess.run(  # noqa: S603 - fixed words
            ["git", "-C", str(folder), "config", "--get", key],  # noqa: S607 - the user's git
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip()
