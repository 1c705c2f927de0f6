"""What may close the gap between eager and compiled outputs. Adding a switch is one row of SWITCHES."""

from dataclasses import dataclass, field
from typing import Literal

from compdiff.model import Option

Kind = Literal["layer", "switch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One other way to compile a case.

    Attributes:
        name: unique; shown to the user, as they would set it.
        kind: a `layer` leaves out all that comes after one part of the compiler; a `switch` changes one thing of Inductor or
            torch.
        means: what the outputs show when they agree this way, one clause without a capital or a full stop.
        source: where torch does it.
        backend: what torch.compile gets as `backend`.
        options: the options of Inductor that are set.
        full_float32: whether float32 products are computed in float32, on both sides.
        devices: the device types on which it can change anything.
    """

    name: str
    kind: Kind
    means: str
    source: str
    backend: str = "inductor"
    options: dict[str, Option] = field(default_factory=dict)
    full_float32: bool = False
    devices: frozenset[str] = frozenset({"cpu", "cuda"})


_CPU, _CUDA = frozenset({"cpu"}), frozenset({"cuda"})

LAYERS = (
    Switch(
        name="backend=eager",
        kind="layer",
        backend="eager",
        means="Dynamo alone: the traced graph, run by the ops of eager mode",
        source="torch/_dynamo/backends/debugging.py",
    ),
    Switch(
        name="backend=aot_eager",
        kind="layer",
        backend="aot_eager",
        means="and AOTAutograd: functionalised, forward and backward traced",
        source="torch/_dynamo/backends/debugging.py",
    ),
    Switch(
        name="backend=aot_eager_decomp_partition",
        kind="layer",
        backend="aot_eager_decomp_partition",
        means="and Inductor's decompositions and the partitioner, without its kernels",
        source="torch/_dynamo/backends/debugging.py",
    ),
)
SWITCHES = (
    Switch(
        name="emulate_precision_casts=True",
        kind="switch",
        options={"emulate_precision_casts": True},
        means="fused kernels keep values in float32 where eager mode rounds each op's result to float16 or bfloat16",
        source="torch/_inductor/config.py: emulate_precision_casts",
    ),
    Switch(
        name="fallback_random=True",
        kind="switch",
        options={"fallback_random": True},
        means="Inductor draws other random numbers than eager mode",
        source="torch/_inductor/config.py: fallback_random",
    ),
    Switch(
        name="eager_numerics.division_rounding=True",
        kind="switch",
        options={"eager_numerics.division_rounding": True},
        devices=_CUDA,
        means="Triton divides approximately where eager mode rounds to the nearest",
        source="torch/_inductor/config.py: eager_numerics.division_rounding",
    ),
    Switch(
        name="eager_numerics.disable_ftz=True",
        kind="switch",
        options={"eager_numerics.disable_ftz": True},
        devices=_CUDA,
        means="Triton turns the smallest numbers into zero",
        source="torch/_inductor/config.py: eager_numerics.disable_ftz",
    ),
    Switch(
        name="eager_numerics.use_pytorch_libdevice=True",
        kind="switch",
        options={"eager_numerics.use_pytorch_libdevice": True},
        devices=_CUDA,
        means="Triton's library of functions such as pow and erf is another than CUDA's",
        source="torch/_inductor/config.py: eager_numerics.use_pytorch_libdevice",
    ),
    Switch(
        name="TF32 off",
        kind="switch",
        full_float32=True,
        devices=_CUDA,
        means="products of float32 are computed in TF32, in other kernels on the two sides",
        source="torch/backends/cuda/__init__.py: matmul.allow_tf32",
    ),
    Switch(
        name="pattern_matcher=False",
        kind="switch",
        options={"pattern_matcher": False},
        means="a pattern of Inductor's graph passes put other ops in the place of some",
        source="torch/_inductor/config.py: pattern_matcher",
    ),
    Switch(
        name="epilogue_fusion=False",
        kind="switch",
        options={"epilogue_fusion": False},
        means="what follows a template kernel is computed in it, before its result is rounded",
        source="torch/_inductor/config.py: epilogue_fusion",
    ),
    Switch(
        name="shape_padding=False",
        kind="switch",
        options={"shape_padding": False},
        devices=_CUDA,
        means="a product is padded, and so done by a kernel that adds in another order",
        source="torch/_inductor/config.py: shape_padding",
    ),
    Switch(
        name="layout_optimization=False",
        kind="switch",
        options={"layout_optimization": False},
        means="convolutions run channels-last, in kernels that add in another order",
        source="torch/_inductor/config.py: layout_optimization",
    ),
    Switch(
        name="split_reductions=False",
        kind="switch",
        options={"split_reductions": False},
        means="a reduction is split into parts that are added afterwards",
        source="torch/_inductor/config.py: split_reductions",
    ),
    Switch(
        name="max_autotune=False",
        kind="switch",
        options={
            "max_autotune": False,
            "max_autotune_gemm": False,
            "max_autotune_pointwise": False,
        },
        means="autotuning chose kernels that add in another order",
        source="torch/_inductor/config.py: max_autotune",
    ),
    Switch(
        name="freezing=False",
        kind="switch",
        options={"freezing": False},
        means="parameters are folded into others at compile time, and rounded there",
        source="torch/_inductor/config.py: freezing",
    ),
    Switch(
        name="cpp.enable_unsafe_math_opt_flag=False",
        kind="switch",
        options={"cpp.enable_unsafe_math_opt_flag": False},
        devices=_CPU,
        means="the C++ compiler may reorder floating-point arithmetic",
        source="torch/_inductor/config.py: cpp.enable_unsafe_math_opt_flag",
    ),
    Switch(
        name="cpp.enable_floating_point_contract_flag=off",
        kind="switch",
        options={"cpp.enable_floating_point_contract_flag": "off"},
        devices=_CPU,
        means="the C++ compiler joins a product and a sum, which rounds once in the place of twice",
        source="torch/_inductor/config.py: cpp.enable_floating_point_contract_flag",
    ),
    Switch(
        name="cpp.simdlen=1",
        kind="switch",
        options={"cpp.simdlen": 1},
        devices=_CPU,
        means="vectorised kernels add in another order, and have other versions of functions such as exp",
        source="torch/_inductor/config.py: cpp.simdlen",
    ),
)
