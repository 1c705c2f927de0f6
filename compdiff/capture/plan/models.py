"""Which kernels an ATen op launches on a CUDA device. In: an op call. Out: the row of the table that speaks of it.

Nobody saw these kernels: each one carries the name of its row. A row's `parts` are the kernels in order; the first row that
fits an op call is taken, and the last row fits all. Sources: aten/src/ATen/native (torch 2.14), files as named.
"""

from collections.abc import Callable
from dataclasses import dataclass

from compdiff.model import IN_PLACE_VIEWS, OpCall, TensorMeta

_BIAS_RANK = 1


@dataclass(frozen=True, slots=True)
class Part:
    """One kernel of a row.

    `moves` says what it reads and writes: `all` (inputs read, outputs written; it also does the op's FLOPs), `copy` (as many
    bytes read as the outputs have, and these written), `fill` (outputs written), `into` (as `all`, and the outputs read).
    """

    label: str
    kind: str = "library"
    moves: str = "all"


@dataclass(frozen=True, slots=True)
class KernelModel:
    """One row: the kernels of the ops named, where `when` holds."""

    name: str
    parts: tuple[Part, ...]
    ops: frozenset[str] = frozenset()
    when: Callable[[OpCall], bool] | None = None
    source: str = ""

    def fits(self, call: OpCall) -> bool:
        """Return whether the row speaks of an op call."""
        named = not self.ops or call.name.rpartition("::")[2] in self.ops
        return named and (self.when is None or self.when(call))


# ---------------------------------------------------------------- named conditions


def is_view(call: OpCall) -> bool:
    """Return whether all outputs share the memory of an input, and nothing is written."""
    inputs = {meta.storage for meta in call.inputs}
    return (
        bool(call.outputs)
        and not call.mutates
        and all(meta.storage in inputs for meta in call.outputs)
    )


def is_view_in_place(call: OpCall) -> bool:
    """Return whether the op only changes how its tensor looks at memory: shape, strides, or what autograd knows of it."""
    return call.name in IN_PLACE_VIEWS


def is_higher_order(call: OpCall) -> bool:
    """Return whether the op runs a function that it is given, as `cond` and `flex_attention` do."""
    return call.name.startswith("higher_order::")


def is_on_host(call: OpCall) -> bool:
    """Return whether the op has tensors, and none of them is on the device."""
    devices = {meta.device.partition(":")[0] for meta in (*call.inputs, *call.outputs)}
    return devices == {"cpu"}


def is_empty(call: OpCall) -> bool:
    """Return whether the op makes tensors, and all of them have no element."""
    return bool(call.outputs) and all(0 in meta.shape for meta in call.outputs)


def has_vector_bias(call: OpCall) -> bool:
    """Return whether the first input is a vector: cuBLASLt adds it in the product's epilogue."""
    return len(call.inputs[0].shape) == _BIAS_RANK if call.inputs else False


def changes_device(call: OpCall) -> bool:
    """Return whether inputs and outputs are on different devices."""
    return len({meta.device.partition(":")[0] for meta in (*call.inputs, *call.outputs)}) > 1


def is_plain_copy(call: OpCall) -> bool:
    """Return whether the op copies packed memory without changing dtype or layout."""
    packed = [meta for meta in (*call.inputs, *call.outputs) if meta.shape]
    layouts = {(meta.dtype, meta.shape, meta.stride) for meta in packed}
    return len(layouts) == 1 and all(is_packed(meta) for meta in packed)


def is_packed(meta: TensorMeta) -> bool:
    """Return whether a tensor's elements lie without gaps, in some order of its dimensions."""
    step = 1
    for stride, size in sorted(zip(meta.stride, meta.shape, strict=False)):
        if size == 1:
            continue
        if stride != step:
            return False
        step *= size
    return True


def has_three_inputs(call: OpCall) -> bool:
    """Return whether the op has three tensor inputs: data, weight and bias."""
    return len(call.inputs) >= 3  # noqa: PLR2004


# ---------------------------------------------------------------- the table

_COPY = Part("memcpy DtoD", "memcpy", "copy")
_GEMM = Part("gemm")

MODELS: tuple[KernelModel, ...] = (
    KernelModel("empty tensors", (), when=is_empty),
    KernelModel("views launch nothing", (), when=is_view),
    KernelModel("views in place launch nothing", (), when=is_view_in_place),
    KernelModel("on the host: launches nothing", (), when=is_on_host),
    KernelModel(
        "higher-order op: at least one kernel, what its function launches is not seen",
        (Part("higher-order op"),),
        when=is_higher_order,
    ),
    KernelModel(
        "allocations launch nothing",
        (),
        ops=frozenset(
            {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_"}
        ),
    ),
    KernelModel(
        "value read by the host",
        (Part("memcpy DtoH", "memcpy"),),
        ops=frozenset({"_local_scalar_dense"}),
        source="native/cuda/CUDAScalar.cu",
    ),
    KernelModel(
        "copy between devices",
        (Part("memcpy between devices", "memcpy", "copy"),),
        ops=frozenset({"_to_copy", "copy_", "_copy_from"}),
        when=changes_device,
        source="native/cuda/Copy.cu",
    ),
    KernelModel(
        "copy of packed memory",
        (_COPY,),
        ops=frozenset({"_to_copy", "clone", "copy_"}),
        when=is_plain_copy,
        source="native/cuda/Copy.cu: copy_requires_temporaries, memcpy_eligible",
    ),
    KernelModel(
        "addmm with a vector bias: one GEMM with an epilogue",
        (Part("gemm with bias epilogue"),),
        ops=frozenset({"addmm", "_addmm_activation"}),
        when=has_vector_bias,
        source="native/cuda/Blas.cpp: isInputCompliesAddmmCudaLt",
    ),
    KernelModel(
        "addmm: the bias is copied into the output, then a GEMM with beta = 1",
        (_COPY, Part("gemm", moves="into")),
        ops=frozenset({"addmm", "baddbmm", "addbmm", "addmv"}),
        source="native/cuda/Blas.cpp: addmm_out_cuda_impl, baddbmm_out_cuda_impl",
    ),
    KernelModel(
        "matrix product: one GEMM",
        (_GEMM,),
        ops=frozenset({"mm", "bmm", "mv", "dot", "_scaled_mm", "_int_mm"}),
        source="native/cuda/Blas.cpp",
    ),
    KernelModel(
        "convolution with bias: the bias is added by a kernel of its own",
        (Part("convolution"), Part("add bias", moves="copy")),
        ops=frozenset({"convolution", "cudnn_convolution"}),
        when=has_three_inputs,
        source="native/cudnn/ConvShared.cpp; native/Convolution.cpp: _convolution",
    ),
    KernelModel(
        "convolution: one kernel",
        (Part("convolution"),),
        ops=frozenset({"convolution", "cudnn_convolution", "_convolution"}),
        source="native/cudnn/ConvShared.cpp",
    ),
    KernelModel(
        "convolution backward: data and weight gradients",
        (Part("convolution data gradient"), Part("convolution weight gradient", moves="copy")),
        ops=frozenset({"convolution_backward", "cudnn_convolution_backward"}),
        source="native/Convolution.cpp: convolution_backward",
    ),
    KernelModel(
        "attention: one kernel",
        (Part("attention"),),
        ops=frozenset(
            {
                "_scaled_dot_product_cudnn_attention",
                "_scaled_dot_product_flash_attention",
                "_scaled_dot_product_efficient_attention",
                "_flash_attention_forward",
                "_efficient_attention_forward",
            }
        ),
        source="native/transformers/cuda/attention.cu; native/cudnn/MHA.cpp",
    ),
    KernelModel(
        "attention backward: row sums, gradients, conversion",
        (
            Part("attention row sums", moves="fill"),
            Part("attention gradients"),
            Part("attention gradient conversion", moves="copy"),
        ),
        ops=frozenset(
            {
                "_scaled_dot_product_cudnn_attention_backward",
                "_scaled_dot_product_flash_attention_backward",
                "_scaled_dot_product_efficient_attention_backward",
            }
        ),
        source="native/transformers/cuda/attention_backward.cu",
    ),
    KernelModel(
        "loss backward: zero the gradient, then write it",
        (Part("fill", moves="fill"), Part("loss gradient")),
        ops=frozenset({"nll_loss_backward", "nll_loss2d_backward"}),
        source="native/cuda/Loss.cu, NLLLoss2d.cu",
    ),
    KernelModel(
        "layer norm backward: input gradient, then weight gradients",
        (Part("layer norm input gradient"), Part("layer norm weight gradients", moves="fill")),
        ops=frozenset({"native_layer_norm_backward", "native_group_norm_backward"}),
        source="native/cuda/layer_norm_kernel.cu",
    ),
    KernelModel(
        "batch norm by cuDNN: one kernel",
        (Part("batch norm"),),
        ops=frozenset({"cudnn_batch_norm"}),
        source="native/cudnn/BatchNorm.cpp: cudnnBatchNormalizationForwardTrainingEx, ForwardInference",
    ),
    KernelModel(
        "batch norm in training: statistics, then the transform",
        (Part("batch norm statistics", moves="fill"), Part("batch norm")),
        ops=frozenset({"native_batch_norm", "_native_batch_norm_legit"}),
        source="native/cuda/Normalization.cu",
    ),
    KernelModel(
        "embedding backward: sort the indices, then add up",
        (Part("sort indices", moves="fill"), Part("embedding gradient")),
        ops=frozenset({"embedding_dense_backward"}),
        source="native/cuda/Embedding.cu: at least these",
    ),
    KernelModel(
        "sort: at least one kernel",
        (Part("sort"),),
        ops=frozenset({"sort", "topk", "argsort", "unique", "nonzero"}),
        source="native/cuda/Sort.cu",
    ),
    KernelModel(
        "recurrent layer: at least one kernel",
        (Part("recurrent layer"),),
        ops=frozenset({"_cudnn_rnn", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell"}),
        source="native/cudnn/RNN.cpp: the number depends on layers and steps",
    ),
    KernelModel("one op, one kernel", (Part("kernel"),), source="native/cuda: one launch an op"),
)


def model_of(call: OpCall) -> KernelModel:
    """Return the first row of the table that speaks of an op call."""
    return next(row for row in MODELS if row.fits(call))
