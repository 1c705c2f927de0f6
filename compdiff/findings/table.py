"""The table of findings. In: nothing. Out: FINDINGS. Adding one is a row here, and a detector if none fits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compdiff.findings import detect, device, host, kernel_names
from compdiff.findings.seen import Seen
from compdiff.model import Diff, Run


@dataclass(frozen=True, kw_only=True)
class FindingRule:
    """A kind of diagnosis: `seen` yields what was found in a run, with its numbers; the texts say what it means.

    `timed` rows rest on measured times.
    """

    id: str
    title: str
    means: str
    advice: str
    source: str
    seen: Callable[[Run, Diff], Iterator[Seen]]
    timed: bool = False


FINDINGS: tuple[FindingRule, ...] = (
    FindingRule(
        id="numerics-differ",
        title="The outputs differ beyond the tolerance",
        means="Compiled code computes something else, or in a precision that the tolerance does not allow.",
        advice="Compare both errors against float64: the side with the larger one lost precision. Then try "
        "--option emulate_precision_casts=True, or set TOLERANCE in the case.",
        source="torch/testing/_comparison.py",
        seen=detect.numerics_differ,
    ),
    FindingRule(
        id="compiled-slower",
        title="The compiled function is slower",
        means="What fusion saves is less than what guards, the wrapper and other kernels cost at this size.",
        advice="Try larger inputs, --mode reduce-overhead on a GPU, or compile a larger part of the model.",
        source="docs/capture.md: timing",
        seen=detect.compiled_slower,
        timed=True,
    ),
    FindingRule(
        id="compiled-overhead",
        title="Guards and wrapper cost more than fusion saves",
        means="Each call looks up the compiled code, checks its guards and runs Python around the kernels, in this profiled "
        "step for longer than the kernels became shorter.",
        advice="Compile a larger part of the model, use larger inputs, fewer guards, or --mode reduce-overhead.",
        source="self times of the profiler's events of compiled code, against the work of both sides",
        seen=host.compiled_overhead,
        timed=True,
    ),
    FindingRule(
        id="overhead-bound",
        title="The device is idle most of the time",
        means="The CPU cannot feed the device: dispatch and launches, not kernels, set the time.",
        advice="Larger inputs, fewer launches (fusion), or --mode reduce-overhead, which replays a CUDA graph.",
        source="device busy share: the time in which a kernel ran, over the wall time of the profiled step",
        seen=device.overhead_bound,
        timed=True,
    ),
    FindingRule(
        id="device-bound",
        title="The device is busy nearly all of the time",
        means="Kernels, not the CPU, set the time: only faster or fewer kernels help.",
        advice="Look at the kernel that takes most of it: its dtype, layout and tile, and what could be fused into it.",
        source="device busy share, as for overhead-bound",
        seen=device.device_bound,
        timed=True,
    ),
    FindingRule(
        id="small-kernels",
        title="Most kernels are shorter than their launch",
        means="Each launch costs the CPU about 5 us, and a kernel shorter than that cannot hide it.",
        advice="Fuse them, or replay them as one CUDA graph: --mode reduce-overhead.",
        source="kernel durations against 5 us a launch",
        seen=device.small_kernels,
        timed=True,
    ),
    FindingRule(
        id="launch-bound-plan",
        title="At this size most kernels would be launch-bound",
        means="Their roofline estimates are below the shortest kernel there is, so launches are saved, not bytes.",
        advice="Plan a larger size (--param) to see what the rewrites save in memory traffic.",
        source="docs/plans.md: estimates",
        seen=device.launch_bound_plan,
    ),
    FindingRule(
        id="late-start",
        title="The device waits at the start of the step",
        means="The first kernel starts long after the first op: the CPU does other work before it launches anything.",
        advice="Look at what runs between the first op and the first launch: guards, Python, data preparation.",
        source="start of the first kernel minus start of the first op call, over the step",
        seen=device.late_starts,
        timed=True,
    ),
    FindingRule(
        id="waits-for-device",
        title="An op makes the CPU wait for the device",
        means="Its result depends on values that only the device has: the queue runs empty, and Dynamo breaks the graph.",
        advice="Keep the value on the device (torch.where, masks of fixed shape), or read it once, late.",
        source="aten/src/ATen/native/cuda: CUDAScalar.cu, Nonzero.cu, Unique.cu, Repeat.cu",
        seen=device.waiting_ops,
    ),
    FindingRule(
        id="pageable-copies",
        title="Memory is copied through pageable buffers",
        means="A copy from or to pageable host memory is staged, and the CPU waits for it.",
        advice="Pin the memory (pin_memory=True) and copy with non_blocking=True, or make the tensor on the device.",
        source="the trace's names of copies: Memcpy HtoD (Pageable -> Device)",
        seen=device.pageable_copies,
    ),
    FindingRule(
        id="hidden-copies",
        title="An op copies within the device",
        means="The op launches a copy beside its own kernel: a bias that seeds an output, or an input in another layout.",
        advice="Give the input in the layout that the kernel wants; a 1-D bias is added in the GEMM's epilogue.",
        source="Memcpy DtoD launched by an op that is no copy",
        seen=device.hidden_copies,
    ),
    FindingRule(
        id="device-allocations",
        title="The device's allocator is called in a warm step",
        means="cudaMalloc and cudaFree wait for the device; PyTorch's caching allocator should not need them any more.",
        advice="Look for shapes that change from step to step, or memory that is nearly full; "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True may help.",
        source="c10/cuda/CUDACachingAllocator.cpp",
        seen=device.allocations,
    ),
    FindingRule(
        id="wide-distribution",
        title="A kernel takes very different times",
        means="Launches alike differ by more than three times: clocks, other streams or memory contention, not the code.",
        advice="Compare medians, not means; look at what ran beside the slowest launch.",
        source="slowest launch over the median of launches with the same name, grid and block",
        seen=device.wide_distributions,
        timed=True,
    ),
    FindingRule(
        id="adaptive-kernels",
        title="An op asks for the occupancy before it launches",
        means="The kernel's grid is chosen by how many blocks fit on this device, so it differs from one GPU to another.",
        advice="Nothing by itself: compare such kernels on one kind of device, and expect a few microseconds of host time.",
        source="cudaOccupancyMaxActiveBlocksPerMultiprocessor beside the launch",
        seen=host.adaptive_kernels,
    ),
    FindingRule(
        id="many-calls",
        title="One op makes up most of the op calls",
        means="Each call costs the dispatcher some microseconds, however little the op does.",
        advice="Batch it (torch.stack, bmm, foreach), or move the loop over elements into one op.",
        source="op calls by name",
        seen=device.many_calls,
    ),
    FindingRule(
        id="other-kernel",
        title="A kept op runs another kernel",
        means="The same op call runs on both sides with kernels of other names: another layout, dtype, tile or algorithm.",
        advice="Another layout or dtype is other work: look at the inputs. Another tile is the library's choice.",
        source="names of the kernels that both op calls launched, read by the tables of compdiff/kernels",
        seen=kernel_names.other_kernels,
    ),
    FindingRule(
        id="same-kernel",
        title="A rewritten op runs the same kernel",
        means="Both sides launch a kernel of the same name for it: the same work, so what the rewrite saves lies beside it.",
        advice="Compare the times of the other kernels of the rewrite, not of this one; a difference here is noise.",
        source="names of the kernels that both op calls launched",
        seen=kernel_names.same_kernels,
    ),
    FindingRule(
        id="other-launch",
        title="A kernel of the same name is launched otherwise",
        means="Both sides launch it equally often, with another grid or block, or it takes 1.5 times as long: for a Triton "
        "kernel of your own, another configuration or other sizes.",
        advice="Compare grid, block and inputs of both launches; an autotuned kernel may have chosen another configuration.",
        source="launches by kernel name: grid, block, and the median of their durations",
        seen=kernel_names.other_launches,
        timed=True,
    ),
    FindingRule(
        id="unknown-kernels",
        title="Some kernels' names are not known",
        means="No table reads these names, so nothing is said about what such a kernel computes.",
        advice="Look at the op that launched it; a row in compdiff/kernels/rows_*.py makes the name known.",
        source="compdiff/kernels: tables of naming schemes",
        seen=kernel_names.unknown_names,
    ),
    FindingRule(
        id="graph-breaks",
        title="Dynamo broke the graph",
        means="Nothing is fused across a break, and the ops between the graphs stay eager.",
        advice="Remove the reason at the line shown, or check with --fullgraph that none is left.",
        source="torch/_dynamo/symbolic_convert.py",
        seen=detect.graph_breaks,
    ),
    FindingRule(
        id="recompiles",
        title="A frame was compiled more than once",
        means="A guard failed: each recompilation costs compile time, and the variants are looked up on each call.",
        advice="Keep the guarded value constant, or use --dynamic for sizes.",
        source="torch/_dynamo/guards.py",
        seen=detect.recompiles,
    ),
    FindingRule(
        id="bias-seed-copy",
        title="A bias is copied into the output before the GEMM",
        means="addmm with a bias that cuBLASLt or MKL cannot add in its epilogue: one dispatcher op fewer, but the copy "
        "is a pass over the whole output.",
        advice="A 1-D bias on CUDA has a true epilogue. Else check that the copy is small beside the GEMM.",
        source="aten/src/ATen/native/LinearAlgebra.cpp: addmm; torch/_inductor/kernel/mm.py",
        seen=detect.seeded_outputs,
    ),
    FindingRule(
        id="introduced-copies",
        title="The compiler introduced copies",
        means="A layout, alignment or mutation made the compiler add kernels that eager mode does not have.",
        advice="Give inputs in the layout that the next op wants (channels_last for convolutions), or avoid the mutation.",
        source="torch/_inductor/ir.py: ExternKernel.require_strides",
        seen=detect.introduced_copies,
    ),
    FindingRule(
        id="recomputed",
        title="Forward ops are computed again",
        means="Computing them again is cheaper than storing their results; their work is done in several kernels.",
        advice="Nothing, unless such a kernel is hot: in training, look at what the partitioner saves then.",
        source="torch/_functorch/partitioners.py: min_cut_rematerialization_partition",
        seen=detect.recomputed,
    ),
    FindingRule(
        id="random-numbers-differ",
        title="Random numbers differ from eager mode's",
        means="Inductor draws them with its own generator: same distribution, other values for the same seed.",
        advice="--option fallback_random=True gives eager's numbers, at the price of the fusion.",
        source="torch/_inductor/fx_passes/replace_random.py",
        seen=detect.random_numbers,
    ),
    FindingRule(
        id="cuda-graph-skipped",
        title="CUDA graphs were asked for and not used",
        means="The reason below keeps this graph from being captured, so each kernel is launched on its own.",
        advice="Remove the reason, or do not pay for the mode.",
        source="torch/_inductor/cudagraph_utils.py",
        seen=detect.cudagraph_skips,
    ),
    FindingRule(
        id="break-even",
        title="Calls until compiling has paid for itself",
        means="Cold compile time over the time saved per call.",
        advice="For fewer calls than this, eager mode is faster in all; a warm compile cache lowers the number.",
        source="docs/capture.md: compile time",
        seen=detect.break_even,
        timed=True,
    ),
)
