"""The table of GPUs. In: nothing. Out: TARGETS by name. Rates are dense, in TFLOP/s (TOP/s for int8), at boost clock.

Limits by compute capability: CUDA C++ Programming Guide, "Features and Technical Specifications per Compute Capability".
"""

from compdiff.model import Target

_GB = 1_000_000_000
_KIB = 1024
_MIB = 1024 * _KIB
_GUIDE = (
    "limits: CUDA C++ Programming Guide 13.0, section 'Compute Capabilities', "
    "https://docs.nvidia.com/cuda/cuda-c-programming-guide/"
)

# A100 SXM 80 GB.
_A100 = Target(
    name="a100",
    title="NVIDIA A100-SXM4-80GB",
    capability=(8, 0),
    multiprocessors=108,
    clock_mhz=1410,
    memory_bytes=80 * _GB,
    memory_gb_per_s=2039,
    l2_bytes=40 * _MIB,
    shared_bytes_per_multiprocessor=164 * _KIB,
    shared_bytes_per_block=163 * _KIB,
    threads_per_multiprocessor=2048,
    blocks_per_multiprocessor=32,
    peak_tflops={
        "float64": 19.5,
        "float32": 19.5,
        "tf32": 156,
        "float16": 312,
        "bfloat16": 312,
        "int8": 624,
    },
    sources=(
        (
            "rates, memory: NVIDIA A100 Tensor Core GPU datasheet (2021), "
            "https://www.nvidia.com/en-us/data-center/a100/"
        ),
        "SMs, clock, L2: NVIDIA A100 Tensor Core GPU Architecture whitepaper, table 4",
        _GUIDE,
    ),
)
_H100 = Target(
    name="h100",
    title="NVIDIA H100 80GB HBM3",
    capability=(9, 0),
    multiprocessors=132,
    clock_mhz=1980,
    memory_bytes=80 * _GB,
    memory_gb_per_s=3350,
    l2_bytes=50 * _MIB,
    shared_bytes_per_multiprocessor=228 * _KIB,
    shared_bytes_per_block=227 * _KIB,
    threads_per_multiprocessor=2048,
    blocks_per_multiprocessor=32,
    peak_tflops={
        "float64": 67,
        "float32": 67,
        "tf32": 494.5,
        "float16": 989.5,
        "bfloat16": 989.5,
        "float8_e4m3fn": 1979,
        "float8_e5m2": 1979,
        "int8": 1979,
    },
    sources=(
        (
            "rates (the sheet's sparse ones halved), memory: NVIDIA H100 Tensor Core GPU datasheet, SXM, "
            "https://www.nvidia.com/en-us/data-center/h100/"
        ),
        (
            "SMs, L2: NVIDIA H100 Tensor Core GPU Architecture whitepaper, table 4; "
            "clock: maximum graphics clock that nvidia-smi shows"
        ),
        _GUIDE,
    ),
)
_H200 = Target(
    name="h200",
    title="NVIDIA H200",
    capability=(9, 0),
    multiprocessors=132,
    clock_mhz=1980,
    memory_bytes=141 * _GB,
    memory_gb_per_s=4800,
    l2_bytes=60 * _MIB,
    shared_bytes_per_multiprocessor=228 * _KIB,
    shared_bytes_per_block=227 * _KIB,
    threads_per_multiprocessor=2048,
    blocks_per_multiprocessor=32,
    peak_tflops=_H100.peak_tflops,
    sources=(
        (
            "rates (the sheet's sparse ones halved), memory: NVIDIA H200 Tensor Core GPU datasheet, SXM, "
            "https://www.nvidia.com/en-us/data-center/h200/"
        ),
        "SMs, clock, L2: the device's own properties as torch.cuda shows them",
        _GUIDE,
    ),
)
_B200 = Target(
    name="b200",
    title="NVIDIA B200",
    capability=(10, 0),
    multiprocessors=148,
    clock_mhz=1965,
    memory_bytes=180 * _GB,
    memory_gb_per_s=8000,
    l2_bytes=126 * _MIB,
    shared_bytes_per_multiprocessor=228 * _KIB,
    shared_bytes_per_block=227 * _KIB,
    threads_per_multiprocessor=2048,
    blocks_per_multiprocessor=32,
    peak_tflops={
        "float64": 37,
        "float32": 75,
        "tf32": 1125,
        "float16": 2250,
        "bfloat16": 2250,
        "float8_e4m3fn": 4500,
        "float8_e5m2": 4500,
        "int8": 4500,
    },
    sources=(
        (
            "rates (an eighth of the board's; sparse ones halved), memory: NVIDIA HGX B200 datasheet, "
            "https://www.nvidia.com/en-us/data-center/hgx/"
        ),
        "SMs, clock, L2: the device's own properties as torch.cuda shows them",
        _GUIDE,
    ),
)
_L4 = Target(
    name="l4",
    title="NVIDIA L4",
    capability=(8, 9),
    multiprocessors=58,
    clock_mhz=2040,
    memory_bytes=24 * _GB,
    memory_gb_per_s=300,
    l2_bytes=48 * _MIB,
    shared_bytes_per_multiprocessor=100 * _KIB,
    shared_bytes_per_block=99 * _KIB,
    threads_per_multiprocessor=1536,
    blocks_per_multiprocessor=24,
    peak_tflops={
        "float64": 0.47,
        "float32": 30.3,
        "tf32": 60,
        "float16": 121,
        "bfloat16": 121,
        "float8_e4m3fn": 242.5,
        "float8_e5m2": 242.5,
        "int8": 242.5,
    },
    sources=(
        (
            "rates (the sheet's sparse ones halved), memory: NVIDIA L4 Tensor Core GPU datasheet, "
            "https://www.nvidia.com/en-us/data-center/l4/"
        ),
        "SMs, clock, L2: NVIDIA Ada GPU Architecture whitepaper, AD104; float64 is 1/64 of float32",
        _GUIDE,
    ),
)
_L40S = Target(
    name="l40s",
    title="NVIDIA L40S",
    capability=(8, 9),
    multiprocessors=142,
    clock_mhz=2520,
    memory_bytes=48 * _GB,
    memory_gb_per_s=864,
    l2_bytes=96 * _MIB,
    shared_bytes_per_multiprocessor=100 * _KIB,
    shared_bytes_per_block=99 * _KIB,
    threads_per_multiprocessor=1536,
    blocks_per_multiprocessor=24,
    peak_tflops={
        "float64": 1.43,
        "float32": 91.6,
        "tf32": 183,
        "float16": 362,
        "bfloat16": 362,
        "float8_e4m3fn": 733,
        "float8_e5m2": 733,
        "int8": 733,
    },
    sources=(
        "rates, memory: NVIDIA L40S datasheet, https://www.nvidia.com/en-us/data-center/l40s/",
        "SMs, clock, L2: NVIDIA Ada GPU Architecture whitepaper, AD102; float64 is 1/64 of float32",
        _GUIDE,
    ),
)
_RTX4090 = Target(
    name="rtx4090",
    title="NVIDIA GeForce RTX 4090",
    capability=(8, 9),
    multiprocessors=128,
    clock_mhz=2520,
    memory_bytes=24 * _GB,
    memory_gb_per_s=1008,
    l2_bytes=72 * _MIB,
    shared_bytes_per_multiprocessor=100 * _KIB,
    shared_bytes_per_block=99 * _KIB,
    threads_per_multiprocessor=1536,
    blocks_per_multiprocessor=24,
    peak_tflops={
        "float64": 1.29,
        "float32": 82.6,
        "tf32": 82.6,
        "float16": 165.2,
        "bfloat16": 165.2,
        "float8_e4m3fn": 330.3,
        "float8_e5m2": 330.3,
        "int8": 660.6,
    },
    sources=(
        (
            "all but limits: NVIDIA Ada GPU Architecture whitepaper, table 2 "
            "(16-bit and 8-bit rates with float32 accumulation); float64 is 1/64 of float32"
        ),
        _GUIDE,
    ),
)
_T4 = Target(
    name="t4",
    title="Tesla T4",
    capability=(7, 5),
    multiprocessors=40,
    clock_mhz=1590,
    memory_bytes=16 * _GB,
    memory_gb_per_s=320,
    l2_bytes=4 * _MIB,
    shared_bytes_per_multiprocessor=64 * _KIB,
    shared_bytes_per_block=64 * _KIB,
    threads_per_multiprocessor=1024,
    blocks_per_multiprocessor=16,
    peak_tflops={"float64": 0.254, "float32": 8.1, "float16": 65, "int8": 130},
    sources=(
        "rates, memory: NVIDIA T4 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/tesla-t4/",
        "SMs, clock, L2: NVIDIA Turing GPU Architecture whitepaper, TU104; float64 is 1/32 of float32",
        _GUIDE,
    ),
)

TARGETS: dict[str, Target] = {
    target.name: target for target in (_A100, _H100, _H200, _B200, _L4, _L40S, _RTX4090, _T4)
}
