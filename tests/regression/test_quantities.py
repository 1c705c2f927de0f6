"""Numbers of two runs side by side, and the sentence that matters first."""

import msgspec

from compdiff.model import OpCall, Run
from compdiff.regression.quantities import analysed, eager_sentence, quantities, sentence
from tests.variants import (
    golden,
    planned_golden,
    uncompiled,
    with_break,
    with_op_call,
    with_recompile,
)

replace = msgspec.structs.replace


def numbers(before: Run, after: Run) -> dict[str, tuple[str, str]]:
    """Return the texts of the quantities by name."""
    found = quantities(analysed(before), analysed(after))
    return {one.name: (one.before_text, one.after_text) for one in found}


def changed(before: Run, after: Run) -> set[str]:
    """Return the names of the quantities that differ."""
    found = quantities(analysed(before), analysed(after))
    return {one.name for one in found if one.is_changed}


def test_a_run_beside_itself() -> None:
    """Nothing is changed, and the sentence says so."""
    run = golden("linear")

    assert changed(run, run) == set()
    assert sentence(analysed(run), analysed(run)) == "the same software makes the same of it"


def test_what_counts_differ() -> None:
    """Breaks, recompiles, op calls and rewrites are counted on both sides."""
    run = golden("linear")

    assert changed(run, with_break(run, "because")) == {"graph breaks"}
    assert changed(run, with_recompile(run, "because")) == {"recompiles"}
    assert {"op calls", "rewrites"} <= changed(run, uncompiled(run))
    assert numbers(run, uncompiled(run))["op calls"] == ("1", "2")


def test_software_comes_first() -> None:
    """Then what was lost with what does the work now."""
    run = golden("linear")
    other = replace(run, environment=replace(run.environment, torch="2.15.0"))

    text = sentence(analysed(run), analysed(uncompiled(other)))

    assert text.startswith("torch 2.14.1+cu130 -> 2.15.0; mm-add-to-addmm (seeded-output) lost")
    assert "aten::add.Tensor now runs by itself" in text


def test_resources_of_a_plan() -> None:
    """Registers, spills, FLOPs and traffic are those of compiled kernels; what only one run has is empty in the other."""
    plan, _ = planned_golden("mlp_geglu")
    cpu = golden("mlp_geglu")

    found = numbers(cpu, plan)

    for name in ("most registers", "spilled", "FLOPs", "memory traffic"):
        assert found[name][0] == ""
        assert found[name][1]
    assert found["error against float64"][0]


def test_peak_memory_and_compile_time() -> None:
    """They are shown in their units."""
    run = golden("linear")
    runs = [replace(run, right=replace(run.right, peak_bytes=size)) for size in (2048, 4096)]

    found = numbers(*runs)

    assert found["peak memory"] == ("2.00 KiB", "4.00 KiB")
    assert found["compile time"][0].endswith(" s")


def test_eager_sides() -> None:
    """The same, one more, or the same on other shapes."""
    run = golden("linear")
    more = with_op_call(run, 0, OpCall(id=0, name="aten::relu"))

    assert eager_sentence(run, run) == "the same 2 op calls"
    assert eager_sentence(run, more) == "gained aten::relu"
    assert eager_sentence(more, run) == "lost aten::relu"


def test_hostile_names_are_on_one_line() -> None:
    """Names of op calls come from outside."""
    run = golden("linear")
    more = with_op_call(run, 0, OpCall(id=0, name="aten::x\n\x1b[2J"))

    assert eager_sentence(run, more).isprintable()
