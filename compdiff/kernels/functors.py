"""What ATen's templates do to each element. In: a template argument. Out: a short word, a group and the data types.

A functor comes as a named struct (`CUDAFunctor_add<float>`) or as a lambda in a named function
(`silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::...::{lambda(float)#1}`), often within other templates.
"""

import re
from dataclasses import dataclass, replace

from compdiff.kernels.cpp import (
    CppName,
    pieces,
    read_qualified,
    split_arguments,
    without_parameters,
)
from compdiff.kernels.dtypes import cpp_dtype, unique
from compdiff.kernels.name import KernelName

# Templates around the functor, and which of their arguments holds it.
_WRAPPERS = {
    "gpu_kernel_impl": 0, "gpu_kernel_impl_nocast": 0, "BinaryFunctor": -1, "AUnaryFunctor": -1,
    "BUnaryFunctor": -1, "func_wrapper_t": -1, "ReduceOp": 1, "apply": 0, "gpu_index_kernel": -1,
    "__nv_hdl_wrapper_t": -1, "__nv_dl_wrapper_t": 0, "__nv_dl_tag": 1,
    "opmath_symmetric_gpu_kernel_with_scalars": -1, "opmath_gpu_kernel_with_scalars": -1,
    "distribution_binary_kernel": -1, "gpu_kernel_with_index": -1, "cuda_scatter_gather_base_kernel": 1,
}  # fmt: skip
# What integer template arguments of these are: sizes and indices.
_FLOATING = frozenset(
    [
        "gemm",
        "gemv",
        "conv",
        "attention",
        "norm",
        "softmax",
        "pooling",
        "reduction",
        "resize",
        "solve",
        "rnn",
    ]
)
_MAX_WRAPPERS = 6
# Those whose first arguments are the types of the data; the functor within says in which type it computes.
_TYPED = frozenset({"BinaryFunctor", "AUnaryFunctor", "BUnaryFunctor"})
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GENERAL = re.compile(r"(?:unary|binary|pointwise|ternary)_op")
_NO_FUNCTOR = re.compile(
    r"-?\d|\(|true|false|std::array|at::detail::Array|at::native::memory::|\w*OffsetCalculator|"
    r"(?:at::native::\(anonymous namespace\)::)?\w*ListMetadata"
)
_NAMESPACES = re.compile(
    r"at|native|c10|std|cuda|templates|detail|impl|\w*internal|\(anonymous namespace\)|"
)
_AFFIXES = re.compile(
    r"^(?:_?launch_|CUDAFunctor_|CUDAFunctorOn(?:Self|Other)_|_cuda_)|"
    r"(?:_cuda_kernel|_kernel_cuda|_kernel_impl|KernelImpl|CUDAKernelImpl|_stub|_kernel|_cuda_out|_cuda|_impl|_functor|Functor|Ops|Op)$"
)
# Words for functors whose names say it differently, with the group that they belong to.
_WORDS: dict[str, tuple[str, str]] = {
    "Fill": ("fill", "fill"), "direct_copy": ("copy", "copy"), "bfloat16_copy": ("copy to bf16", "copy"),
    "bfloat16tofloat32_copy": ("copy bf16 to f32", "copy"), "float16_copy": ("copy to f16", "copy"),
    "copy_device_to_device": ("copy", "copy"), "conj": ("conj", "copy"), "Copy": ("copy", "copy"),
    "float8_copy": ("copy to f8", "copy"), "neg_conj": ("conj", "copy"), "Identity": ("copy", "copy"),
    "arange": ("arange", "fill"), "linspace": ("linspace", "fill"), "Mul": ("mul", ""), "MulScalar": ("mul", ""),
    "Div": ("div", ""), "Add": ("add", ""), "Abs": ("abs", ""), "Sub": ("sub", ""), "CompareEq": ("eq", ""),
    "Compare": ("compare", ""), "compare_scalar": ("compare", ""), "clamp_scalar": ("clamp", ""),
    "clamp_min_scalar": ("clamp_min", ""), "pow_tensor_scalar": ("pow", ""), "pow_tensor_tensor": ("pow", ""),
    "Gelu": ("gelu", ""), "GeluCUDA": ("gelu", ""), "GeluBackwardCUDA": ("gelu backward", ""), "sum": ("sum", ""),
    "Mean": ("mean", ""), "ArgMax": ("argmax", ""), "ArgMin": ("argmin", ""), "Welford": ("variance", ""),
    "NormTwo": ("norm 2", ""), "NormOne": ("norm 1", ""), "Max": ("max", ""), "Min": ("min", ""),
    "MinMax": ("min and max", ""), "plus": ("add", ""), "multiplies": ("mul", ""), "divides": ("div", ""),
    "minus": ("sub", ""), "threshold": ("threshold", ""), "mean": ("mean", ""), "prod": ("prod", ""),
    "batch_norm_update_stats_and_invert": ("batch norm statistics", "norm"),
    "batch_norm_calc_invstd": ("batch norm inverse std", "norm"), "batch_norm_elementwise": ("batch norm", "norm"),
    "batch_norm_elementwise_backward_train": ("batch norm backward", "norm"),
    "GroupNormInternal": ("group norm", "norm"), "GroupNormBackwardInternal": ("group norm backward", "norm"),
    "GroupNormKernelImplInternal": ("group norm", "norm"),
    "GroupNormBackwardKernelImplInternal": ("group norm backward", "norm"), "GroupNorm": ("group norm", "norm"),
    "and": ("all", ""), "or": ("any", ""), "TensorAssign": ("assign", ""), "ReduceAdd": ("add", ""),
    "ReduceMultiply": ("mul", ""), "index": ("index", "index"), "index_put": ("index_put", "index"),
    "index_copy": ("index_copy", "index"), "index_fill": ("index_fill", "index"), "flip": ("flip", "copy"),
    "normal": ("normal", "random"), "uniform": ("uniform", "random"), "bernoulli": ("bernoulli", "random"),
    "random": ("random", "random"), "exponential": ("exponential", "random"),
    "random_from_to": ("random", "random"), "normal_and_transform": ("normal", "random"),
    "uniform_and_transform": ("uniform", "random"), "FusedAdamMath": ("adam", "optimizer"),
    "FusedSgdMath": ("sgd", "optimizer"), "FusedAdagradMath": ("adagrad", "optimizer"),
    "Adam": ("adam", "optimizer"), "SGD": ("sgd", "optimizer"), "LAMBStage1": ("lamb", "optimizer"),
    "LAMBStage2": ("lamb", "optimizer"), "L2Norm": ("norm 2", "reduction"), "LpNorm": ("norm", "reduction"),
    "LpMax": ("max", "reduction"), "Scale": ("scale", ""), "Axpby": ("axpby", ""),
    "UnscaleL2Norm": ("norm 2", "reduction"), "pointwise_op": ("addcmul", ""),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Functor:
    """What is done to each element, in a word; the group if it is not that of the kernel around it; its data types."""

    word: str
    computes: str
    dtypes: tuple[str, ...]


def read_functor(argument: str) -> Functor:
    """Return what a template argument does; a functor that the table does not name gives its own name, trimmed."""
    outer: list[str] = []
    for _ in range(_MAX_WRAPPERS):
        name, arguments = _wrapper(argument)
        place = _WRAPPERS.get(name, 0)
        if len(arguments) <= max(place, 0):
            break
        outer += map(cpp_dtype, arguments[:3] if name in _TYPED else ())
        argument = arguments[place].lstrip("&(")
    name, dtypes = _subject(argument)
    stem = trimmed(name)
    word, computes = _WORDS.get(stem, (_HUMP.sub("_", stem).lower(), ""))
    return Functor(word, computes, unique((*outer, *dtypes)))


def trimmed(name: str) -> str:
    """Return a function's name without what only says where it runs: `silu_kernel` is `silu`."""
    for _ in range(3):
        shorter = _AFFIXES.sub("", name)
        if not shorter or shorter == name:
            break
        name = shorter
    return name


def _wrapper(argument: str) -> tuple[str, tuple[str, ...]]:
    """Return the first part of a name that is a known wrapper, with its arguments; nothing if none is."""
    for part in _parts(argument):
        name = part.partition("<")[0]
        if name in _WRAPPERS:
            return name, split_arguments(part)
    return "", ()


def _parts(argument: str) -> list[str]:
    return [part.strip() for part in pieces(argument, "::")]


def _subject(argument: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of the struct or function that an argument is about, and the types it names."""
    parts = _parts(argument)
    subject = next((part for part in parts if not _NAMESPACES.fullmatch(part[:64])), "")
    types = [cpp_dtype(one) for one in split_arguments(without_parameters(subject))]
    last = re.search(r"lambda\d*'?\(([^()]*)\)", parts[-1])
    if last:
        types = [cpp_dtype(one) for one in last.group(1).split(",")] or types
    return re.split(r"[<(]", subject, maxsplit=1)[0], unique(types)


def read_elementwise(base: KernelName, name: CppName) -> KernelName:
    """Return an elementwise kernel with its functor: the first argument that is a class and not a size or a type."""
    functors = [read_functor(one) for one in name.arguments if _is_functor(one)]
    if not functors or not functors[0].word:
        return base
    first = functors[0]
    return _with_functor(base, first if base.computes != "index" else replace(first, dtypes=()))


def _with_functor(base: KernelName, functor: Functor) -> KernelName:
    computes = functor.computes or base.computes
    dtypes = unique((*functor.dtypes, *base.dtypes))
    return replace(base, functor=functor.word, computes=computes, dtypes=dtypes)


def _is_functor(argument: str) -> bool:
    """Return whether a template argument can be what is done: no number, type, array or calculator of offsets."""
    return not (_NO_FUNCTOR.match(argument[:128]) or cpp_dtype(argument))


def read_multi_tensor(base: KernelName, name: CppName) -> KernelName:
    """Return a multi_tensor_apply kernel: a general functor (UnaryOpFunctor) is followed by its operation (Sqrt)."""
    functors = [read_functor(one) for one in name.arguments if _is_functor(one)]
    if not functors:
        return base
    general = _GENERAL.match(functors[0].word) and len(functors) > 1
    chosen = functors[1] if general else functors[0]
    types = unique(kind for one in functors[:2] for kind in one.dtypes)
    return _with_functor(base, replace(chosen, dtypes=types))


def read_reduce(base: KernelName, name: CppName) -> KernelName:
    """Return reduce_kernel<threads, outputs, ReduceOp<type, functor, ...>>."""
    operation = next((one for one in name.arguments if "ReduceOp<" in one[:64]), "")
    arguments = split_arguments(operation)
    if len(arguments) < 2:  # noqa: PLR2004 - type and functor
        return read_elementwise(base, name)
    functor = read_functor(arguments[1])
    types = unique((cpp_dtype(arguments[0]), *(cpp_dtype(one) for one in arguments[3:4])))
    return replace(_with_functor(base, replace(functor, dtypes=types)), computes="reduction")


def read_templates(base: KernelName, name: CppName) -> KernelName:
    """Return a kernel with the data types among its template arguments; integers only where they are no index type."""
    found = unique((*base.dtypes, *(cpp_dtype(one) for one in name.arguments)))
    floating = tuple(one for one in found if one[0] in "bfc" and one != "bool")
    return replace(base, dtypes=floating if floating and base.computes in _FLOATING else found)


def read_nested_types(base: KernelName, name: CppName) -> KernelName:
    """Return a kernel with the data types of its template arguments and of those within them."""
    found = [cpp_dtype(one) for outer in name.arguments for one in (outer, *split_arguments(outer))]
    return replace(base, dtypes=unique((*base.dtypes, *found)))


def read_flash(base: KernelName, name: CppName) -> KernelName:
    """Return flash attention 2: Flash_fwd_kernel_traits<head size, rows of Q, rows of K, warps, ...>."""
    traits = next((one for one in name.arguments if "kernel_traits<" in one[:64]), "")
    arguments = split_arguments(traits)
    sizes = tuple(int(one) for one in arguments[:3] if one.isdigit())
    types = unique(cpp_dtype(one) for one in arguments)
    return replace(base, tile=(*sizes[1:], sizes[0]) if sizes else (), dtypes=types)


def read_wrapped(name: CppName) -> CppName:
    """Return what a wrapper such as cutlass::Kernel2<X> runs; the name itself if it wraps nothing."""
    for _ in range(4):
        guard = _GUARDS.fullmatch(name.name[:_LONGEST_GUARD])
        place = 0 if guard else _KERNEL_WRAPPERS.get(name.path)
        if place is None:
            break
        classes = [one for one in name.arguments[place:] if not one[:1].isdigit()]
        if not classes:
            break
        name = read_qualified(classes[0], name.text)
    return name


# Templates that compile a kernel for some architectures only: flash::enable_sm90_or_later<X>.
_GUARDS = re.compile(r"enable_(?:\dx_kernel_for_)?sm\d+\w*")
_LONGEST_GUARD = 64
_KERNEL_WRAPPERS = {
    "cutlass::Kernel": 0, "cutlass::Kernel2": 0, "cutlass::device_kernel": 0, "cutlass__5x_cudnn::Kernel": 0,
    "cutlass__5x_cudnn::Kernel2": 0, "cutlass__5x_cublas::Kernel": 0, "cutlass_cudnn::Kernel": 0,
    "cutlass_cudnn_train::Kernel": 0, "cutlass_cudnn_infer::Kernel": 0, "cutlass_mslk::device_kernel": 0,
    "cutlass_mslk::Kernel": 0, "cutlass::KernelWithSmemArg": 0, "ck_tile::kentry": 0, "ck_tile::kentry2": 0,
    "thrust::cuda_cub::core::_kernel_agent": 0, "thrust::cuda_cub::core::detail::_kernel_agent": 0,
    "rocprim::detail::trampoline_kernel": 2,
}  # fmt: skip
