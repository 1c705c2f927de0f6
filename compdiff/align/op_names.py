"""What one thing is called on either side, as tables. In: names of op calls. Out: names of the same work in compiled code.

A generated kernel is named after the ops that AOTAutograd traced, which are those of eager mode but for the ones here. A
library call is what the compiler made of some ops: a row says of which, and what else may run in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# Ops that a backend has a kernel of its own for, by the op that AOTAutograd traces in their place.
# Source: aten/src/ATen/native/Normalization.cpp: _select_batch_norm_backend; torch/_decomp/decompositions.py (torch 2.14).
_BATCH_NORM = "native_batch_norm"
_BATCH_NORM_BACKWARD = "native_batch_norm_backward"
SAME_OP: dict[str, str] = {
    "_native_batch_norm_legit": _BATCH_NORM,
    "_native_batch_norm_legit_functional": _BATCH_NORM,
    "_native_batch_norm_legit_no_training": _BATCH_NORM,
    "_batch_norm_with_update": _BATCH_NORM,
    "_batch_norm_with_update_functional": _BATCH_NORM,
    "cudnn_batch_norm": _BATCH_NORM,
    "miopen_batch_norm": _BATCH_NORM,
    "batch_norm_backward": _BATCH_NORM_BACKWARD,
    "cudnn_batch_norm_backward": _BATCH_NORM_BACKWARD,
    "miopen_batch_norm_backward": _BATCH_NORM_BACKWARD,
    "_fused_dropout": "native_dropout",
    "_masked_scale": "native_dropout_backward",
    "convert_element_type": "_to_copy",
    "max_pool2d": "max_pool2d_with_indices",
    "max_pool3d": "max_pool3d_with_indices",
    "true_divide": "div",
}
# Composite ops that eager mode takes apart and AOTAutograd does not, by the op that it traces instead: (forward, backward).
# Source: aten/src/ATen/native/Dropout.cpp; torch/_decomp/decompositions.py: dropout.
COMPOSITES: dict[str, tuple[str, str]] = {
    "dropout": ("native_dropout", "native_dropout_backward"),
}
# The same for what autograd runs. Dynamo unpacks a tensor by selecting its parts, and eager mode by `unbind`.
# Source: torch/_dynamo/variables/tensor.py: unpack_var_sequence.
AUTOGRAD_NODES: dict[str, str] = {
    "UnbindBackward0": "select_backward",
}
# Ops that AOTAutograd takes apart before it traces, by the op among the parts that is rarest.
# Source: torch/_decomp/decompositions.py: upsample_nearest2d, _upsample_linear (torch 2.14).
TAKEN_APART: dict[str, str] = {
    "upsample_bilinear2d": "_unsafe_index",
    "upsample_nearest1d": "_unsafe_index",
    "upsample_nearest2d": "_unsafe_index",
    "upsample_nearest3d": "_unsafe_index",
}
# Ops that no pointwise or reduction kernel does: a kernel named after one makes its input ready, unless it is a template.
LIBRARY_OPS = frozenset(
    {
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_mm",
        "addmm",
        "baddbmm",
        "bmm",
        "convolution",
        "convolution_backward",
        "mm",
    }
)


# Products that a compiler may call without the addition in them, which a kernel named after the op does then.
# Source: torch/_inductor/fx_passes/post_grad.py: unfuse_bias_add_to_pointwise.
SPLIT_PRODUCTS = frozenset({("addmm", "aten::mm"), ("baddbmm", "aten::bmm")})


@dataclass(frozen=True)
class LibraryCall:
    """What a library call of compiled code does: of `needs` each in order, views and `between` among them, then of `after`.

    `whole` says that views among them are part of what was recognised, with those that bring its first input into shape.
    """

    name: str
    needs: tuple[str, ...]
    between: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    whole: bool = False


_SCORES = frozenset(
    {"mul", "div", "add", "masked_fill", "where", "_to_copy", "clone", "native_dropout"}
)
_ATTENTIONS = tuple(
    LibraryCall(f"aten::{name}", ("bmm", "_softmax", "bmm"), between=_SCORES, whole=True)
    for name in (
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_fused_attention_overrideable",
    )
)
# Source: torch/_inductor/fx_passes/mkldnn_fusion.py: unary and binary fusions.
EPILOGUES = frozenset(
    {"relu", "sigmoid", "tanh", "gelu", "hardswish", "hardsigmoid", "hardtanh", "leaky_relu", "silu", "add"}
)  # fmt: skip
# Rows of one name are tried in order.
# Source: torch/_inductor/fx_passes/post_grad.py: addmm, unfuse_bias_add_to_pointwise; fuse_attention.py; mkldnn_fusion.py.
LIBRARY_CALLS: tuple[LibraryCall, ...] = (
    LibraryCall("aten::addmm", ("mm", "add")),
    LibraryCall("aten::baddbmm", ("bmm", "add")),
    LibraryCall("aten::_addmm_activation", ("addmm",), after=frozenset({"relu", "gelu"})),
    LibraryCall("aten::mm", ("addmm",)),
    LibraryCall("aten::bmm", ("baddbmm",)),
    LibraryCall("mkldnn::_convolution_pointwise", ("convolution", _BATCH_NORM), after=EPILOGUES),
    LibraryCall("mkldnn::_convolution_pointwise", ("convolution",), after=EPILOGUES),
    LibraryCall("mkldnn::_convolution_pointwise_", ("convolution", _BATCH_NORM), after=EPILOGUES),
    LibraryCall("mkldnn::_convolution_pointwise_", ("convolution",), after=EPILOGUES),
    LibraryCall("mkldnn::_convolution_transpose_pointwise", ("convolution",), after=EPILOGUES),
    LibraryCall("mkldnn::_linear_pointwise", ("addmm",), after=EPILOGUES),
    LibraryCall("mkldnn::_linear_pointwise", ("mm",), after=EPILOGUES),
    LibraryCall("mkl::_mkl_linear", ("addmm",)),
    LibraryCall("mkl::_mkl_linear", ("mm",)),
    *_ATTENTIONS,
)
# Ops whose constants are multiplied into the weights of the convolution before them, when nothing is trained.
# Source: torch/_inductor/fx_passes/binary_folding.py: folded_op; pre_grad.py: fuse_conv_bn.
FOLDED_INTO: dict[str, frozenset[str]] = {_BATCH_NORM: frozenset({"convolution"})}
# Ops of the dispatcher that compiled code calls for a part of an op, the rest of which runs in kernels around it.
# Source: ScatterFallback and IndexPutFallback, torch/_inductor/ir.py (torch 2.14); lowering.py: max_pool2d backward.
FALLBACKS: dict[str, frozenset[str]] = {
    "aten::scatter_": frozenset({"scatter"}),
    "aten::scatter_reduce_": frozenset(
        {"max_pool2d_with_indices_backward", "scatter_add", "scatter_reduce", "gather_backward"}
    ),
    "aten::index_put_": frozenset(
        {"index_put", "_unsafe_index_put", "embedding_dense_backward", "index_add"}
    ),
}
# Op calls that compiled code adds by itself: they stand for none of the left side.
ADDED_CALLS = frozenset(
    {"_to_copy", "clone", "contiguous", "copy", "empty", "empty_like", "empty_strided", "fill", "new_empty_strided",
     "ones_like", "rand", "randint", "randn", "seed", "zero", "zeros_like"}
)  # fmt: skip


def functional_name(name: str) -> str:
    """Return an op's name without namespace and the underscore of its in-place form: `aten::add_` gives `add`."""
    base = name.rpartition("::")[2]
    return base if base.startswith("_") or not base.endswith("_") else base[:-1]


def traced_name(name: str) -> str:
    """Return the one name that stands for an op of either side, whichever backend's kernel it asks for."""
    base = functional_name(name)
    return SAME_OP.get(base, base)


def composite_of(chain: Sequence[str]) -> str:
    """Return the first composite op of a chain that AOTAutograd traces as one op, or ""."""
    return next((base for base in map(functional_name, chain) if base in COMPOSITES), "")


def is_view_name(name: str) -> bool:
    """Return whether an op only makes views, whatever it is given."""
    namespace, _, base = name.rpartition("::")
    return namespace == "aten" and base in _VIEWS


# Ops that are views by their schema, for calls whose tensors are not known. Source: native_functions.yaml (torch 2.14).
_VIEWS = frozenset(
    {
        "_reshape_alias",
        "_unsafe_view",
        "alias",
        "as_strided",
        "detach",
        "diagonal",
        "expand",
        "lift_fresh",
        "narrow",
        "permute",
        "real",
        "select",
        "slice",
        "split",
        "split_with_sizes",
        "squeeze",
        "t",
        "transpose",
        "unbind",
        "unfold",
        "unsqueeze",
        "view",
        "view_as_real",
    }
)
