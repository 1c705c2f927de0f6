"""Naming schemes of one library each. In: a name and what its row says. Out: the name with its parts."""

import re
from dataclasses import replace

from compdiff.kernels.cpp import CppName
from compdiff.kernels.dtypes import cpp_dtype, token_dtypes, unique
from compdiff.kernels.functors import read_templates
from compdiff.kernels.name import KernelName

_LONGEST = 512
_NCCL_TYPES = {
    "int8_t": "i8", "uint8_t": "u8", "float": "f32", "half": "f16", "__nv_bfloat16": "bf16", "bf16": "bf16",
    "f32": "f32", "f16": "f16", "f64": "f64", "double": "f64", "i8": "i8", "u8": "u8", "i32": "i32", "u32": "u32",
    "i64": "i64", "u64": "u64", "f8e4m3": "f8e4m3", "f8e5m2": "f8e5m2", "int32_t": "i32", "int64_t": "i64",
    "hip_bfloat16": "bf16",
}  # fmt: skip
_NCCL_WAYS = frozenset(["RING", "TREE", "NVLS", "COLLNET", "PAT", "LL", "LL128", "SIMPLE"])
_NCCL_OPERATIONS = frozenset(["Sum", "Prod", "Max", "Min", "MinMax", "SumPostDiv", "PreMulSum"])
_OGS_TYPES = {
    "fp16": "f16", "fp32": "f32", "fp8": "f8", "fp8e4nv": "f8e4m3", "fp4": "mxfp4", "m": ""
}  # fmt: skip
_TRTLLM_EPILOGUES = {
    "swiGlu": "swiglu", "geGlu": "geglu",
    "relu2": "relu",
}  # fmt: skip
_TRTLLM_TYPES = {
    "Bfloat16": "bf16", "Fp16": "f16", "Fp32": "f32", "E4m3": "f8e4m3",
    "MxE4m3": "f8e4m3", "E2m1": "f4e2m1", "MxE2m1": "f4e2m1", "E5m2": "f8e5m2", "MxInt4": "i4",
    "DeepSeekFp8": "f8e4m3",
}  # fmt: skip
_TRTLLM_TYPE = re.compile(r"Mx(?:E\dm\d|Int4)|Bfloat16|Fp16|Fp32|E\dm\d")
_SIZE = r"(?:cute::(?:C<|constant<int, |_))?(\d{1,4})>?"
_SHAPE = re.compile(rf"(?:GemmShape|cute::tuple)<{_SIZE}, {_SIZE}, {_SIZE}")
_SMALLEST = 8
_SIZES = re.compile(r"\d+(?:x\d+)+")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def read_memcpy(base: KernelName, name: CppName) -> KernelName:
    """Return a copy with the kind of host memory: pageable memory makes the host wait."""
    kind = next((word for word in ("Pageable", "Pinned") if word in name.text[:64]), "")
    return replace(base, meaning=f"{base.meaning}, {kind.lower()} host memory") if kind else base


def read_nccl(base: KernelName, name: CppName) -> KernelName:
    """Return a collective with its operation, type, algorithm and protocol: AllReduce_Sum_bf16_RING_LL."""
    words = name.path[:_LONGEST].split("_")[1:]
    joined = "_".join(words)
    types = [short for long, short in _NCCL_TYPES.items() if f"_{long}_" in f"_{joined}_"]
    ways = [word for word in words if word in _NCCL_WAYS]
    operation = next((word.lower() for word in words if word in _NCCL_OPERATIONS), "")
    meaning = ", ".join(part for part in (base.meaning, " ".join(ways).lower()) if part)
    return replace(base, meaning=meaning, functor=operation, dtypes=unique(types))


def read_split(base: KernelName, name: CppName) -> KernelName:
    """Return the sum of the parts of a GEMM that was split along K."""
    return replace(read_templates(base, name), split_k=True)


def read_fmha(base: KernelName, name: CppName) -> KernelName:
    """Return fmha_cutlassF_bf16_aligned_64x128_rf_sm80: queries x keys of a block; `aligned` allows wide loads."""
    tokens = name.path[:_LONGEST].split("_")
    tile = next((_numbers(token) for token in tokens if _SIZES.fullmatch(token)), ())
    types = unique(kind for token in tokens for kind in token_dtypes(token))
    arch = next((token for token in tokens if re.fullmatch(r"sm\d+", token)), "")
    return replace(base, tile=tile, dtypes=types, arch=arch)


def read_hopper(base: KernelName, name: CppName) -> KernelName:
    """Return flash attention 3: the class name ends in the architecture, the element type stands in its arguments."""
    match = re.search(r"Sm(\d+)$", name.name)
    found = re.findall(r"cutlass::(?:bfloat16|half|float_e4m3)_t", name.text[:4096])
    arch = f"sm{match.group(1)}" if match else ""
    tile = _block_shape(name.text[:4096])
    return replace(base, arch=arch, dtypes=unique(map(cpp_dtype, found)), tile=tile)


def read_trtllm(base: KernelName, name: CppName) -> KernelName:
    """Return bmm_OUT_AB_ACC_tMxNxK_sSTAGES_..._TN_..._sm100f."""
    tokens = name.path[:_LONGEST].split("_")
    tile = next((token for token in tokens if re.fullmatch(r"t\d+x\d+x\d+\w*", token)), "")
    stages = next((int(token[1:]) for token in tokens if re.fullmatch(r"s\d+", token)), None)
    instruction = next((token for token in tokens if re.fullmatch(r"m\d+x\d+x\d+", token)), "")
    return replace(
        base,
        dtypes=unique(_TRTLLM_TYPES[one] for one in _TRTLLM_TYPE.findall(" ".join(tokens[1:5]))),
        tile=_numbers(_SIZES.findall(tile)[0]) if tile else (),
        instruction=_numbers(instruction[1:]) if instruction else (),
        stages=stages,
        layout=next((token.lower() for token in tokens if token in {"TN", "NN", "NT", "TT"}), ""),
        split_k="splitK" in name.path,
        epilogue=unique(_TRTLLM_EPILOGUES.get(token, "") for token in tokens),
        arch=tokens[-1] if tokens[-1].startswith("sm") else "",
    )


def read_trtllm_fmha(base: KernelName, name: CppName) -> KernelName:
    """Return fmhaSm100aKernel_QkvE4m3OBfloat16H64...Q128Kv128...: queries x keys of a block, and the head size."""
    text = name.path[:_LONGEST]
    arch = re.match(r"fmhaSm(\d+[af]?)", text)
    tile = re.search(r"Q(\d+)Kv(\d+)", text)
    head = re.search(r"H(\d+)", text)
    sizes = (*map(int, tile.groups()), *((int(head.group(1)),) if head else ())) if tile else ()
    types = unique(_TRTLLM_TYPES[one] for one in _TRTLLM_TYPE.findall(text[:64]))
    return replace(base, arch=f"sm{arch.group(1)}" if arch else "", tile=sizes, dtypes=types)


def read_ogs(base: KernelName, name: CppName) -> KernelName:
    """Return _matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu: layouts, types, M x N x K x split."""
    tokens = name.path[:_LONGEST].strip("_").split("_")
    sizes = next((_numbers(token) for token in tokens if _SIZES.fullmatch(token)), ())
    typed = next((token for token in tokens if re.match(r"(?:bf16|fp\d+\w*?)x", token)), "")
    return replace(
        base,
        layout=next((token.lower() for token in tokens if re.fullmatch(r"[NT]{3}", token)), ""),
        dtypes=unique(_OGS_TYPES.get(one, one) for one in re.split(r"(?<!m)x", typed)),
        tile=sizes[:3],
        split_k=sizes[3:] > (1,),
        epilogue=unique(token for token in tokens if token in {"swiglu", "relu", "gelu"}),
    )


def _block_shape(text: str) -> tuple[int, ...]:
    """Return the first shape that can be a block's; one with a size below 8 is that of a cluster of blocks."""
    for match in _SHAPE.finditer(text):
        sizes = tuple(int(size) for size in match.groups())
        if min(sizes) >= _SMALLEST:
            return sizes
    return ()


def read_cutlass_types(base: KernelName, name: CppName) -> KernelName:
    """Return a CUTLASS kernel that is given as a type, with the element types, block shape and architecture in it."""
    text = name.text[:8192]
    found = re.findall(r"cutlass::(?:bfloat16|half|tfloat32|float_e4m3|float_e5m2)_t", text)
    arch = re.search(r"arch::Sm(\d+)|[sS]m(90|100|120)(?:[A-Z]|_)", text)
    return replace(
        base,
        dtypes=unique(map(cpp_dtype, found)),
        tile=_block_shape(text),
        arch=f"sm{arch.group(1) or arch.group(2)}" if arch else "",
        split_k="SplitK" in text,
    )
