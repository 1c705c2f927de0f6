"""Conditions of rules as data. In: the facts and an op call's trace. Out: whether one holds, or why not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from compdiff.align.items import item_name
from compdiff.align.traces import OpTrace
from compdiff.model import OpCall
from compdiff.rewrites.facts import Facts

Predicate: TypeAlias = Callable[[Facts, OpTrace], bool]
_MOST_NAMES = 3


@dataclass(frozen=True)
class CallWords:
    """What sentences say of an op call: each property is a text."""

    facts: Facts
    trace: OpTrace

    @property
    def call(self) -> str:
        """The op call."""
        return _named(self.trace.call)

    @property
    def items(self) -> str:
        """The right items that do its work."""
        items = self.trace.items or ([self.trace.kept] if self.trace.kept else [])
        names = [f"{item_name(self.facts.items[item])} ({item})" for item in items]
        return _listed(names) or "nothing on the right"

    @property
    def readers(self) -> str:
        """What needs its result."""
        values = [meta.value for meta in self.trace.call.outputs]
        names = [_named(call) for value in values for call in self.facts.reading.get(value, ())]
        if set(values) & set(self.facts.alignment.left.output_values):
            names.append("the function's caller")
        return _listed(list(dict.fromkeys(names))) or "a write or a gradient"

    @property
    def twin(self) -> str:
        """The earlier call that it looks like."""
        facts, own = self.facts, self.trace.call.id
        earlier = facts.first_equal.get(own, facts.first_alike.get(own))
        return (
            "no earlier call" if earlier is None else _named(facts.alignment.traces[earlier].call)
        )

    @property
    def writer(self) -> str:
        """What wrote between it and the earlier call into memory that both read."""
        own = self.trace.call
        earlier = self.facts.first_alike.get(own.id, own.id)
        memory = {meta.storage for meta in own.inputs}
        for call in self.facts.alignment.left.op_calls:
            written = {meta.storage for meta in call.outputs} if call.mutates else set()
            if earlier < call.id < own.id and written & memory:
                return _named(call)
        return "something"

    @property
    def apart(self) -> str:
        """What keeps it apart from the earlier equal call."""
        facts, own = self.facts, self.trace
        earlier = facts.alignment.traces[facts.first_equal.get(own.call.id, own.call.id)]
        given = {meta.value for call in (own.call, earlier.call) for meta in call.outputs}
        if given & set(facts.alignment.left.output_values):
            return "the function returns one of them, whose memory is its own"
        if own.compile_id != earlier.compile_id:
            return "they are in different graphs"
        return "they run in different kernels"

    @property
    def others(self) -> str:
        """The right op calls that do its work."""
        return _listed([item_name(call) for call in self.facts.extern_calls(self.trace)]) or "none"


def _named(call: OpCall) -> str:
    line = f", line {call.source.line}" if call.source is not None else ""
    return f"{item_name(call)} (e{call.id}{line})"


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One condition of a rule.

    Attributes:
        holds: a named predicate.
        otherwise: what to say where it does not hold; `{it.…}` are properties of `CallWords`.
        kind: what it makes of an op call, for rules that begin with it, as in "no view in the case"; "" if it tells no kind.
    """

    holds: Predicate
    otherwise: str
    kind: str = ""

    @property
    def name(self) -> str:
        """The condition's name."""
        return self.holds.__name__

    def failure(self, facts: Facts, trace: OpTrace) -> str:
        """Return why the condition does not hold for an op call, or "" where it does."""
        if self.holds(facts, trace):
            return ""
        return self.otherwise.format(it=CallWords(facts, trace))
