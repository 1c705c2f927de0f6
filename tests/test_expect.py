"""Tests of compdiff.expect: a run of two op calls, and what a case may say of it."""

import msgspec
import pytest

from compdiff.errors import CaseError
from compdiff.expect import judge
from compdiff.model import (
    Capture,
    CaseInfo,
    CompileOptions,
    Compiler,
    Diff,
    Environment,
    Expectation,
    Fate,
    GraphBreak,
    Kernel,
    Numerics,
    OpCall,
    Origin,
    Recompile,
    Rewrite,
    Run,
)

RUN = Run(
    case=CaseInfo(name="linear", file="cases/linear.py"),
    environment=Environment(),
    options=CompileOptions(),
    left=Capture(
        label="eager",
        basis="measured",
        device="cpu",
        op_calls=tuple(
            OpCall(id=index, name=name)
            for index, name in enumerate(("aten::mm", "aten::add", "aten::relu"))
        ),
    ),
    right=Capture(
        label="compiled",
        basis="measured",
        device="cpu",
        op_calls=(OpCall(id=0, name="aten::mm"),),
        kernels=(
            Kernel(id=0, name="cpp_fused_a_0", kind="cpp"),
            Kernel(id=1, name="b_1", kind="cpp"),
        ),
        compiler=Compiler(
            backend="inductor",
            graph_breaks=(GraphBreak(reason="a print"),),
            recompiles=(Recompile(compile_id="0/1", reasons=("size 3 was 2",)),),
        ),
    ),
    numerics=Numerics(comparable=True, within=False),
)
DIFF = Diff(
    left_label="eager",
    right_label="compiled",
    fates={
        "e0": Fate(fate="kept"),
        "e1": Fate(fate="fused", rewrite="r1"),
        "e2": Fate(fate="fused", rewrite="r1"),
    },
    origins={
        "c0": Origin(op_calls=("e0",)),
        "k0": Origin(op_calls=("e1", "e2")),
        "k1": Origin(introduced="copies an input"),
    },
    rewrites=(
        Rewrite(
            id="r1",
            rule="pointwise-fusion",
            left=("e1", "e2"),
            right=("k0",),
            source="cases/linear.py:12",
            outcome="fused-add",
        ),
    ),
)


def failures(**fields: object) -> tuple[str, ...]:
    """Return what is said of an expectation with these fields."""
    return judge(msgspec.convert(fields, Expectation), RUN, DIFF)


def test_nothing_expected_is_nothing_failed() -> None:
    """A case without EXPECT, and one whose EXPECT is empty, never fail."""
    assert judge(None, RUN, DIFF) == ()
    assert failures() == ()


def test_what_holds_is_not_mentioned() -> None:
    """Expectations that are met give no sentence."""
    assert (
        failures(
            rules=["pointwise-fusion"],
            not_rules=["mm-add-to-addmm"],
            max_kernels=2,
            min_kernels=2,
            max_op_calls=1,
            graph_breaks=1,
            recompiles=1,
            outcome="fused-add",
            numerics=False,
        )
        == ()
    )


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        (
            "rules",
            ["mm-add-to-addmm"],
            (
                "expected the rewrite mm-add-to-addmm, found none; the op calls: aten::mm was kept; "
                "aten::add was fused by pointwise-fusion; aten::relu was fused by pointwise-fusion"
            ),
        ),
        (
            "not_rules",
            ["pointwise-fusion"],
            (
                "expected no rewrite pointwise-fusion, found r1 at cases/linear.py:12: "
                "aten::add, aten::relu"
            ),
        ),
        (
            "outcome",
            "bias-epilogue",
            "expected the outcome bias-epilogue, found fused-add",
        ),
        (
            "max_kernels",
            1,
            "expected at most 1 kernels on the compiled side, found 2: cpp_fused_a_0, b_1",
        ),
        (
            "min_kernels",
            3,
            "expected at least 3 kernels on the compiled side, found 2: cpp_fused_a_0, b_1",
        ),
        (
            "max_op_calls",
            0,
            "expected at most 0 op calls on the compiled side, found 1: aten::mm",
        ),
        ("graph_breaks", 0, "expected exactly 0 graph breaks, found 1: a print"),
        ("graph_breaks", 2, "expected exactly 2 graph breaks, found 1: a print"),
        ("recompiles", 0, "expected exactly 0 recompiles, found 1: size 3 was 2"),
        (
            "numerics",
            True,
            (
                "expected outputs that agree within the tolerance, "
                "found that they differ by more than the tolerance"
            ),
        ),
    ],
)
def test_what_fails_is_one_precise_sentence(field: str, value: object, sentence: str) -> None:
    """A sentence says what was expected, what was found, and names what was found."""
    assert failures(**{field: value}) == (sentence,)


def test_what_is_unexplained_is_named() -> None:
    """Nothing may be unexplained unless a case says so, and the items are named."""
    diff = msgspec.structs.replace(
        DIFF, fates={**DIFF.fates, "e0": Fate(fate="unexplained")}, origins={"k1": Origin()}
    )

    assert judge(Expectation(), RUN, diff) == (
        "expected at most 0 unexplained op calls and kernels, found 2: e0, k1",
    )
    assert judge(Expectation(unexplained=2), RUN, diff) == ()
    assert judge(Expectation(unexplained=None), RUN, diff) == ()


def test_equal_fates_are_counted() -> None:
    """Many op calls of one name and fate take one place in the sentence."""
    calls = tuple(OpCall(id=index, name="aten::t") for index in range(30))
    run = msgspec.structs.replace(RUN, left=msgspec.structs.replace(RUN.left, op_calls=calls))
    diff = Diff(
        left_label="", right_label="", fates={f"e{i}": Fate(fate="kept") for i in range(30)}
    )
    (sentence,) = judge(Expectation(rules=("noop-removed",)), run, diff)

    assert sentence.endswith("the op calls: aten::t was kept (30 times)")


def test_long_lists_are_cut() -> None:
    """Only the first eight of many names are shown."""
    kernels = tuple(Kernel(id=index, name=f"k{index}", kind="cpp") for index in range(11))
    run = msgspec.structs.replace(RUN, right=msgspec.structs.replace(RUN.right, kernels=kernels))
    (sentence,) = judge(Expectation(max_kernels=0), run, DIFF)

    assert sentence.endswith("found 11: k0, k1, k2, k3, k4, k5, k6, k7 and 3 more")


@pytest.mark.parametrize("field", ["rules", "not_rules"])
def test_an_unknown_rule_is_an_error(field: str) -> None:
    """A slip in a rule's name would make an expectation that always or never holds."""
    with pytest.raises(
        CaseError, match=r"linear.py: EXPECT names the unknown rule fusion"
    ) as error:
        failures(**{field: ["fusion"]})

    assert "pointwise-fusion" in error.value.hint


def test_an_unknown_outcome_is_an_error() -> None:
    """The outcomes are known by name as well."""
    with pytest.raises(CaseError, match="unknown outcome 'addmm'") as error:
        failures(outcome="addmm")

    assert "bias-epilogue" in error.value.hint
