"""The types that cross a layer. In: nothing. Out: immutable records with integer nanoseconds and standard names.

Ids are integers in capture order, unique within one capture and kind. A diff names items of the two sides with
strings (see `compdiff.align.items`): `e3` left op call, `ek0` left kernel, `c2` right op call, `k0` right kernel.
"""

from typing import Literal, TypeAlias

import msgspec

RUN_SCHEMA = "compdiff.run/1"
DIFF_SCHEMA = "compdiff.diff/1"

Basis = Literal["measured", "planned", "imported"]
Phase = Literal["forward", "backward"]
FateKind = Literal[
    "kept", "rewritten", "decomposed", "fused", "eliminated", "folded", "removed", "unexplained"
]
Certainty = Literal["certain", "likely", "guess"]
Side = Literal["left", "right"]
ChangeKind = Literal["lost", "gained", "changed"]
# Ops that write no memory, though their schemas say that they change their tensor: only how it looks at memory changes.
# Source: tags `inplace_view` of native_functions.yaml (torch 2.14); `resize_` and `set_` are left out: they may move memory.
IN_PLACE_VIEWS = frozenset(
    {
        "aten::as_strided_",
        "aten::detach_",
        "aten::squeeze_",
        "aten::swapaxes_",
        "aten::swapdims_",
        "aten::t_",
        "aten::transpose_",
        "aten::unsqueeze_",
    }
)
# A value of `torch.compile`'s options; Inductor's `pre_grad_fusion_options` name passes, each with options of its own.
Scalar: TypeAlias = int | float | str | bool | None
Option: TypeAlias = Scalar | dict[str, dict[str, Scalar]]
# The stage of pass events on a Dynamo graph, before AOTAutograd traces it: their nodes are named as Dynamo's are.
PRE_GRAD = "pre_grad"
# Kinds of kernels and of wrapper calls that Inductor wrote itself.
GENERATED = frozenset({"cpp", "triton"})


class Record(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Base of all stored types: frozen, keyword-only, defaults not written, unknown fields refused."""


# ---------------------------------------------------------------- a GPU as data


class Target(Record, frozen=True, kw_only=True):
    """A GPU described by data, for compiling without having one.

    `peak_tflops` holds dense rates by dtype (`tf32` stands for float32 products when torch allows TF32). `sources`
    says where the figures are from. Limits are those of CUDA's compute capability.
    """

    name: str
    title: str
    capability: tuple[int, int]
    multiprocessors: int
    clock_mhz: int
    memory_bytes: int
    memory_gb_per_s: float
    l2_bytes: int
    shared_bytes_per_multiprocessor: int
    shared_bytes_per_block: int
    threads_per_multiprocessor: int
    blocks_per_multiprocessor: int
    peak_tflops: dict[str, float]
    registers_per_multiprocessor: int = 65536
    warp_size: int = 32
    sources: tuple[str, ...] = ()


# ---------------------------------------------------------------- what one side did


class TensorMeta(Record, frozen=True, kw_only=True):
    """One tensor at one moment.

    `value` identifies the contents and `storage` the memory within a capture, so that data flow and views can be
    followed: an in-place op returns a new `value` on the same `storage`, and so does a view; a view that changes
    neither shape nor strides (`detach`) returns the `value` it was given.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...] = ()
    dtype: str
    device: str
    value: int = -1
    storage: int = -1


class SourceLocation(Record, frozen=True, kw_only=True):
    """A place in Python source. Lines count from 1, columns from 0; `end_column` is exclusive; -1 is unknown."""

    file: str
    line: int
    column: int = -1
    end_column: int = -1
    function: str = ""
    text: str = ""


class OpCall(Record, frozen=True, kw_only=True):
    """One call that reached a backend through the dispatcher: below autograd and below composite ops.

    `chain` holds the names of the composite ops it came through, outermost first (`aten::matmul`), and `inner` those
    of the ops its kernel called in turn (`aten::copy_`), both from the profiler pass, as are `annotations`, the names
    that the user gave to what it lies in (`record_function`), outermost first. `duration_ns` is that of the
    profiler pass: good for shares, never a timing; `self_ns` is that without the ops and launches inside. `thread`
    numbers the host's threads in the order in which they appear. `graph` is the compiled graph whose call made it, if
    any, and `call` the index of the wrapper call in it. `sequence` numbers the autograd function that a forward call
    created or a backward call belongs to.
    """

    id: int
    name: str
    overload: str = "default"
    inputs: tuple[TensorMeta, ...] = ()
    outputs: tuple[TensorMeta, ...] = ()
    arguments: str = ""
    source: SourceLocation | None = None
    module: str = ""
    chain: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    phase: Phase = "forward"
    autograd_node: str = ""
    sequence: int = -1
    mutates: bool = False
    graph: int | None = None
    call: int | None = None
    start_ns: int | None = None
    duration_ns: int | None = None
    self_ns: int | None = None
    thread: int = 0


class Launch(Record, frozen=True, kw_only=True):
    """One call of the device runtime or driver (`cudaLaunchKernel`), made by an op call or a wrapper.

    `kernel` names the generated kernel that it launches, where the host's call around it says so.
    """

    id: int
    name: str
    op_call: int | None = None
    start_ns: int = 0
    duration_ns: int = 0
    correlation: int = 0
    thread: int = 0
    kernel: str = ""


class OpStat(Record, frozen=True, kw_only=True):
    """All profiled host events of one name, inner ops, launches and annotations too, as torch's `key_averages` has them.

    Total is with what runs inside, self without. Device time is that of the kernels launched: within the events (total),
    or by them and not by an op inside (self).
    """

    name: str
    calls: int
    host_self_ns: int
    host_total_ns: int
    device_self_ns: int = 0
    device_total_ns: int = 0


class StepSplit(Record, frozen=True, kw_only=True):
    """One profiled step by what its time went to: the parts of `compdiff.kineto.split`, which add up to `total_ns`.

    `host_ns` is what the host did in all, also while the device ran kernels; empty where no device ran any.
    """

    total_ns: int
    parts_ns: dict[str, int]
    host_ns: dict[str, int] = {}


class Estimate(Record, frozen=True, kw_only=True):
    """A roofline estimate of one kernel: never a measurement.

    `bytes_read` and `bytes_written` count each tensor once; `bound` is `compute`, `memory` or `launch`, whichever of
    the three takes longest, and `ns` is how long that takes.
    """

    flops: int
    bytes_read: int
    bytes_written: int
    ns: int
    bound: str


class Resources(Record, frozen=True, kw_only=True):
    """What one compiled kernel takes of a multiprocessor.

    `occupancy` is the theoretical share of warps that can be resident, 0 to 1, and `limited_by` what limits it.
    `config` is the tile configuration that was compiled, the first of `candidates` that a GPU would time.
    """

    registers: int
    spill_bytes: int
    shared_bytes: int
    warps: int
    stages: int
    occupancy: float
    limited_by: str
    config: str = ""
    candidates: int = 1


class Kernel(Record, frozen=True, kw_only=True):
    """One device activity; on CPU, one call of a C++ function that Inductor generated.

    `kind` is `triton`, `cpp`, `library` (cuBLAS, cuDNN, ATen), `memcpy` or `memset`. `call` is the index of the
    wrapper call that made it within `graph`. `modelled` is set when nobody saw the kernel: it names the row of the
    table of kernel models that says the op call launches it.
    """

    id: int
    name: str
    kind: str
    op_call: int | None = None
    launch: int | None = None
    graph: int | None = None
    call: int | None = None
    start_ns: int = 0
    duration_ns: int = 0
    stream: int | None = None
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    registers: int | None = None
    shared_bytes: int | None = None
    modelled: str = ""
    estimate: Estimate | None = None
    resources: Resources | None = None


# ---------------------------------------------------------------- what the compiler said


class GraphNode(Record, frozen=True, kw_only=True):
    """A node of an FX graph.

    `dynamo_nodes` are the nodes of the Dynamo graph it came from; `original_aten` is the dispatcher op that was
    decomposed into it (`aten.native_layer_norm.default`); `sequence` links forward and backward nodes of one
    autograd function within a joint graph.
    """

    name: str
    op: str
    target: str
    inputs: tuple[str, ...] = ()
    arguments: str = ""
    outputs: tuple[TensorMeta, ...] = ()
    dynamo_nodes: tuple[str, ...] = ()
    original_aten: str = ""
    sequence: int = -1
    backward: bool = False
    source: SourceLocation | None = None


class Graph(Record, frozen=True, kw_only=True):
    """An FX graph at one stage: `dynamo`, `joint` (before the joint passes), `pre_post_grad` or `post_grad`."""

    stage: str
    nodes: tuple[GraphNode, ...]
    code: str = ""


class PassEvent(Record, frozen=True, kw_only=True):
    """One change that a compiler pass made to a graph: the compiler's own rewrite log.

    `pass_name` is the pass (`remove_noop_ops`), `pattern` the handler or pattern that matched, `location` the place in
    torch that holds it (`torch/_inductor/fx_passes/post_grad.py:1021`). `replacements` names, for a removed node, the
    node whose value its users take instead.
    """

    stage: str
    pass_name: str
    pattern: str = ""
    location: str = ""
    removed: tuple[GraphNode, ...] = ()
    created: tuple[GraphNode, ...] = ()
    replacements: dict[str, str] = {}


class WrapperCall(Record, frozen=True, kw_only=True):
    """One call in the generated wrapper: an extern kernel or a generated one, with the post-grad nodes it computes.

    `kind` is `extern`, `triton` or `cpp`. `code` is the generated kernel's source, empty for extern kernels.
    """

    index: int
    name: str
    kind: str
    nodes: tuple[str, ...] = ()
    code: str = ""


class Refusal(Record, frozen=True, kw_only=True):
    """Why Inductor's scheduler did not put two calls of the wrapper into one kernel, in its own words.

    `first` and `second` are the indices of the calls; the second reads what the first writes, the values of the post-grad
    nodes `tensors` as far as they are known. Where it is not said of the `whole`, it is said of parts of the two.
    """

    first: int
    second: int
    tensors: tuple[str, ...] = ()
    reason: str
    whole: bool = True


class CompiledGraph(Record, frozen=True, kw_only=True):
    """One graph given to the backend, in one direction, with what became of it.

    `compile_id` is Dynamo's (`0/0`: frame, recompile), with the direction (`forward`, `backward`, `inference`).
    Both directions of one `compile_id` share the `dynamo` and `joint` graphs and the passes that ran on them: they
    stand in the one compiled first only. `refusals` is None where the scheduler's words were not recorded.
    `lowering_id` is Inductor's own number, which prefixes C++ kernels in profiles.
    """

    id: int
    compile_id: str
    direction: str
    lowering_id: int | None = None
    dynamo: Graph | None = None
    joint: Graph | None = None
    post_grad: Graph | None = None
    passes: tuple[PassEvent, ...] = ()
    calls: tuple[WrapperCall, ...] = ()
    refusals: tuple[Refusal, ...] | None = None
    wrapper_code: str = ""


class AttributedCall(Record, frozen=True, kw_only=True):
    """An op call of the Dynamo graphs run node by node in place of the compiled code: names the node that made it.

    `sequence` counts the autograd functions of this pass: a backward call has that of the forward call it belongs to.
    """

    name: str
    overload: str
    shapes: tuple[tuple[int, ...], ...] = ()
    dtypes: tuple[str, ...] = ()
    compile_id: str | None = None
    node: str | None = None
    phase: Phase = "forward"
    autograd_node: str = ""
    sequence: int = -1


class GraphBreak(Record, frozen=True, kw_only=True):
    """A place where Dynamo ended a graph: why, and the user's stack, innermost frame last."""

    reason: str
    explanation: str = ""
    compile_id: str = ""
    stack: tuple[SourceLocation, ...] = ()


class Recompile(Record, frozen=True, kw_only=True):
    """A compilation after the first of a frame, with the guards that failed."""

    compile_id: str
    reasons: tuple[str, ...]


class Compilation(Record, frozen=True, kw_only=True):
    """One frame that Dynamo compiled: guards, phases of compile time (ns) and cache state."""

    compile_id: str
    function: str = ""
    file: str = ""
    line: int = 0
    guards: tuple[str, ...] = ()
    phases_ns: dict[str, int] = {}
    cache_hits: int = 0
    cudagraph_skip_reason: str = ""
    failure: str = ""


class Compiler(Record, frozen=True, kw_only=True):
    """Everything that the compiler said about one capture."""

    backend: str
    compilations: tuple[Compilation, ...] = ()
    graphs: tuple[CompiledGraph, ...] = ()
    attributed: tuple[AttributedCall, ...] = ()
    graph_breaks: tuple[GraphBreak, ...] = ()
    recompiles: tuple[Recompile, ...] = ()


class CaptureWarning(Record, frozen=True, kw_only=True):
    """Something the reader must know about how a capture or run was made; `id` is stable, `text` is for people."""

    id: str
    text: str


GRAPH_SKIPPED = "cuda-graph-skipped"
"""The id of the warning of a capture that says why a CUDA graph was asked for and not used."""
SAME_TRACE = "same trace"
"""The label of the right side of a run that shows one imported trace beside itself."""


class Capture(Record, frozen=True, kw_only=True):
    """What one side did, in capture order. `call_order` lists op calls and kernels as they ran (`o3`, `k0`).

    The profiled step took `profile_wall_ns` on the host, from `profile_start_ns` on the clock of all `start_ns`; where
    that is None, the earliest of them stands for it. `splits` are of further profiled steps, if asked for.
    """

    label: str
    basis: Basis
    device: str
    device_name: str = ""
    op_calls: tuple[OpCall, ...] = ()
    launches: tuple[Launch, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    call_order: tuple[str, ...] = ()
    output_values: tuple[int, ...] = ()
    compiler: Compiler | None = None
    peak_bytes: int | None = None
    profile_start_ns: int | None = None
    profile_wall_ns: int | None = None
    op_stats: tuple[OpStat, ...] = ()
    splits: tuple[StepSplit, ...] = ()
    warnings: tuple[CaptureWarning, ...] = ()


# ---------------------------------------------------------------- the run


class CaseInfo(Record, frozen=True, kw_only=True):
    """Which case was run: `name` is unique in a batch, `params` the values its inputs were made with."""

    name: str
    file: str
    summary: str = ""
    form: str = "fn"
    params: dict[str, int | float | str | bool | None] = {}
    param_set: str = ""
    dtype: str = ""
    backward: bool = False
    source: str = ""


class Environment(Record, frozen=True, kw_only=True):
    """The machine and the software, all as strings; empty when absent. `host` is the machine's name in its network."""

    torch: str = ""
    triton: str = ""
    python: str = ""
    cuda: str = ""
    driver: str = ""
    device: str = ""
    cpu: str = ""
    threads: int = 0
    platform: str = ""
    compiler: str = ""
    git_commit: str = ""
    git_branch: str = ""
    git_dirty: bool = False
    host: str = ""
    compdiff: str = ""


class CompileOptions(Record, frozen=True, kw_only=True):
    """The arguments given to torch.compile, and how its caches were set."""

    backend: str = "inductor"
    mode: str | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    options: dict[str, Option] = {}
    use_cache: bool = False


class Samples(Record, frozen=True, kw_only=True):
    """Unprofiled wall times of one side: nanoseconds per call, one entry per block of `calls` calls."""

    ns_per_call: tuple[int, ...]
    calls: int


class Timing(Record, frozen=True, kw_only=True):
    """Interleaved samples of both sides, in blocks ordered left, right, right, left (ABBA).

    `noise` holds left-against-left pairs measured the same way: the noise floor of this machine and case.
    `others_cpu` is the share of the machine's CPU time that other processes used meanwhile, 0 to 1.
    """

    left: Samples
    right: Samples
    noise_a: Samples
    noise_b: Samples
    warmup_calls: int = 0
    stopping_rule: str = ""
    stopped_by: str = ""
    others_cpu: float = 0.0


class OutputError(Record, frozen=True, kw_only=True):
    """Largest absolute and relative difference of one side's outputs from the float64 eager reference."""

    max_abs: float
    max_rel: float


class Numerics(Record, frozen=True, kw_only=True):
    """Both sides against a float64 eager reference, and against each other.

    `comparable` is False when the outputs are random or no reference could be made; `note` says why. `tensors` counts
    the output (and gradient) tensors compared. `within` says whether left and right agree within the tolerance.
    """

    comparable: bool
    note: str = ""
    tensors: int = 0
    left: OutputError | None = None
    right: OutputError | None = None
    between: OutputError | None = None
    rtol: float = 0.0
    atol: float = 0.0
    within: bool | None = None


class Expectation(Record, frozen=True, kw_only=True):
    """What a case says must be true (EXPECT); None and empty mean nothing is asked. See docs/cases.md."""

    rules: tuple[str, ...] = ()
    not_rules: tuple[str, ...] = ()
    max_kernels: int | None = None
    min_kernels: int | None = None
    max_op_calls: int | None = None
    graph_breaks: int | None = None
    recompiles: int | None = None
    unexplained: int | None = 0
    outcome: str | None = None
    numerics: bool | None = None


class Failure(Record, frozen=True, kw_only=True):
    """Why a run is incomplete: `stage` that failed, message, and the case's own traceback."""

    stage: str
    message: str
    traceback: str = ""


class PassAudit(Record, frozen=True, kw_only=True):
    """Compiles counted before and after one capture pass: a pass that compiles changed what it measured."""

    name: str
    compiles_before: int
    compiles_after: int


class Run(Record, frozen=True, kw_only=True):
    """One case measured once: the saved thing (`run.json.gz`). Everything else is derived from it."""

    case: CaseInfo
    environment: Environment
    options: CompileOptions
    left: Capture
    right: Capture
    created: str = ""
    target: Target | None = None
    timing: Timing | None = None
    numerics: Numerics | None = None
    expectation: Expectation | None = None
    audits: tuple[PassAudit, ...] = ()
    warnings: tuple[CaptureWarning, ...] = ()
    failure: Failure | None = None
    schema: str = RUN_SCHEMA


# ---------------------------------------------------------------- what the user asked for


class CaseSpec(Record, frozen=True, kw_only=True):
    """One case to run, found without importing it. `name` is unique in a batch and safe as a folder name.

    `path` is a file, or `package.module:function` when `form` is `reference`; then `inputs` names the function that
    makes its inputs. `form` is `fn` (a file with `fn` and `inputs`), `module` (`Model`, `get_inputs`) or `reference`.
    """

    name: str
    path: str
    form: str = "fn"
    inputs: str = ""
    summary: str = ""
    param_set: str = ""
    params: dict[str, int | float | str | bool | None] = {}


class SamplingPlan(Record, frozen=True, kw_only=True):
    """How long to sample: stop when both intervals are narrower than `precision`, or `budget_ns` is spent.

    `profiled_steps` are profiled on each side to split their time; fewer where they would take longer than `budget_ns`.
    """

    budget_ns: int = 1_000_000_000
    precision: float = 0.01
    min_blocks: int = 10
    max_blocks: int = 200
    profiled_steps: int = 0


class OutputCheck(Record, frozen=True, kw_only=True):
    """How `compdiff numerics` compiles and compares a case once.

    `options` are Inductor's, laid over all others; `full_float32` has float32 products computed in float32 (no TF32) on both
    sides. `rtol` and `atol` stand in the place of every tolerance; None leaves those of the case or the dtypes.
    """

    options: dict[str, Option] = {}
    full_float32: bool = False
    rtol: float | None = None
    atol: float | None = None


class Request(Record, frozen=True, kw_only=True):
    """What the parent process asks its child to measure. `device` is `cpu`, `cuda` or `cuda:N`, already chosen.

    With a `target` the case is planned for that GPU, which need not be there, instead of measured. With a `check` its
    outputs are compared, and nothing else.
    """

    spec: CaseSpec
    device: str
    target: Target | None = None
    dtype: str = ""
    options: CompileOptions
    sampling: SamplingPlan = SamplingPlan()
    seed: int = 0
    check: OutputCheck | None = None


# ---------------------------------------------------------------- what compdiff concludes


class Match(Record, frozen=True, kw_only=True):
    """A set of left items against a set of right items, with the matcher that made it and its evidence."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    by: str
    certainty: Certainty
    evidence: str = ""


class Fate(Record, frozen=True, kw_only=True):
    """What became of one left op call; `rewrite` is the id of the rewrite that explains it, if one does.

    Left kernels have a fate too where two runs are compared; only there one is `removed`.
    """

    fate: FateKind
    rewrite: str | None = None
    why: str = ""


class Origin(Record, frozen=True, kw_only=True):
    """Where a right kernel or op call came from: left op calls, or `introduced` with a reason, or neither.

    `recomputed` lists those of `op_calls` whose work another kernel does as well.
    """

    op_calls: tuple[str, ...] = ()
    introduced: str = ""
    recomputed: tuple[str, ...] = ()


class Rewrite(Record, frozen=True, kw_only=True):
    """One application of a rule. `left` are the op calls it explains; `shared` also take part, explained elsewhere.

    `by_pass` names the compiler pass (`post_grad: addmm`), `location` its place in torch, `outcome` which of a rule's
    outcomes happened (`bias-epilogue`, `seeded-output`, `fused-add`), `evidence` the facts the claim rests on.
    """

    id: str
    rule: str
    left: tuple[str, ...]
    right: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    by_pass: str = ""
    location: str = ""
    source: str = ""
    why: str = ""
    outcome: str = ""
    outcome_why: str = ""
    evidence: tuple[str, ...] = ()


class Missed(Record, frozen=True, kw_only=True):
    """A place where a rule nearly applied: the first of its conditions that failed there, in one sentence.

    `left` are the op calls concerned and `right` what runs instead; `condition` names what failed, or is "" where all
    conditions known to compdiff hold. `quote` are torch's own words where it gave its reason, `location` the file of torch
    that asks for the condition. `launches` and `bytes_moved` are what the place costs: kernels that one kernel would
    do, and what they write and read again.
    """

    rule: str
    left: tuple[str, ...]
    right: tuple[str, ...] = ()
    condition: str = ""
    why: str
    quote: str = ""
    location: str = ""
    source: str = ""
    launches: int = 0
    bytes_moved: int = 0


class WhyNot(Record, frozen=True, kw_only=True):
    """The answer to `--why-not RULE`: rewrites that it made, places where it nearly applied, or what the case lacks."""

    rule: str
    applied: tuple[str, ...] = ()
    missed: tuple[Missed, ...] = ()
    nothing: str = ""


class Finding(Record, frozen=True, kw_only=True):
    """A diagnosis read from a run: what was seen (numbers), what it usually means, what to try.

    `timed` says that it rests on measured times, and so may come and go from run to run.
    """

    id: str
    side: str
    title: str
    means: str
    advice: str = ""
    timed: bool = False
    numbers: dict[str, int | float | str] = {}
    items: tuple[str, ...] = ()


class Change(Record, frozen=True, kw_only=True):
    """Something that one of two compared runs has and the other has not, or has otherwise.

    `what` is `rewrite`, `graph break`, `recompile`, `finding`, `kernel` or `eager op call`; `name` is the rule, the reason,
    the title, the kernel or the op; `op_calls` names the eager op calls concerned; `detail` says what stands in its place;
    `items` are the item of A and that of B whose code is not the same.
    """

    what: str
    change: ChangeKind
    name: str
    op_calls: tuple[str, ...] = ()
    source: str = ""
    detail: str = ""
    items: tuple[str, ...] = ()


class Comparison(Record, frozen=True, kw_only=True):
    """What two runs have in common and what not, beside the fates of their items.

    `unchanged` counts what both have, by kind. `work` names, for each item of both sides, the eager op calls whose work it
    does, and `sources` the line of the last of them. The samples are those of both sides; of different runs, they are not
    comparable. `same_run` says that A and B are one run, with itself or in reverse.
    """

    changes: tuple[Change, ...] = ()
    unchanged: dict[str, int] = {}
    work: dict[str, tuple[str, ...]] = {}
    sources: dict[str, SourceLocation] = {}
    same_run: bool = False
    left_samples: Samples | None = None
    right_samples: Samples | None = None


class Diff(Record, frozen=True, kw_only=True):
    """The whole conclusion about two captures. `fates` and `origins` are keyed by item id and complete.

    `comparison` is set where the captures are of two runs, or of one in reverse: fates and origins then go by the eager
    op calls that both sides share, and the left kernels that no op call launched have a fate as well. `missed` are places
    that cost a launch or bytes, the dearest first; `why_not` is there where a user asked about a rule.
    """

    left_label: str
    right_label: str
    matches: tuple[Match, ...] = ()
    fates: dict[str, Fate] = {}
    origins: dict[str, Origin] = {}
    rewrites: tuple[Rewrite, ...] = ()
    missed: tuple[Missed, ...] = ()
    why_not: WhyNot | None = None
    findings: tuple[Finding, ...] = ()
    comparison: Comparison | None = None
