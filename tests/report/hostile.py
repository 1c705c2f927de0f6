"""A run in which every text that comes from outside is hostile. In: one such text. Out: an Example."""

import msgspec

from compdiff.model import (
    CaptureWarning,
    CaseInfo,
    Compilation,
    Environment,
    Failure,
    Finding,
    Graph,
    GraphBreak,
    Kernel,
    Launch,
    OpStat,
    Recompile,
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
    wrapper_call,
)
from tests.report.examples import Example


def hostile(text: str, repetitions: int = 1) -> Example:
    """Return a run with this text in every place; with repetitions, one whose op calls are folded."""
    source = at(text, 1, f"    {text}", text, text)
    calls = tuple(
        op(
            number,
            text,
            overload=text,
            arguments=text,
            source=source,
            module=f"{text}.{number}",
            chain=(text,),
            inner=(text,),
            annotations=(text,),
            start_ns=number * 10_000,
            self_ns=500,
        )
        for number in range(2 * repetitions)
    )
    times = {"duration_ns": 2_000, "stream": 7}
    left = capture(
        text,
        calls,
        tuple(
            kernel(call.id, text, kind="library", op_call=call.id, launch=call.id, start_ns=call.id * 10_000, **times)
            for call in calls
        ),
        launches=tuple(Launch(id=call.id, name=text, op_call=call.id, start_ns=call.id * 10_000) for call in calls),
        op_stats=(OpStat(name=text, calls=1, host_self_ns=1, host_total_ns=1),),
        device_name=text,
        warnings=(CaptureWarning(id=text, text=text),),
        profile_start_ns=0,
        profile_wall_ns=100_000,
    )  # fmt: skip
    code = Graph(stage="dynamo", nodes=(), code=text)
    made = graph(
        dynamo=code, joint=code, post_grad=code, wrapper_code=text, compile_id=text,
        passes=(msgspec.structs.replace(event(text, (text,), (text,)), pass_name=text, location=text),),
        calls=tuple(wrapper_call(number, text, code=f"{text}{number}") for number in range(repetitions)),
    )  # fmt: skip
    kernels = tuple(
        Kernel(id=number, name=text, kind="triton", graph=0, call=number, start_ns=number * 10_000, duration_ns=1_000)
        for number in range(repetitions)
    )  # fmt: skip
    right = capture(
        text,
        (op(0, text, arguments=text),),
        kernels,
        compiler=compiler(
            (made,),
            graph_breaks=(GraphBreak(reason=text, explanation=text, compile_id=text, stack=(source,)),),
            recompiles=(Recompile(compile_id=text, reasons=(text,)),),
            compilations=(
                Compilation(
                    compile_id=text, function=text, file=text, line=1, guards=(text,), phases_ns={text: 1},
                    cudagraph_skip_reason=text, failure=text,
                ),
            ),
        ),
        call_order=("o0", *(f"k{number}" for number in range(repetitions))),
    )  # fmt: skip
    rewrites = tuple(
        rewrite(
            number + 1, text, (f"e{2 * number}", f"e{2 * number + 1}"), (f"k{number}",), why=text, evidence=(text,),
            source=f"{text}:1", by_pass=text, location=text, outcome=text, outcome_why=text,
        )
        for number in range(repetitions)
    )  # fmt: skip
    return Example(
        run(
            left,
            right,
            case=CaseInfo(name=text, file=text, summary=text, source=text, params={text: text}, dtype=text),
            environment=Environment(torch=text, python=text, device=text, cpu=text, platform=text, git_commit=text),
            warnings=(CaptureWarning(id=text, text=text),),
            failure=Failure(stage=text, message=text, traceback=text) if repetitions == 1 else None,
        ),
        diff(
            {f"e{number}": ("fused", f"r{number // 2 + 1}") for number in range(2 * repetitions)},
            {"c0": text, **{f"k{number}": (f"e{2 * number}", f"e{2 * number + 1}") for number in range(repetitions)}},
            rewrites,
            findings=(Finding(id=text, side=text, title=text, means=text, numbers={text: text}, items=("e0",)),),
        ),
    )  # fmt: skip
