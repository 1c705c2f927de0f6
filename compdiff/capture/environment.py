"""Describes the machine. In: a device. Out: an Environment."""

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from compdiff.model import Environment

_COMMAND_TIMEOUT_S = 10


def describe(device: str, case_path: str = "") -> Environment:
    """Return the environment of a run on `device`; git facts are those of the case's folder."""
    commit, dirty = git_state(Path(case_path).resolve().parent if case_path else Path.cwd())
    cuda = device.startswith("cuda")
    return Environment(
        torch=str(torch.__version__),
        triton=installed_version("triton"),
        python=platform.python_version(),
        cuda=torch.version.cuda or "",
        driver=_output(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
        if cuda
        else "",
        device=torch.cuda.get_device_name(device) if cuda else "",
        cpu=cpu_model(),
        threads=torch.get_num_threads(),
        platform=f"{platform.system()} {platform.machine()}",
        compiler=_output([os.environ.get("CXX", "g++"), "--version"]).partition("\n")[0],
        git_commit=commit,
        git_dirty=dirty,
        compdiff=installed_version("compdiff"),
    )


def installed_version(package: str) -> str:
    """Return the version of an installed package, or ""."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def git_state(folder: Path) -> tuple[str, bool]:
    """Return (commit, whether there are uncommitted changes) of the repository around `folder`, or ("", False)."""
    commit = _output(["git", "-C", str(folder), "rev-parse", "HEAD"])
    status = _output(["git", "-C", str(folder), "status", "--porcelain"]) if commit else ""
    return commit, bool(status)


def cpu_model() -> str:
    """Return the processor's name as Linux gives it, or ""."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == "model name"), "")


def _output(command: list[str]) -> str:
    """Return what a command prints, or "" when it is absent or fails."""
    if shutil.which(command[0]) is None:
        return ""
    result = subprocess.run(  # noqa: S603 - fixed commands
        command, capture_output=True, text=True, timeout=_COMMAND_TIMEOUT_S, check=False
    )
    return result.stdout.strip() if result.returncode == 0 else ""
