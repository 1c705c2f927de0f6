"""The table of findings. In: nothing. Out: FINDINGS. Adding one is a row here, and a detector if none fits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compdiff.findings import detect
from compdiff.findings.detect import Seen
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
        id="overhead-bound",
        title="The device is idle most of the time",
        means="The CPU cannot feed the device: dispatch and launches, not kernels, set the time.",
        advice="Larger inputs, fewer launches (fusion), or --mode reduce-overhead, which replays a CUDA graph.",
        source="device busy share: kernel time over wall time of the profiled step",
        seen=detect.overhead_bound,
        timed=True,
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
        advice="Nothing, unless such a kernel is hot: then look at what the partitioner saves.",
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
