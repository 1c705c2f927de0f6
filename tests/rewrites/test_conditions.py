"""Tests of compdiff.rewrites.condition and the table of conditions."""

import inspect

import msgspec
import pytest

from compdiff.align.alignment import align
from compdiff.align.traces import OpTrace
from compdiff.model import OpCall
from compdiff.rewrites import RULES, conditions
from compdiff.rewrites.condition import Condition
from compdiff.rewrites.facts import Facts
from tests.builders import at, capture, compiler, graph, op
from tests.missed.calls import call, value

TABLE = {
    name: condition
    for name, condition in vars(conditions).items()
    if isinstance(condition, Condition)
}


def facts(*calls: OpCall, outputs: tuple[int, ...] = ()) -> Facts:
    """Return the facts of a left side beside an empty compiled one."""
    left = capture("eager", calls, output_values=outputs)
    return Facts(align(left, capture("compiled", compiler=compiler((graph(),)))))


@pytest.mark.parametrize("condition", TABLE.values(), ids=TABLE)
def test_each_condition_has_a_predicate_and_a_sentence(condition: Condition) -> None:
    """The sentence can be said of any op call, and ends as one."""
    known = facts(op(0, "aten::sin"))
    text = condition.failure(known, known.alignment.traces[0])
    assert inspect.getdoc(condition.holds)
    assert condition.otherwise.endswith(".")
    assert text == "" or text.endswith(".")
    assert (text == "") == condition.holds(known, known.alignment.traces[0])


def test_each_condition_is_asked_by_a_rule() -> None:
    """No row of the table is left over."""
    asked = {condition for rule in RULES for condition in rule.when}
    assert asked == set(TABLE.values())


def test_no_predicate_stands_twice() -> None:
    """One place for each condition."""
    predicates = [condition.holds for condition in TABLE.values()]
    assert len(predicates) == len(set(predicates))


def repeated() -> Facts:
    """Return a call, a write into what it read, and the same call again."""
    x, sine, again = value(0, 64), value(1, 64), value(3, 64)
    written = msgspec.structs.replace(value(2, 64), storage=0)
    write = msgspec.structs.replace(call(1, "aten::add_", (x,), written), mutates=True)
    second = msgspec.structs.replace(call(2, "aten::sin", (written,), again), source=AT)
    return facts(call(0, "aten::sin", (x,), sine), write, second, outputs=(1, 3))


AT = at("/work/cases/case.py", 9, "    return x.sin()")
SENTENCES = [
    (
        conditions.TRACED,
        "aten::sin (e2, line 9) was not traced into a compiled graph: it runs outside, where nothing is rewritten.",
    ),
    (
        conditions.NOT_NEEDED,
        "aten::sin (e2, line 9) is needed: the function's caller uses its result.",
    ),
    (
        conditions.SAME_CONTENTS,
        (
            "aten::add_ (e1) wrote into what aten::sin (e2, line 9) reads after aten::sin (e0) had read it: the contents "
            "are not the same."
        ),
    ),
    (
        conditions.READS_NO_TENSOR,
        "aten::sin (e2, line 9) reads a tensor: its result is not known at compile time.",
    ),
    (conditions.ONLY_VIEWS, "aten::sin (e2, line 9) makes new memory: it is no view."),
    (conditions.WRITES_IN_PLACE, "aten::sin (e2, line 9) writes into none of its arguments."),
    (
        conditions.GENERATED,
        "No generated kernel does the work of aten::sin (e2, line 9): nothing on the right does.",
    ),
]


@pytest.mark.parametrize(
    ("condition", "sentence"), SENTENCES, ids=lambda it: getattr(it, "name", "")
)
def test_what_a_sentence_says(condition: Condition, sentence: str) -> None:
    """It names the op call, its line, and what stands in the way."""
    known = repeated()
    assert condition.failure(known, known.alignment.traces[2]) == sentence


def test_a_condition_that_holds_has_no_failure() -> None:
    """The repeated call looks like an earlier one."""
    known = repeated()
    trace: OpTrace = known.alignment.traces[2]
    assert conditions.LOOKS_LIKE_AN_EARLIER_CALL.failure(known, trace) == ""
