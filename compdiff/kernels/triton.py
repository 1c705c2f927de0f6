"""Names of Triton kernels that Inductor writes. In: `triton_poi_fused_add_relu_3`. Out: the kind of kernel and its ops.

The ops are joined by the character that their own names hold too, so the longest name of the list of ATen names
wins; what is not in the list is taken word by word. Source: torch/_inductor/utils.py, get_fused_kernel_name.
"""

import re
from dataclasses import replace

from compdiff.kernels.aten_names import MULTI_WORD
from compdiff.kernels.cpp import CppName
from compdiff.kernels.name import KernelName

_LONGEST = 1024
_MOST_WORDS = max(name.count("_") for name in MULTI_WORD) + 1
_FUSED = re.compile(r"(?:triton|cpp)_(?:[a-z]+_)?fused_(?P<ops>\w+?)(?:_\d+)?")
_TEMPLATES = (
    ("flex_attention", "attention", "flexible attention"), ("flex_decoding", "attention", "flexible attention, decoding"),
    ("convolution", "conv", "convolution template"), ("conv", "conv", "convolution template"),
    ("bmm", "gemm", "batched GEMM template"),
    ("baddbmm", "gemm", "batched GEMM template"), ("scaled_grouped_mm", "gemm", "grouped GEMM template"),
    ("_scaled_mm", "gemm", "scaled GEMM template"), ("grouped_mm", "gemm", "grouped GEMM template"),
    ("mm", "gemm", "GEMM template"), ("addmm", "gemm", "GEMM template"), ("_int_mm", "gemm", "GEMM template"),
)  # fmt: skip


def fused_ops(joined: str) -> tuple[str, ...]:
    """Return the ops of a joined name in order: `_to_copy_add_native_layer_norm` gives three."""
    words, found, at = joined.split("_"), [], 0
    while at < len(words):
        size = _words_of_op(words, at)
        found.append("_".join(words[at : at + size]))
        at += size
    return tuple(op for op in found if op)


def _words_of_op(words: list[str], at: int) -> int:
    """Return how many words the op at a place has; an empty one begins an op with an underscore."""
    for size in range(_MOST_WORDS, 1, -1):
        if "_".join(words[at : at + size]) in MULTI_WORD:
            return size
    return 1 if words[at] else 2


def read_fused(base: KernelName, name: CppName) -> KernelName:
    """Return a generated kernel with the ops it is named after."""
    match = _FUSED.fullmatch(name.path[:_LONGEST])
    ops = match.group("ops") if match else ""
    return replace(base, fused=fused_ops(ops) if ops and not ops.isdigit() else ())


def read_template(base: KernelName, name: CppName) -> KernelName:
    """Return a kernel from a template (GEMM, convolution, attention) with the ops that are fused to it."""
    named = read_fused(base, name)
    for op, computes, meaning in _TEMPLATES:
        if op in named.fused or f"_{op}_" in f"{name.path[:_LONGEST]}_":
            return replace(named, computes=computes, meaning=meaning)
    return named
