"""Examines the machine. In: nothing. Out: checks, each with what was found and what to do."""

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass

_TIMEOUT_S = 60
_PROBE = """
import json, torch
cuda = torch.cuda.is_available()
print(json.dumps({
    "torch": str(torch.__version__), "cuda_build": torch.version.cuda or "",
    "devices": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count() * cuda)],
}))
"""
_TRITON_PROBE = "import triton; print(triton.__version__)"


@dataclass(frozen=True)
class Check:
    """One thing examined; `needed` means no case can run on the CPU without it."""

    name: str
    fine: bool
    found: str
    advice: str = ""
    needed: bool = False


def examine() -> tuple[Check, ...]:
    """Return all checks; torch and triton are asked in processes of their own."""
    return (_python(), *_torch(), _triton(), _compiler(), _chromium())


def _python() -> Check:
    version = platform.python_version()
    fine = sys.version_info >= (3, 10)
    return Check("python", fine, version, "Install Python 3.10 or newer.", needed=True)


def _torch() -> list[Check]:
    text = _output([sys.executable, "-c", _PROBE])
    if text is None:
        advice = "pip install 'torch>=2.11'"
        return [Check("torch", fine=False, found="cannot be imported", advice=advice, needed=True)]
    facts = json.loads(text.strip().splitlines()[-1])
    devices = ", ".join(facts["devices"])
    build = f"CUDA {facts['cuda_build']} build" if facts["cuda_build"] else "CPU build"
    return [
        Check("torch", fine=True, found=f"{facts['torch']}, {build}", needed=True),
        Check(
            "gpu",
            bool(devices),
            devices or "none that torch can use",
            "Cases run on the CPU. For a GPU: a driver, and a CUDA build of torch.",
        ),
    ]


def _triton() -> Check:
    text = _output([sys.executable, "-c", _TRITON_PROBE])
    advice = "A CUDA build of torch brings triton; CPU runs do not need it."
    return Check("triton", text is not None, (text or "not installed").strip(), advice)


def _compiler() -> Check:
    """Look for the compiler that Inductor uses on CPU: $CXX, else g++."""
    command = os.environ.get("CXX", "g++")
    text = _output([command, "--version"])
    advice = "Inductor compiles its CPU kernels with it. On Debian or Ubuntu: apt-get install g++"
    found = text.partition("\n")[0] if text else f"{command} not found"
    return Check("c++ compiler", text is not None, found, advice, needed=True)


def _chromium() -> Check:
    paths = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    path = next((path for path in paths if path), "")
    advice = "Only the browser tests need it. On Debian: apt-get install chromium"
    return Check("chromium", bool(path), path or "not found", advice)


def _output(command: list[str]) -> str | None:
    """Return what a command prints, or None when it is absent or fails."""
    if shutil.which(command[0]) is None:
        return None
    result = subprocess.run(  # noqa: S603 - fixed commands, or the user's own $CXX
        command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    return result.stdout if result.returncode == 0 else None
