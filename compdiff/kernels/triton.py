"""Names of Triton kernels that Inductor writes. In: `triton_poi_fused_add_relu_3`. Out: the kind of kernel and its ops.

The ops are joined by the character that their own names hold too. The fewest names of the list of ATen names that
fill the text are taken; what is in no such name is taken word by word.
Source: torch/_inductor/utils.py, get_fused_kernel_name.
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
    ("convolution", "conv", "convolution template"), ("convolution2d", "conv", "convolution template"),
    ("convolution3d", "conv", "convolution template"), ("conv", "conv", "convolution template"),
    ("bmm", "gemm", "batched GEMM template"),
    ("baddbmm", "gemm", "batched GEMM template"), ("scaled_grouped_mm", "gemm", "grouped GEMM template"),
    ("_scaled_mm", "gemm", "scaled GEMM template"), ("grouped_mm", "gemm", "grouped GEMM template"),
    ("mm", "gemm", "GEMM template"), ("addmm", "gemm", "GEMM template"), ("_int_mm", "gemm", "GEMM template"),
)  # fmt: skip


def fused_ops(joined: str) -> tuple[str, ...]:
    """Return the ops of a joined name in order, as few as it can stand for: `_to_copy_add_native_layer_norm` gives three."""
    words = joined.split("_")
    # For each word: how many ops there are from it on, and how many words the first of them has.
    fewest = [(0, 0)] * (len(words) + 1)
    for at in range(len(words) - 1, -1, -1):
        sizes = _sizes(words, at)
        fewest[at] = min(((fewest[at + size][0] + 1, size) for size in sizes), key=_fewer)
    found, at = [], 0
    while at < len(words):
        size = fewest[at][1]
        found.append("_".join(words[at : at + size]))
        at += size
    return tuple(op for op in found if op)


def _fewer(choice: tuple[int, int]) -> tuple[int, int]:
    """Rank a choice: fewer ops first, then the longer first op."""
    return choice[0], -choice[1]


def _sizes(words: list[str], at: int) -> list[int]:
    """Return how many words an op at a place can have; an empty word begins an op with an underscore."""
    longest = min(_MOST_WORDS, len(words) - at)
    known = [
        size for size in range(2, longest + 1) if "_".join(words[at : at + size]) in MULTI_WORD
    ]
    return [*known, min(1 if words[at] else 2, longest)]


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
