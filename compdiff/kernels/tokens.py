"""Underscored names of NVIDIA's libraries. In: `ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn`. Out: its parts.

Each token between underscores is read by the first row of `_TOKENS` that it fits as a whole; a token that none fits
says nothing. What is given here as meaning follows CUTLASS's own naming, which cuBLAS and cuDNN share in part.
Source: https://docs.nvidia.com/cutlass/media/docs/cpp/profiler.html
"""

import re
from collections.abc import Callable
from dataclasses import replace

from compdiff.kernels.cpp import CppName
from compdiff.kernels.dtypes import token_dtypes, unique
from compdiff.kernels.name import KernelName

_Match = re.Match[str]
_GENERATIONS = {
    "kepler": "sm35", "maxwell": "sm50", "pascal": "sm60", "volta": "sm70", "turing": "sm75", "ampere": "sm80",
    "ada": "sm89", "hopper": "sm90", "blackwell": "sm100",
}  # fmt: skip
# The letter before gemm says which type the products are added up in.
_ACCUMULATORS = {
    "s": "f32", "d": "f64", "h": "f16", "c": "c64", "z": "c128", "i": "i32", "gc": "c64", "gz": "c128"
}  # fmt: skip
_EPILOGUES = {
    "relu": "relu", "drelu": "relu backward", "gelu": "gelu", "dgelu": "gelu backward",
    "bias": "bias", "silu": "silu", "swiglu": "swiglu", "swiGlu": "swiglu", "dbias": "bias gradient",
    "aux": "saved input", "sigmoid": "sigmoid", "tanh": "tanh",
}  # fmt: skip
_LONGEST = 512
# With 32-bit operands, tensor cores have this shape for TF32 only.
_TF32_SHAPE = (16, 8, 8)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("x"))


def _shape(text: str) -> tuple[int, ...]:
    """Return the three sizes of a matrix instruction that is written without separators: 16816 is 16 x 8 x 16."""
    known = {"884": (8, 8, 4), "1688": (16, 8, 8), "16816": (16, 8, 16), "16832": (16, 8, 32), "16864": (16, 8, 64),
             "161616": (16, 16, 16), "8816": (8, 8, 16), "8832": (8, 8, 32), "168256": (16, 8, 256)}  # fmt: skip
    return known.get(text, ())


def _generation(name: KernelName, match: _Match) -> KernelName:
    return replace(name, arch=_GENERATIONS[match.group()])


def _sm(name: KernelName, match: _Match) -> KernelName:
    return replace(name, arch=f"sm{match.group(1)}")


def _operation(name: KernelName, match: _Match) -> KernelName:
    """Read `sgemm`, `s16816gemm`, `s64x128x16gemm`: accumulator and matrix instruction."""
    shape = match.group("shape") or ""
    instruction = _numbers(shape) if "x" in shape else _shape(shape)
    named = (*name.dtypes, *token_dtypes(match.group("type") or ""))
    dtypes = unique((*named, _ACCUMULATORS[match.group("acc")]))
    return replace(name, instruction=instruction, dtypes=dtypes)


def _dtypes(name: KernelName, match: _Match) -> KernelName:
    return replace(name, dtypes=unique((*name.dtypes, *token_dtypes(match.group()))))


def _tile(name: KernelName, match: _Match) -> KernelName:
    """Read a size: M x N the first time, then K x stages, as CUTLASS 2 writes them; three sizes are M x N x K."""
    sizes = _numbers(match.group("size"))
    if not name.tile:
        return replace(name, tile=sizes)
    if len(name.tile) == len(sizes) == 2 and name.stages is None:  # noqa: PLR2004 - two sizes and two sizes
        return replace(name, tile=(*name.tile, sizes[0]), stages=sizes[1])
    return name


def _stages(name: KernelName, match: _Match) -> KernelName:
    return replace(name, stages=int(match.group(1)))


def _instruction(name: KernelName, match: _Match) -> KernelName:
    return replace(name, instruction=_numbers(match.group(1)))


def _layout(name: KernelName, match: _Match) -> KernelName:
    """Keep the first layout: an output layout that follows it says less."""
    return name if name.layout else replace(name, layout=match.group().lower())


def _align(name: KernelName, match: _Match) -> KernelName:
    return name if name.alignment else replace(name, alignment=int(match.group(1)))


def _split(name: KernelName, _match: _Match) -> KernelName:
    return replace(name, split_k=True)


def _epilogue(name: KernelName, match: _Match) -> KernelName:
    return replace(name, epilogue=unique((*name.epilogue, _EPILOGUES[match.group()])))


_KIND = r"gemm|implicit|fprop|dgrad|wgrad|cudnn|symm|syrk|trmm|hemm|herk|grouped|conv|spgemm"
_TYPES = r"bf16|tf32|f16|f32|fp16|i8|s8|fastbf16|fastf32"
_TOKENS: tuple[tuple[str, Callable[[KernelName, _Match], KernelName]], ...] = (
    ("|".join(_GENERATIONS), _generation),
    (r"sm(\d{2,3}[af]?)", _sm),
    (r"(?:tensor)(\d+x\d+x\d+)", _instruction),
    (rf"(?P<acc>g?[sdhczi])(?P<shape>\d+(?:x\d+)*)?(?P<type>{_TYPES})?(?:{_KIND})\w*", _operation),
    (r"(?:bf16|tf32|c?fp?\d+|[isu]\d+|e\dm\d|ue8m0|int[48]|b1){1,4}", _dtypes),
    (r"(?:tilesize)?(?P<size>\d+x\d+(?:x\d+)?)", _tile),
    (r"stages?(\d+)", _stages),
    (r"[nthc]{2,3}|[NTH]{2,4}|n[cdhw]{3,4}(?:krsc|kcrs)?|nhwckrsc", _layout),
    (r"(?:align[a-d]?|ldg)(\d+)", _align),
    (r"split_?[kK]|splitK\w*|serial|parallel", _split),
    ("|".join(map(re.escape, _EPILOGUES)), _epilogue),
)


def read_tokens(base: KernelName, name: CppName) -> KernelName:
    """Return a name with what its tokens say, from left to right."""
    text = name.path[:_LONGEST].replace("split_k", "splitk").replace("split_K", "splitk")
    for token in text.rpartition("::")[2].split("_"):
        base = _read_token(base, token)
    if base.instruction == _TF32_SHAPE and base.dtypes == ("f32",):
        return replace(base, dtypes=("tf32", "f32"))
    return base


def _read_token(base: KernelName, token: str) -> KernelName:
    for pattern, read in _TOKENS:
        match = re.fullmatch(pattern, token)
        if match:
            return read(base, match)
    return base


def read_cutlass(base: KernelName, name: CppName) -> KernelName:
    """Return a CUTLASS name; its architecture is a bare number: `cutlass_80_tensorop_...`."""
    match = re.match(r"cutlass_(\d{2,3})_", name.name)
    base = replace(base, arch=f"sm{match.group(1)}") if match else base
    return read_tokens(base, name)


# Inputs, sums and output in cuBLAS's letters: hsh and tst are seen for f16 and bf16, qqtst for f8e4m3, ootst for f4.
_NVJET_TYPES = {
    "h": "f16", "t": "bf16", "s": "f32", "d": "f64", "q": "f8e4m3", "o": "f4e2m1",
}  # fmt: skip
_NVJET = re.compile(
    r"nvjet_(?:sm(?P<arch>\d+[af]?)_)?(?P<types>[a-z]{3,6})_(?:mma_)?(?P<tile>\d+x\d+(?:x\d+)?)(?P<rest>\w*?)_(?P<layout>[NT]{2,4})"
)


def read_nvjet(base: KernelName, name: CppName) -> KernelName:
    """Return the parts of nvjet_TYPES_MxN_KxSTAGES_CLUSTER_..._LAYOUT; the layout is that of A, B and the output.

    Source: the format string in libcublasLt 13 (`nvjet_sm90_%s_%dx%d_%dx%d_%dx%d_%c_..._%c%c%c`).
    """
    match = _NVJET.fullmatch(name.path[:_LONGEST])
    if match is None:
        return base
    tokens = match.group("rest").strip("_").split("_")
    depth = re.fullmatch(r"(\d+)x(\d+)", tokens[0])
    tile = _numbers(match.group("tile"))
    stages = depth.group(2) if depth else tokens[0] if tokens[0].isdigit() else ""
    return replace(
        base,
        arch=f"sm{match.group('arch')}" if match.group("arch") else "",
        dtypes=unique(_NVJET_TYPES.get(letter, "") for letter in match.group("types")),
        tile=(*tile, int(depth.group(1))) if depth else tile,
        stages=int(stages) if stages else None,
        layout=match.group("layout").lower(),
        split_k="splitk" in map(str.lower, tokens),
        epilogue=unique(_EPILOGUES.get(token, "") for token in tokens),
    )
