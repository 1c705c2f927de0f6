"""The ladder of a case, from the runs of its rungs."""

import msgspec
import pytest

from compdiff.ladder.build import Climbed, make_ladder
from compdiff.ladder.records import LADDER_SCHEMA, Ladder, encode_ladder
from compdiff.ladder.rungs import RUNGS, options_of
from compdiff.model import CaptureWarning, CompileOptions
from tests.builders import capture, run
from tests.ladder.examples import SPEC, climbed, gpu_ladder, rung_run, with_failure
from tests.variants import golden, planned_golden


def test_rungs_stand_in_order() -> None:
    """Eager mode is first and has no report of its own; the others have theirs in their folder."""
    ladder = gpu_ladder()
    assert [(rung.name, rung.folder) for rung in ladder.rungs] == [
        ("eager", ""),
        ("aot_eager", "aot_eager"),
        ("default", "default"),
        ("reduce-overhead", "reduce-overhead"),
        ("max-autotune", ""),
    ]
    assert [(it.before, it.after) for it in ladder.changes] == [
        ("eager", "aot_eager"),
        ("aot_eager", "default"),
        ("default", "reduce-overhead"),
    ]
    assert (ladder.device, ladder.device_name) == ("cuda:0", "a GPU")


def test_a_failed_rung_has_its_reason() -> None:
    """It is shown with why, with its report where something was measured, and the next rung starts from the one before."""
    found = climbed("aot_eager", "default", "reduce-overhead")
    assert found[1].run is not None
    found[1] = Climbed(kind=found[1].kind, run=with_failure(found[1].run))
    ladder = make_ladder(SPEC, found)
    rung = ladder.rungs[2]
    assert rung.failure == "compiled: compile: no compiler"
    assert (rung.folder, rung.step, rung.counts) == ("default", None, None)
    assert [(it.before, it.after) for it in ladder.changes] == [
        ("eager", "aot_eager"),
        ("aot_eager", "reduce-overhead"),
    ]


def test_eager_mode_survives_its_rungs() -> None:
    """Where every compile fails, what is known of eager mode is shown; with no run at all, that there is none."""
    broken = Climbed(kind=RUNGS[0], run=with_failure(rung_run("aot_eager")))
    ladder = make_ladder(SPEC, [broken])
    assert ladder.rungs[0].counts is not None
    assert ladder.rungs[0].split is not None
    assert ladder.changes == ()
    nothing = make_ladder(SPEC, [Climbed(kind=kind, failure="no torch") for kind in RUNGS])
    assert [rung.failure for rung in nothing.rungs[1:]] == ["no torch"] * 4
    assert nothing.rungs[0].failure
    assert (nothing.process_noise, nothing.eager_ns) == (None, ())


def test_a_plan_has_no_times() -> None:
    """Kernels, launches and estimates; no split, no speed, no compile time; and what max-autotune cannot know."""
    plan, _ = planned_golden("linear-size64")
    note = CaptureWarning(id="benchmark-dependent", text="max-autotune would time 17 candidates")
    plan = msgspec.structs.replace(plan, warnings=(*plan.warnings, note))
    ladder = make_ladder(SPEC, [Climbed(kind=kind, run=plan) for kind in RUNGS])
    assert ladder.basis == "planned"
    for rung in ladder.rungs:
        assert (rung.step, rung.split, rung.speed, rung.payback) == (None, None, None, None)
        assert rung.counts is not None
        assert rung.work is not None
        assert rung.counts.launches == rung.counts.kernels > 0
    assert [bool(rung.notes) for rung in ladder.rungs] == [False] * 4 + [True]
    assert "cannot be known without the device" in ladder.rungs[-1].notes[0]
    assert ladder.rungs[-1].notes[1] == note.text


def test_a_golden_run_is_a_rung() -> None:
    """A run of today, which was not split, is a rung without a split."""
    ladder = make_ladder(SPEC, [Climbed(kind=RUNGS[1], run=golden("linear"))])
    assert ladder.rungs[1].split is None
    assert ladder.rungs[1].step is not None
    assert ladder.changes[0].speed is not None


def test_json_reads_back() -> None:
    """The file holds all of it, is the same each time, and refuses what does not belong."""
    ladder = gpu_ladder()
    data = encode_ladder(ladder)
    assert msgspec.json.decode(data, type=Ladder) == ladder
    assert data == encode_ladder(gpu_ladder())
    plain = msgspec.json.decode(data)
    assert plain["schema"] == LADDER_SCHEMA
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(plain | {"more": 1}, Ladder)


def test_options_of_a_rung() -> None:
    """The user's options stay; backend and mode are the rung's."""
    asked = CompileOptions(dynamic=True, fullgraph=True, options={"freezing": True})
    found = [options_of(kind, asked) for kind in RUNGS]
    assert {(it.dynamic, it.fullgraph) for it in found} == {(True, True)}
    assert [(it.backend, it.mode) for it in found] == [
        ("aot_eager", "default"),
        ("inductor", "default"),
        ("inductor", "reduce-overhead"),
        ("inductor", "max-autotune"),
    ]


def test_a_cpu_is_named() -> None:
    """A side without the name of its device has that of the CPU."""
    ladder = make_ladder(SPEC, [Climbed(kind=RUNGS[0], run=run(capture()))])
    assert (ladder.device, ladder.device_name) == ("cpu", "a CPU")
