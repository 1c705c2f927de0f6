"""A kernel's name into its parts. In: the name as a profiler gives it. Out: KernelName.

The name is read as C++ (demangled or not), wrappers that only launch something else are taken off, and the first row of
the tables whose pattern fits the whole function name says what it is; that row's reader fills in the rest.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache

from compdiff.kernels import amd, functors, others, tokens, triton
from compdiff.kernels.cpp import CppName, read_cpp
from compdiff.kernels.mangled import demangle
from compdiff.kernels.name import UNKNOWN, KernelName
from compdiff.kernels.rows_amd import AMD
from compdiff.kernels.rows_aten import ATEN
from compdiff.kernels.rows_attention import ATTENTION
from compdiff.kernels.rows_nvidia import CUDNN, GEMM
from compdiff.kernels.rows_runtime import ALGORITHMS, COLLECTIVES, RUNTIME, TRITON
from compdiff.kernels.rows_serving import SERVING
from compdiff.kernels.table import Row

ROWS: tuple[Row, ...] = (
    *RUNTIME,
    *TRITON,
    *COLLECTIVES,
    *ALGORITHMS,
    *ATTENTION,
    *ATEN,
    *GEMM,
    *CUDNN,
    *AMD,
    *SERVING,
)
DETAILS: dict[str, Callable[[KernelName, CppName], KernelName]] = {
    "tokens": tokens.read_tokens,
    "cutlass": tokens.read_cutlass,
    "nvjet": tokens.read_nvjet,
    "elementwise": functors.read_elementwise,
    "multi_tensor": functors.read_multi_tensor,
    "reduce": functors.read_reduce,
    "types": functors.read_templates,
    "nested": functors.read_nested_types,
    "flash": functors.read_flash,
    "fused": triton.read_fused,
    "template": triton.read_template,
    "tensile": amd.read_tensile,
    "igemm": amd.read_igemm,
    "ck": amd.read_ck,
    "words": amd.read_plain_types,
    "memcpy": others.read_memcpy,
    "nccl": others.read_nccl,
    "split": others.read_split,
    "fmha": others.read_fmha,
    "hopper": others.read_hopper,
    "trtllm": others.read_trtllm,
    "trtllm_fmha": others.read_trtllm_fmha,
    "ogs": others.read_ogs,
    "cutlass_types": others.read_cutlass_types,
}
# Engines whose kernels do the same and are named alike, told apart by their namespaces.
_OWNERS = {
    "vllm": "vLLM",
    "sgl_hip": "SGLang",
    "sgl_kernel": "SGLang",
    "tensorrt_llm": "TensorRT-LLM",
}
# Longer than any function name that was seen; patterns are tried on this much, so that a name costs a bounded time.
_LONGEST_PATH = 400
_LONGEST_NAME = 65536
# What older Triton adds for the arguments that it specialises on: triton_poi_fused_add_0_0d1d2d3de.
_SPECIALISED = re.compile(r"_0d[ec]?\d[\ddec]*$")


@lru_cache(maxsize=16384)
def read_kernel_name(name: str) -> KernelName:
    """Return what a kernel's name says; the family is `unknown` where no row of the tables fits. Any text has an answer."""
    parsed = parse(name[:_LONGEST_NAME])
    row = first_row(parsed)
    if row is None:
        return KernelName(family=UNKNOWN, computes=UNKNOWN, function=parsed.path)
    family = (
        _OWNERS.get(parsed.path.partition("::")[0], row.family) if row in SERVING else row.family
    )
    base = KernelName(family, row.computes, row.meaning, function=parsed.path)
    return DETAILS[row.detail](base, parsed) if row.detail else base


def parse(name: str) -> CppName:
    """Return the function that a name is about, without the wrappers that only launch it."""
    name = name.strip()
    if name.startswith(("Memcpy", "Memset")):
        return CppName(name, name[:_LONGEST_PATH], ())
    parsed = functors.read_wrapped(read_cpp(demangle(name) or name))
    path = parsed.path
    if len(path) > _LONGEST_PATH:
        path = path[:_LONGEST_PATH]
    return replace(parsed, path=_SPECIALISED.sub("", path))


def first_row(name: CppName) -> Row | None:
    """Return the first row whose pattern fits a whole function name, None if none does."""
    return next((row for row in ROWS if _fits(row, name)), None)


def _fits(row: Row, name: CppName) -> bool:
    if row.template and not name.arguments:
        return False
    return _compiled(row.pattern).fullmatch(name.path) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
