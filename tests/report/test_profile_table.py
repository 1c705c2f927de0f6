"""The profiler's table of both sides."""

import msgspec

from compdiff.model import OpStat
from compdiff.report.profile_table import MOST_ROWS, ProfilerTable, make_profiler
from tests.builders import capture, run
from tests.report.examples import HOSTILE, geglu, traced


def tables() -> tuple[ProfilerTable, ...]:
    """Return the tables of the traced example."""
    made = make_profiler(traced().run)
    assert made is not None
    return made.tables


def test_both_sides_by_name_the_most_device_time_first() -> None:
    """A side that has no event of a name has dashes."""
    ops, _ = tables()
    assert ops.columns == ("Calls", "Host self", "Host total", "Device self", "Device total")
    assert [row.name for row in ops.rows] == [HOSTILE, "aten::mm", "cudaLaunchKernel"]
    assert ops.rows[1].left == ("1", "25.0 us", "30.0 us", "20.0 us", "20.0 us")
    assert ops.rows[1].right == ("1", "15.0 us", "20.0 us", "20.0 us", "20.0 us")
    assert ops.rows[0].right == ("-",) * 5


def test_device_time_adds_up_to_that_of_the_kernels() -> None:
    """Self device times, and what none of the ops launched, are all kernels, each once."""
    ops, kernels = tables()
    everything, outside = ops.sums
    assert (everything.left[3], outside.left[3]) == ("45.0 us", "15.0 us")
    assert kernels.sums[0].left == ("3", "60.0 us", "100 %")


def test_total_times_are_not_summed() -> None:
    """They overlap: the sum would count nested time twice."""
    ops, _ = tables()
    assert (ops.sums[0].left[2], ops.sums[0].left[4]) == ("", "")


def test_the_rest_is_summed_up() -> None:
    """At most sixty names have a row, and no call is lost."""
    stats = tuple(
        OpStat(name=f"op{n}", calls=2, host_self_ns=n, host_total_ns=n + 1) for n in range(100)
    )
    side = capture(op_stats=stats, profile_wall_ns=1_000)
    made = make_profiler(run(side, side))
    assert made is not None
    (table,) = made.tables
    assert table.columns == ("Calls", "Host self", "Host total")
    assert (len(table.rows), table.rows[0].name) == (MOST_ROWS, "op99")
    assert table.others is not None
    assert (table.others.name, table.others.left) == ("40 others", ("80", "780 ns", ""))
    assert table.sums[0].left == ("200", "4.95 us", "")


def test_no_table_without_a_profile() -> None:
    """Runs of older versions, and plans, have none."""
    assert make_profiler(geglu().run) is None
    example = traced().run
    plan = msgspec.structs.replace(example.left, basis="planned")
    assert make_profiler(run(plan, plan)) is None
