"""What a CUDA graph captured on the left is what it replays on the right."""

import pytest

from compdiff.analysis import analyse, check
from compdiff.importers.run import Asked, import_traces
from compdiff.model import Capture, Diff, Kernel, Launch, Run
from tests.builders import capture, op, run
from tests.importers.traces import DATA

NAMES = ("rms_norm", "gemm", "triton_poi_fused_silu_0", "gemm")
OWNERS = (0, 2, None, 3)


def captured(*, named: str = NAMES[2], before: int = 0) -> Capture:
    """Return a capture whose third launch is that of a generated kernel, with an allocation between its op calls."""
    ops = ("aten::rms_norm", "aten::empty", "aten::mm", "aten::mm")
    spare = [Launch(id=number, name="hipLaunchKernel", start_ns=number) for number in range(before)]
    launches = [
        Launch(
            id=before + number,
            name="hipModuleLaunchKernel",
            op_call=owner,
            start_ns=100 + number,
            kernel=named if owner is None else "",
        )
        for number, owner in enumerate(OWNERS)
    ]
    query = Launch(id=99, name="hipGetDevice", op_call=1, start_ns=101)
    return capture(
        device="cuda:0",
        basis="imported",
        op_calls=tuple(op(number, name) for number, name in enumerate(ops)),
        launches=(*spare, *launches, query),
    )


def replayed(*names: str, times: int = 1) -> Capture:
    """Return a side on which graph launches replay these kernels."""
    launches = tuple(Launch(id=number, name="hipGraphLaunch") for number in range(times))
    kernels = tuple(
        Kernel(
            id=number,
            name=name,
            kind="triton" if name.startswith("triton") else "library",
            launch=number // len(names),
            start_ns=1_000 + number,
        )
        for number, name in enumerate(names * times)
    )
    order = tuple(f"k{kernel.id}" for kernel in kernels)
    return capture(
        device="cuda:0", basis="imported", launches=launches, kernels=kernels, call_order=order
    )


def compared(left: Capture, right: Capture) -> Diff:
    """Return the diff of two sides, checked."""
    made: Run = run(left, right)
    diff = analyse(made)
    check(made, diff)
    return diff


def test_kernels_are_those_of_the_captured_launches() -> None:
    """In order, and each belongs to the op call whose launch it was; a launch outside any op says which one it is."""
    diff = compared(captured(), replayed(*NAMES))
    assert [diff.origins[f"k{number}"].op_calls for number in range(4)] == [
        ("e0",),
        ("e2",),
        (),
        ("e3",),
    ]
    assert diff.origins["k2"].introduced == (
        "replays launch 3 of 4 that the graph captured outside any op"
    )
    assert {match.certainty for match in diff.matches} == {"likely"}


def test_what_the_host_did_meanwhile_is_not_done_again() -> None:
    """An allocation between captured op calls asks the runtime something, and launches nothing."""
    diff = compared(captured(), replayed(*NAMES))
    assert [diff.fates[f"e{number}"].fate for number in range(4)] == [
        "kept",
        "eliminated",
        "kept",
        "kept",
    ]


def test_a_graph_that_is_replayed_twice() -> None:
    """Each replay does the work of the op calls again."""
    diff = compared(captured(), replayed(*NAMES, times=2))
    assert diff.origins["k0"].op_calls == diff.origins["k4"].op_calls == ("e0",)


def test_launches_before_the_graph_are_none_of_its() -> None:
    """A generated kernel's name says where the graph begins."""
    diff = compared(captured(before=1), replayed(*NAMES))
    assert diff.origins["k1"].op_calls == ("e2",)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (captured(named="triton_poi_fused_mul_0"), replayed(*NAMES)),
        (captured(), replayed(*NAMES, "gemm")),
        (captured(named="", before=1), replayed(*NAMES)),
    ],
    ids=["other name", "more kernels than launches", "no name says where it begins"],
)
def test_nothing_is_paired_on_a_hunch(left: Capture, right: Capture) -> None:
    """Where order alone could be wrong, all stays unexplained."""
    diff = compared(left, right)
    assert not diff.matches
    assert all(not origin.op_calls for origin in diff.origins.values())


@pytest.mark.parametrize(
    ("left", "right", "kernels", "owned"),
    [
        ("tl-vllm-full-capture-stripped", "tl-vllm-full-graph-exec", 421, 373),
        ("tl-sglang-decode-capture-stripped", "tl-sglang-decode-replay", 544, 544),
    ],
)
def test_real_captures_and_replays(left: str, right: str, kernels: int, owned: int) -> None:
    """Every replayed kernel is a captured launch, and those that are no Triton kernels have an op call."""
    made = import_traces(DATA / f"{left}.json.gz", DATA / f"{right}.json.gz", Asked())
    diff = analyse(made)
    check(made, diff)
    graphs = {it.id for it in made.right.launches if it.name == "hipGraphLaunch"}
    replays = [f"k{it.id}" for it in made.right.kernels if it.launch in graphs]
    assert len(replays) == kernels
    assert sum(bool(diff.origins[item].op_calls) for item in replays) == owned
    assert all(diff.origins[item].op_calls or diff.origins[item].introduced for item in replays)
