"""What a rule is. A rule is a row of data in `rules.py`; the engine knows no op, the rows know no algorithm."""

import re
from dataclasses import dataclass
from typing import Literal

from compdiff.align.traces import OpTrace
from compdiff.model import FateKind, PassEvent
from compdiff.rewrites.condition import Condition
from compdiff.rewrites.facts import Facts

Scope = Literal["pass", "op", "kernel", "library", "path"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A kind of rewrite.

    Attributes:
        name: kebab-case, unique; the anchor and test id.
        fate: what becomes of the op calls it claims; `eliminated` only if nothing on the right does their work.
        scope: `pass` rules claim the op calls whose nodes one pass event removed; `op` rules claim one op call;
            `kernel` rules claim the op calls that run in one generated kernel; `library` rules claim those that one right op
            call is guessed to stand for, where no compiler tells; `path` rules claim the op calls of code that only eager
            mode runs.
        passes: for `pass` rules, patterns over `stage/pass_name/pattern location`; for `op` rules, of the events to cite.
        ops: names of the op calls it may claim (`pass`, `op`), one of which must be in the kernel (`kernel`), or of the
            right op calls it speaks of (`library`); empty means any.
        when: conditions that each claimed op call fulfils; the first says what kind of op call it is, if `ops` does not.
        why: one sentence for the reader.
        source: where torch does it.
        case: the file in cases/ that shows it.
        arithmetic: one sentence where the rewrite may change the order or precision of arithmetic, or the numbers drawn.
    """

    name: str
    fate: FateKind
    scope: Scope
    why: str
    source: str
    case: str
    arithmetic: str = ""
    passes: tuple[str, ...] = ()
    ops: frozenset[str] = frozenset()
    when: tuple[Condition, ...] = ()

    def matches_event(self, event: PassEvent) -> bool:
        """Return whether the rule speaks of this pass event."""
        text = f"{event.stage}/{event.pass_name}/{event.pattern} {event.location}"
        return any(re.search(pattern, text) for pattern in self.passes)

    def admits(self, facts: Facts, trace: OpTrace) -> bool:
        """Return whether the rule may claim this op call."""
        named = self.scope in {"kernel", "library"} or not self.ops or trace.call.name in self.ops
        return named and all(condition.holds(facts, trace) for condition in self.when)
