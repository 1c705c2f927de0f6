"""Three runs with their diffs, written by hand. In: nothing. Out: what the report tests look at."""

from typing import NamedTuple

from compdiff.model import (
    CaptureWarning,
    CaseInfo,
    Diff,
    Failure,
    Finding,
    GraphBreak,
    Launch,
    Match,
    Missed,
    Numerics,
    OpStat,
    OutputError,
    PassAudit,
    Recompile,
    Run,
    SourceLocation,
    WhyNot,
)
from tests.builders import (
    at,
    capture,
    compiler,
    diff,
    event,
    graph,
    kernel,
    op,
    rewrite,
    run,
    timing,
    wrapper_call,
)

HOSTILE = "</script><img src=x onerror=alert(1)>"
HOSTILE_MARKDOWN = "| `x` | <b>@someone</b>\n# [a](http://example.org) \x1b[31mred"


class Example(NamedTuple):
    """A run with its diff."""

    run: Run
    diff: Diff


def linear() -> Example:
    """Return the smallest case: a product and a sum became one op call, seeded with the bias."""
    text = "    return torch.add(torch.matmul(x, w), b)"
    product = at("/work/cases/linear.py", 12, text, "torch.matmul(x, w)")
    total = at("/work/cases/linear.py", 12, text, "torch.add(torch.matmul(x, w), b)")
    square = (64, 64)
    left = capture(
        "eager",
        (
            op(0, "aten::mm", (square, square), square, source=product, chain=("aten::matmul",)),
            op(1, "aten::add", (square, square), square, overload="Tensor", source=total),
        ),
        call_order=("o0", "o1"),
    )
    addmm = op(
        0,
        "aten::addmm",
        (square, square, square, square),
        square,
        overload="out",
        arguments="T, T, T, out=T",
        inner=("aten::copy_", "aten::resolve_conj", "aten::resolve_conj"),
        graph=0,
        call=0,
    )
    passes = (event("addmm", ("mm", "add"), ("addmm_default",)),)
    calls = (wrapper_call(0, "extern_kernels.addmm", nodes=("addmm_default",)),)
    right = capture(
        "compiled",
        (addmm,),
        call_order=("o0",),
        compiler=compiler((graph(passes=passes, calls=calls),)),
    )
    explained = rewrite(
        1,
        "mm-add-to-addmm",
        ("e0", "e1"),
        ("c0",),
        by_pass="post_grad: addmm",
        location="torch/_inductor/fx_passes/post_grad.py:2013",
        source="/work/cases/linear.py:12",
        outcome="seeded-output",
        outcome_why="The bias is first copied into the output: not one device activity fewer.",
        evidence=("post_grad: addmm removed mm, add and made addmm_default",),
    )
    chain = "Dynamo node matmul of 0/0 -> post-grad addmm_default"
    return Example(
        run(
            left,
            right,
            case=CaseInfo(
                name="linear",
                file="/work/cases/linear.py",
                summary="Matmul plus a 2-D bias: one dispatcher op fewer, and why that is not a copy fewer.",
                source="import torch\n\ndef fn(x, w, b):\n    return torch.add(torch.matmul(x, w), b)\n",
            ),
            timing=timing(90_000, 50_000),
            numerics=Numerics(
                comparable=True,
                tensors=1,
                left=OutputError(max_abs=2.1e-6, max_rel=3e-7),
                right=OutputError(max_abs=1.9e-6, max_rel=2.8e-7),
                between=OutputError(max_abs=1e-6, max_rel=1e-7),
                rtol=1e-3,
                atol=1e-5,
                within=True,
            ),
            audits=(PassAudit(name="compiled: compile", compiles_before=0, compiles_after=1),),
        ),
        diff(
            {"e0": ("rewritten", "r1"), "e1": ("rewritten", "r1")},
            {"c0": ("e0", "e1")},
            (explained,),
            matches=(
                Match(
                    left=("e0",),
                    right=("c0",),
                    by="provenance",
                    certainty="certain",
                    evidence=chain,
                ),
                Match(
                    left=("e1",),
                    right=("c0",),
                    by="provenance",
                    certainty="certain",
                    evidence=chain,
                ),
            ),
        ),
    )


def geglu() -> Example:
    """Return a GeGLU MLP: views gone, three products kept, gelu and mul in one generated kernel."""
    file = "/work/cases/mlp_geglu.py"
    lines = {
        "gate": at(file, 9, "    gate = F.gelu(F.linear(x, w_gate))", "F.linear(x, w_gate)"),
        "gelu": at(
            file, 9, "    gate = F.gelu(F.linear(x, w_gate))", "F.gelu(F.linear(x, w_gate))"
        ),
        "up": at(file, 10, "    up = F.linear(x, w_up)", "F.linear(x, w_up)"),
        "mul": at(file, 11, "    return F.linear(gate * up, w_down)", "gate * up"),
        "down": at(
            file, 11, "    return F.linear(gate * up, w_down)", "F.linear(gate * up, w_down)"
        ),
    }
    plan = (
        ("aten::t", "gate"),
        ("aten::mm", "gate"),
        ("aten::gelu", "gelu"),
        ("aten::t", "up"),
        ("aten::mm", "up"),
        ("aten::mul", "mul"),
        ("aten::t", "down"),
        ("aten::mm", "down"),
    )
    left = capture(
        "eager",
        tuple(
            op(number, name, ((32, 64),), (32, 64), source=lines[line], module="mlp")
            for number, (name, line) in enumerate(plan)
        ),
        call_order=tuple(f"o{number}" for number in range(len(plan))),
        peak_bytes=393_216,
    )
    code = (
        'extern "C" void kernel(const float* in_ptr0, float* out_ptr0)\n'
        "{\n    // gelu, then mul\n    out_ptr0[0] = in_ptr0[0] * 0.5f;\n}\n"
    )
    calls = (
        wrapper_call(0, "extern_kernels.mm", nodes=("mm",)),
        wrapper_call(1, "extern_kernels.mm", nodes=("mm_1",)),
        wrapper_call(2, "cpp_fused_gelu_mul_0", code, nodes=("erf", "mul_3")),
        wrapper_call(3, "extern_kernels.mm", nodes=("mm_2",)),
    )
    right = capture(
        "compiled",
        tuple(
            op(i, "aten::mm", ((32, 64),), (32, 64), graph=0, call=c)
            for i, c in ((0, 0), (1, 1), (2, 3))
        ),
        (kernel(0, "cpp_fused_gelu_mul_0", graph=0, call=2),),
        call_order=("o0", "o1", "k0", "o2"),
        compiler=compiler((graph(calls=calls),)),
        peak_bytes=262_144,
    )
    views = tuple(
        rewrite(number, "view-elimination", (item,), source=f"{file}:{line}")
        for number, item, line in ((1, "e0", 9), (3, "e3", 10), (4, "e6", 11))
    )
    fusion = rewrite(2, "pointwise-fusion", ("e2", "e5"), ("k0",), source=f"{file}:11")
    return Example(
        run(
            left,
            right,
            case=CaseInfo(name="mlp_geglu", file=file, summary="A GeGLU MLP."),
            timing=timing(50_000, 50_100),
        ),
        diff(
            {
                "e0": ("eliminated", "r1"),
                "e1": ("kept", ""),
                "e2": ("fused", "r2"),
                "e3": ("eliminated", "r3"),
                "e4": ("kept", ""),
                "e5": ("fused", "r2"),
                "e6": ("eliminated", "r4"),
                "e7": ("kept", ""),
            },
            {"c0": ("e1",), "c1": ("e4",), "c2": ("e7",), "k0": ("e2", "e5")},
            (views[0], fusion, views[1], views[2]),
        ),
    )


def training() -> Example:
    """Return a training step on a GPU with everything that can be wrong, and hostile text wherever text comes in."""
    file = f"/work/cases/{HOSTILE}.py"
    source = at(file, 7, f"    loss = fn({HOSTILE}, y)", HOSTILE, function=HOSTILE)
    left = capture(
        "eager",
        (
            op(
                0,
                HOSTILE,
                source=source,
                module=HOSTILE,
                arguments=HOSTILE,
                chain=(HOSTILE,),
                inner=(HOSTILE,),
            ),
            op(1, "aten::relu", source=source),
            op(2, "aten::sum", output=()),
            op(3, "aten::threshold_backward", phase="backward", autograd_node="ReluBackward0"),
        ),
        tuple(
            kernel(
                i,
                f"void at::native::vectorized<{i}, {HOSTILE}>",
                kind="library",
                op_call=i,
                launch=i,
            )
            for i in range(4)
        ),
        device="cuda:0",
        device_name=HOSTILE,
        launches=tuple(Launch(id=i, name="cudaLaunchKernel", op_call=i) for i in range(4)),
        call_order=("o0", "o1", "o2", "o3"),
        warnings=(CaptureWarning(id="clocks", text=HOSTILE_MARKDOWN),),
    )
    said = compiler(
        (
            graph(
                0,
                "forward",
                passes=(event(HOSTILE, (HOSTILE,), (HOSTILE,)),),
                calls=(wrapper_call(0, HOSTILE, f"// {HOSTILE}\n"),),
                wrapper_code=f"# {HOSTILE}\n",
            ),
            graph(1, "backward", calls=(wrapper_call(0, "triton_poi_fused_0", "// b\n"),)),
        ),
        graph_breaks=(
            GraphBreak(
                reason=f"Unsupported: {HOSTILE}",
                explanation=HOSTILE_MARKDOWN,
                compile_id="0/0",
                stack=(source, SourceLocation(file="", line=0)),
            ),
        ),
        recompiles=(Recompile(compile_id="0/1", reasons=(f"obj at 0x7f00deadbeef: {HOSTILE}",)),),
    )
    right = capture(
        "compiled",
        (op(0, "aten::copy_", graph=0), op(1, "aten::mystery")),
        (
            kernel(
                0,
                HOSTILE,
                kind="triton",
                graph=0,
                call=0,
                grid=(4, 1, 1),
                block=(128, 1, 1),
                registers=24,
            ),
            kernel(1, "Memcpy DtoD", kind="memcpy", op_call=0),
            kernel(2, "triton_poi_fused_0", kind="triton", graph=1, call=0),
        ),
        device="cuda:0",
        device_name=HOSTILE,
        launches=tuple(Launch(id=i, name="cuLaunchKernel") for i in range(3)),
        call_order=("o0", "k1", "k0", "o1", "k2"),
        compiler=said,
        warnings=(CaptureWarning(id="observer", text="It was watched."),),
    )
    return Example(
        run(
            left,
            right,
            case=CaseInfo(
                name=HOSTILE,
                file=file,
                summary=HOSTILE_MARKDOWN,
                source=f"# {HOSTILE}",
                backward=True,
                params={HOSTILE: HOSTILE},
            ),
            timing=timing(50_000, 90_000),
            failure=Failure(stage="compare outputs", message=HOSTILE, traceback=HOSTILE),
            numerics=Numerics(comparable=False, note=HOSTILE),
            warnings=(CaptureWarning(id=HOSTILE, text=HOSTILE),),
        ),
        diff(
            {
                "e0": ("fused", "r1"),
                "e1": ("fused", "r1"),
                "e2": ("unexplained", ""),
                "e3": ("fused", "r2"),
            },
            {
                "c0": HOSTILE,
                "k1": "launched by c0, which was introduced",
                "c1": "",
                "k0": ("e0", "e1"),
                "k2": ("e1", "e3"),
            },
            (
                rewrite(
                    1,
                    HOSTILE,
                    ("e0", "e1"),
                    ("k0",),
                    why=HOSTILE,
                    evidence=(HOSTILE,),
                    source=f"{file}:7",
                ),
                rewrite(2, "reduction-fusion", ("e3",), ("k2",), shared=("e1",)),
            ),
            missed=tuple(missed(number, file) for number in range(8)),
            why_not=WhyNot(rule=HOSTILE, applied=("r1",), missed=(missed(8, file),)),
            findings=(
                Finding(
                    id="hidden-copy",
                    side="right",
                    title=HOSTILE,
                    means=HOSTILE_MARKDOWN,
                    numbers={HOSTILE: HOSTILE, "copied_bytes": 1_048_576},
                    items=("c0", "k1"),
                ),
            ),
        ),
    )


def missed(number: int, file: str) -> Missed:
    """Return a place where a rule nearly applied, the dearer the lower its number."""
    return Missed(
        rule=HOSTILE,
        left=("e0", "e1"),
        right=("k0",),
        condition=f"condition_{number}",
        why=HOSTILE_MARKDOWN,
        quote=HOSTILE,
        location=HOSTILE,
        source=f"{file}:7",
        launches=1,
        bytes_moved=1024 * (10 - number),
    )


def traced() -> Example:
    """Return two imported traces of a GPU with times: two streams, a composite op, a launch outside ops, hostile names."""
    left = capture(
        "eager",
        (
            op(0, "aten::mm", start_ns=10_000, duration_ns=30_000, self_ns=25_000, chain=("aten::linear",)),
            op(1, HOSTILE, start_ns=50_000, duration_ns=40_000, thread=1, inner=("aten::copy_",)),
        ),
        (
            kernel(0, "gemm", kind="library", op_call=0, launch=0, start_ns=30_000, duration_ns=20_000, stream=7),
            kernel(1, f"add<{HOSTILE}>", kind="library", op_call=1, launch=1, start_ns=70_000, duration_ns=25_000, stream=7),
            kernel(2, "memcpy", kind="memcpy", launch=2, start_ns=90_000, duration_ns=15_000, stream=8),
        ),
        launches=(
            Launch(id=0, name="cudaLaunchKernel", op_call=0, start_ns=20_000, duration_ns=5_000),
            Launch(id=1, name="cudaLaunchKernel", op_call=1, start_ns=60_000, duration_ns=4_000, thread=1),
            Launch(id=2, name="cudaMemcpyAsync", start_ns=92_000, duration_ns=1_000),
        ),
        op_stats=(
            OpStat(name="aten::mm", calls=1, host_self_ns=25_000, host_total_ns=30_000, device_self_ns=20_000,
                   device_total_ns=20_000),
            OpStat(name=HOSTILE, calls=1, host_self_ns=36_000, host_total_ns=40_000, device_self_ns=25_000,
                   device_total_ns=25_000),
            OpStat(name="cudaLaunchKernel", calls=2, host_self_ns=9_000, host_total_ns=9_000),
        ),
        call_order=("o0", "k0", "o1", "k1", "k2"),
        **_TRACED,
    )  # fmt: skip
    right = capture(
        "compiled",
        (op(0, "aten::mm", start_ns=5_000, duration_ns=20_000, self_ns=15_000),),
        (
            kernel(0, "gemm", kind="library", op_call=0, launch=0, start_ns=20_000, duration_ns=20_000, stream=7),
            kernel(1, "triton_poi_fused_add_0", kind="triton", launch=1, start_ns=40_000, duration_ns=80_000, stream=7),
        ),
        launches=(
            Launch(id=0, name="cudaLaunchKernel", op_call=0, start_ns=10_000, duration_ns=5_000),
            Launch(id=1, name="cuLaunchKernel", start_ns=30_000, duration_ns=5_000),
        ),
        op_stats=(
            OpStat(name="aten::mm", calls=1, host_self_ns=15_000, host_total_ns=20_000, device_self_ns=20_000,
                   device_total_ns=20_000),
        ),
        call_order=("o0", "k0", "k1"),
        **_TRACED,
    )  # fmt: skip
    return Example(
        run(left, right, case=CaseInfo(name=f"a-against-b {HOSTILE}", file="a.json, b.json")),
        diff(
            {"e0": ("kept", ""), "e1": ("fused", "r1")},
            {"c0": ("e0",), "k0": ("e0",), "k1": ("e1",)},
            (rewrite(1, "pointwise-fusion", ("e1",), ("k1",)),),
        ),
    )


_TRACED: dict[str, object] = {
    "basis": "imported",
    "device": "cuda:0",
    "device_name": "a GPU",
    "profile_start_ns": 0,
    "profile_wall_ns": 100_000,
}

EXAMPLES = (linear, geglu, training, traced)
