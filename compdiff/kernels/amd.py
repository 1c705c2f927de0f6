"""Names of AMD's libraries. In: Tensile, MIOpen and CK names. Out: tile, types, layout and architecture."""

import re
from dataclasses import replace

from compdiff.kernels.cpp import CppName, split_arguments
from compdiff.kernels.dtypes import cpp_dtype, token_dtypes, unique
from compdiff.kernels.name import KernelName

_LONGEST = 4096
# The free and summed indices of A and B: A is i x l as stored (column major) unless it says lik, and so for B.
_LAYOUT = {
    "Ailk": "n", "Alik": "t", "Bljk": "n", "Bjlk": "t",
}  # fmt: skip
_TENSILE_TYPES = {
    "H": "f16", "B": "bf16", "S": "f32",
    "D": "f64", "C": "c64", "Z": "c128", "I8": "i8", "I": "i32", "F8": "f8e4m3", "B8": "f8e5m2", "X": "tf32",
    "F8N": "f8e4m3", "B8N": "f8e5m2",
}  # fmt: skip
_ONE_TYPE = r"F8N?|B8N?|I8|[HBSDCZIX]"
_TYPE = re.compile(_ONE_TYPE)
_PROBLEM = re.compile(
    rf"Cijk_(?P<a>A\w{{3}})_(?P<b>B\w{{3}})_(?P<types>(?:{_ONE_TYPE})+)(?P<more>_[HBS]S)?(?:_|<|$)"
)
_WORD_TYPES = {"half": "f16", "float": "f32"}
_IGEMM_TILE = re.compile(r"bt(\d+)x(\d+)x(\d+)")


def read_tensile(base: KernelName, name: CppName) -> KernelName:
    """Return Cijk_Ailk_Bjlk_TYPES_..._MTMxNxK_..._ISA942_...: what rocBLAS and hipBLASLt run.

    MI16x16x16x1 is M x N x K x blocks of the matrix instruction; hipBLASLt leaves K out.
    `Bias` in the name says that the kernel can add one, not that this launch did: it gives no epilogue here.
    Source: https://rocm.docs.amd.com/projects/Tensile/en/latest/src/reference/nomenclature.html
    """
    text = name.text[:_LONGEST]
    problem = _PROBLEM.match(text)
    tile = _first(r"_MT(\d+)x(\d+)x(\d+)", text)
    isa = _first(r"_ISA(\w{2,4}?)(?:_|$)", text)
    splits = _first(r"_GSU(\d+)(?:_|$)", text)
    instruction = _first(r"_MI(\d+)x(\d+)x(\d+)x\d+", text)
    return replace(
        base,
        arch=f"gfx{isa[0]}" if isa else "",
        dtypes=_types(problem),
        tile=tuple(map(int, tile)),
        instruction=tuple(map(int, instruction)),
        layout=_LAYOUT.get(problem["a"], "") + _LAYOUT.get(problem["b"], "") if problem else "",
        split_k=bool(splits and int(splits[0]) > 1),
    )


def _types(problem: re.Match[str] | None) -> tuple[str, ...]:
    """Return the types of A and B, of the output and of the sums.

    BBS is bf16, bf16, f32. Older names give one type, then B for the use of beta and H for sums in higher precision.
    """
    if problem is None:
        return ()
    letters = _TYPE.findall(problem["types"])
    if letters[1:] in (["B"], ["B", "H"]):
        letters = letters[:1] + (["S"] if letters[2:] else [])
    return unique(_TENSILE_TYPES[letter] for letter in (*letters, *(problem["more"] or "")[1:]))


def _first(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, text)
    return match.groups() if match else ()


def read_igemm(base: KernelName, name: CppName) -> KernelName:
    """Return igemm_fwd_gtcx3_nhwc_bf16_..._bt256x128x32_...: MIOpen's assembly convolutions."""
    tokens = name.path[:_LONGEST].split("_")
    tile = _IGEMM_TILE.search(name.path[:_LONGEST])
    return replace(
        base,
        dtypes=unique(kind for token in tokens[:6] for kind in token_dtypes(token)),
        tile=tuple(map(int, tile.groups())) if tile else (),
        layout=next((token for token in tokens if token in {"nhwc", "nchw"}), ""),
        split_k="gkgs" in tokens,
    )


def read_ck(base: KernelName, name: CppName) -> KernelName:
    """Return a Composable Kernel name with the data types of the grid-wise operation in its first argument."""
    inner = split_arguments(name.arguments[0])[:12] if name.arguments else ()
    return replace(base, dtypes=unique(cpp_dtype(one) for one in (*name.arguments, *inner)))


def read_plain_types(base: KernelName, name: CppName) -> KernelName:
    """Return a name with the types among its underscored words: `batched_transpose_32x32_half`."""
    words = re.split(r"[_<>,. ]", name.text[:_LONGEST].lower())
    found = [(_WORD_TYPES.get(word, ""), *token_dtypes(word)) for word in words]
    return replace(base, dtypes=unique(kind for kinds in found for kind in kinds))
