"""Compiles Triton kernels for a GPU that is not there. In: their sources, a Target. Out: the Resources of each.

Triton's own compiler and the ptxas it carries make the cubin, and cuobjdump reads registers and spills from it. What a
cubin says is kept in a file named by the content of all that made it.
"""

import ast
import hashlib
import importlib
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any
from unittest import mock

import msgspec
import torch

from compdiff.capture.plan.compiler import CompiledKernel, loaded_kernel
from compdiff.errors import CaptureError
from compdiff.estimate import occupancy
from compdiff.model import Resources, Target
from compdiff.store import write_atomic

_CACHE_VERSION = "1"
_USAGE = re.compile(r"REG:(?P<registers>\d+) STACK:(?P<stack>\d+)")
_TOOL = "backends/nvidia/bin/cuobjdump"
_DECODER = msgspec.json.Decoder(Resources)


def compile_kernels(
    sources: Mapping[str, str], target: Target, *, cache: Path | None = None
) -> dict[str, Resources]:
    """Return what each kernel takes of the target, compiled side by side or found in the cache.

    Args:
        sources: the generated source by kernel name.
        target: whom to compile for.
        cache: folder of what earlier cubins said; None is `cache_folder()`.

    Raises:
        CaptureError: a kernel does not compile for the target.
    """
    folder = cache or cache_folder()
    known = {name: _cached(folder, source, target) for name, source in sources.items()}
    # Loading runs the generated module, which is not safe in several threads; compiling is.
    loaded = {
        name: loaded_kernel(name, sources[name]) for name, found in known.items() if found is None
    }
    workers = max(1, min(len(loaded), os.cpu_count() or 1))
    with (
        mock.patch.object(ast, "parse", _one_at_a_time(ast.parse)),
        ThreadPoolExecutor(workers) as pool,
    ):
        made = {name: pool.submit(_compiled, name, one) for name, one in loaded.items()}
        for name, future in made.items():
            resources = known[name] = _resources(future.result(), target)
            _keep(folder, sources[name], target, resources)
    return {name: found for name, found in known.items() if found is not None}


def cache_folder() -> Path:
    """Return where compdiff keeps what cubins say: below XDG_CACHE_HOME or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "compdiff" / "kernels"


def _one_at_a_time(parse: Callable[..., ast.AST]) -> Callable[..., ast.AST]:
    """Return a parser that threads wait for: Python 3.11's counts its depth for all threads together."""
    lock = Lock()

    def parse_alone(*args: object, **kwargs: object) -> ast.AST:
        with lock:
            return parse(*args, **kwargs)

    return parse_alone


def _compiled(name: str, load: Callable[[], CompiledKernel]) -> CompiledKernel:
    try:
        return load()
    except Exception as error:
        raise CaptureError(
            f"{name} does not compile for the target: {type(error).__name__}: {error}",
            "Triton reports what the target cannot do; choose another --target or --dtype.",
        ) from error


def _resources(kernel: CompiledKernel, target: Target) -> Resources:
    registers, spilled = cubin_usage(kernel.cubin)
    occupied = occupancy(
        registers=registers, shared_bytes=kernel.shared_bytes, warps=kernel.warps, target=target
    )
    return Resources(
        registers=registers,
        spill_bytes=spilled,
        shared_bytes=kernel.shared_bytes,
        warps=kernel.warps,
        stages=kernel.stages,
        occupancy=round(occupied.share, 4),
        limited_by=occupied.limited_by,
        config=kernel.config,
        candidates=kernel.candidates,
    )


def cubin_usage(cubin: bytes) -> tuple[int, int]:
    """Return (registers a thread, bytes of its stack: what is spilled) of the kernel in a cubin.

    Raises:
        CaptureError: cuobjdump cannot read it.
    """
    tool = Path(_triton().__file__).parent / _TOOL
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run(  # noqa: S603 - triton's own tool, on our own file
            [str(tool), "-res-usage", file.name], capture_output=True, text=True, check=False
        )
    usage = _USAGE.search(done.stdout)
    if usage is None:
        raise CaptureError(f"{tool} does not read a cubin: {done.stderr.strip()}")
    return int(usage["registers"]), int(usage["stack"])


def _triton() -> Any:  # noqa: ANN401 - a package without types, and absent beside a CPU build of torch
    return importlib.import_module("triton")


# ---------------------------------------------------------------- what earlier cubins said


def _cached(folder: Path, source: str, target: Target) -> Resources | None:
    path = folder / _key(source, target)
    if not path.is_file():
        return None
    try:
        return _DECODER.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None  # a damaged entry is made anew


def _keep(folder: Path, source: str, target: Target, resources: Resources) -> None:
    write_atomic(folder / _key(source, target), msgspec.json.encode(resources))


def _key(source: str, target: Target) -> str:
    parts = (
        _CACHE_VERSION,
        source,
        msgspec.json.encode(target).decode(),
        str(torch.__version__),
        str(_triton().__version__),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest() + ".json"
