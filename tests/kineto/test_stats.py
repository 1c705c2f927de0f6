"""The profiler's table: on a real profile the same numbers as torch's own, and its rules one by one."""

from pathlib import Path

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from compdiff import kineto
from compdiff.model import OpStat
from tests.importers.traces import captured, event, kernel, launch


def stats(*events: dict[str, object]) -> dict[str, OpStat]:
    """Return the table of a trace by name."""
    return {stat.name: stat for stat in captured(*events).op_stats}


def train() -> None:
    """Run a step with modules, views, copies, a gradient and an annotation."""
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.Dropout())
    x = torch.randn(4, 8)
    with record_function("my step"):
        model(x).sum().backward()
        torch.stack([x, x]).to(torch.float64).transpose(0, 1).contiguous()


@pytest.mark.parametrize("with_stack", [False, True])
def test_the_same_as_key_averages(tmp_path: Path, *, with_stack: bool) -> None:
    """Of a real profile each name has torch's calls, self time and total time, to 1 us an event; and no name is missing."""
    path = tmp_path / "trace.json"
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=2, repeat=1),
        on_trace_ready=lambda done: done.export_chrome_trace(str(path)),
        with_stack=with_stack,
        acc_events=True,
    ) as profiler:
        for _ in range(3):
            train()
            profiler.step()
    found = {stat.name: stat for stat in kineto.op_stats(kineto.decode(path.read_bytes()), {})}
    expected = {average.key: average for average in profiler.key_averages()}
    assert found.keys() == expected.keys()
    assert {"my step", "ProfilerStep*", "aten::addmm", "aten::native_layer_norm"} <= found.keys()
    for name, stat in found.items():
        average = expected[name]
        assert stat.calls == average.count, name
        apart = 1_000 * stat.calls
        assert abs(stat.host_self_ns - 1_000 * average.self_cpu_time_total) <= apart, name
        assert abs(stat.host_total_ns - 1_000 * average.cpu_time_total) <= apart, name


def test_self_time_is_without_what_runs_inside() -> None:
    """Launches and annotations inside an op are not its own time."""
    found = stats(
        event("aten::linear", 0, 100),
        event("note", 5, 90, cat="user_annotation"),
        event("aten::addmm", 10, 60), launch(20, 5), launch(30, 6),
    )  # fmt: skip
    selves = {name: stat.host_self_ns for name, stat in found.items()}
    assert selves == {
        "aten::linear": 10_000, "note": 30_000, "aten::addmm": 58_000, "cudaLaunchKernel": 2_000
    }  # fmt: skip
    assert sum(selves.values()) == 100_000
    assert found["cudaLaunchKernel"].calls == 2


def test_an_op_that_only_calls_itself_is_one_call() -> None:
    """An op that passes a call on under its own name, through another key of the dispatcher, is not called twice."""
    found = stats(event("aten::to", 0, 10), event("aten::to", 1, 8), event("aten::copy_", 2, 4))
    assert (found["aten::to"].calls, found["aten::to"].host_total_ns) == (1, 10_000)
    assert found["aten::to"].host_self_ns == 6_000


def test_device_time_belongs_to_the_op_that_launched_and_to_those_around_it() -> None:
    """Self is what an op launched directly; total is with what the ops inside it launched."""
    found = stats(
        event("aten::matmul", 0, 50), launch(1, 1), event("aten::mm", 10, 20), launch(12, 2),
        launch(60, 3),
        kernel("pad", 100, 7, 1), kernel("gemm", 110, 30, 2), kernel("stray", 150, 5, 3),
    )  # fmt: skip
    device = {name: (stat.device_self_ns, stat.device_total_ns) for name, stat in found.items()}
    assert device == {
        "aten::matmul": (7_000, 37_000),
        "cudaLaunchKernel": (0, 0),
        "aten::mm": (30_000, 30_000),
    }


def test_python_frames_have_no_row_but_time() -> None:
    """What a frame runs is not the self time of the annotation around it, as in torch's table."""
    found = stats(
        event("note", 0, 100, cat="user_annotation"),
        event("train.py(1): step", 10, 50, cat="python_function"),
        event("aten::mm", 20, 10),
    )
    assert {name: stat.host_self_ns for name, stat in found.items()} == {
        "note": 50_000,
        "aten::mm": 10_000,
    }


def test_an_event_that_ends_too_late_takes_no_more_than_there_is() -> None:
    """A child may end a little after its parent by another clock: the parent's own time does not become negative."""
    found = stats(event("aten::add", 0, 10), event("aten::copy_", 0, 10.5))
    assert found["aten::add"].host_self_ns >= 0
