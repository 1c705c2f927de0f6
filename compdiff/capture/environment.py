"""Describes the machine. In: a device and a case. Out: an Environment; what cannot be found is empty."""

import os
import platform
import shlex
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from compdiff import __version__
from compdiff.model import Environment

_COMMAND_TIMEOUT_S = 10
# torch's builds for different vendors bring Triton under these names.
_TRITON_PACKAGES = ("triton", "pytorch-triton", "pytorch-triton-rocm", "pytorch-triton-xpu")
_DRIVER = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]


def describe(device: str, case_path: str = "") -> Environment:
    """Return the environment of a run on `device`; git facts are those of the case's folder."""
    folder = Path(case_path).resolve().parent if case_path else Path.cwd()
    commit, dirty = git_state(folder)
    cuda = device.startswith("cuda")
    return Environment(
        torch=str(torch.__version__),
        triton=triton_version(),
        python=platform.python_version(),
        cuda=torch.version.cuda or "",
        driver=first_line(_DRIVER) if cuda else "",
        device=torch.cuda.get_device_name(device) if cuda else "",
        cpu=cpu_model(),
        threads=torch.get_num_threads(),
        platform=f"{platform.system()} {platform.machine()}",
        compiler=first_line([*shlex.split(os.environ.get("CXX", "g++")), "--version"]),
        git_commit=commit,
        git_branch=git_branch(folder) if commit else "",
        git_dirty=dirty,
        host=platform.node(),
        compdiff=__version__,
    )


def triton_version() -> str:
    """Return the version of Triton that is installed, under whichever name."""
    return next(filter(None, map(_installed_version, _TRITON_PACKAGES)), "")


def git_state(folder: Path) -> tuple[str, bool]:
    """Return (commit, whether tracked files differ from it) of the repository around `folder`."""
    git = ["git", "--no-optional-locks", "-C", str(folder)]
    commit = first_line([*git, "rev-parse", "HEAD"])
    # Untracked files do not count: a first run leaves its reports, and the second is as clean.
    changed = first_line([*git, "status", "--porcelain", "--untracked-files=no"]) if commit else ""
    return commit, bool(changed)


def git_branch(folder: Path) -> str:
    """Return the branch that is checked out around `folder`; "" for a commit that is checked out by itself."""
    return first_line(["git", "-C", str(folder), "symbolic-ref", "--quiet", "--short", "HEAD"])


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor's name as Linux gives it; elsewhere as Python knows it."""
    if not cpuinfo.is_file():
        return platform.processor()
    lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = (line.partition(":") for line in lines)
    names = (value.strip() for key, _, value in pairs if key.strip() == "model name")
    return next(names, "") or platform.processor()


def first_line(command: list[str]) -> str:
    """Return the first line that a command prints; "" when it is absent, fails or hangs."""
    if shutil.which(command[0]) is None:
        return ""
    try:
        result = subprocess.run(  # noqa: S603 - no shell; the words are ours but for $CXX
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_COMMAND_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip().partition("\n")[0] if result.returncode == 0 else ""


def _installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
