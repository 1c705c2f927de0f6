"""What can be counted of two runs, side by side. In: two Runs. Out: Quantities; the sentence that matters first.

Times are not among them: those of two runs are judged by `times`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from compdiff.align.items import item_name
from compdiff.align.pivot import pair_eager
from compdiff.analysis import analyse, unexplained
from compdiff.model import Diff, Environment, Run
from compdiff.regression.changes import changes
from compdiff.regression.structure import Stanza, one_line, stanza_of
from compdiff.report.quantities import count_text, error_text, flops_text, list_text, size_text
from compdiff.work import side_work

_SOFTWARE = ("torch", "triton", "cuda", "driver", "python")
_MOST_SENTENCES = 3
_MOST_NAMES = 4


@dataclass(frozen=True)
class Quantity:
    """A number of both runs, as numbers and as texts; None and "" where nobody knows it."""

    name: str
    before: float | None
    after: float | None
    before_text: str
    after_text: str

    @property
    def is_changed(self) -> bool:
        """Whether the numbers differ."""
        return self.before != self.after


_Of = Callable[[Run, Diff], float | None]
_Text = Callable[[float], str]


@dataclass(frozen=True)
class Analysed:
    """A run with its diff and its stanza."""

    run: Run
    diff: Diff
    stanza: Stanza


def analysed(run: Run) -> Analysed:
    """Return a run with what follows from it."""
    diff = analyse(run)
    return Analysed(run, diff, stanza_of(run, diff))


def quantities(before: Analysed, after: Analysed) -> tuple[Quantity, ...]:
    """Return the numbers that at least one of two runs has."""
    found = []
    for name, value_of, text_of in _TABLE:
        values = value_of(before.run, before.diff), value_of(after.run, after.diff)
        texts = ["" if value is None else text_of(value) for value in values]
        if values != (None, None):
            found.append(Quantity(name, *values, *texts))
    return tuple(found)


def sentence(before: Analysed, after: Analysed) -> str:
    """Return what matters first: software, then what was lost and gained: `torch 2.13.0 -> 2.14.1; the ... is now ...`."""
    parts = [*_software(before.run.environment, after.run.environment)]
    found = [change.text for change in changes(before.stanza, after.stanza)]
    parts += found[:_MOST_SENTENCES]
    if len(found) > _MOST_SENTENCES:
        parts.append(f"and {count_text(len(found) - _MOST_SENTENCES, 'more change')}")
    return "; ".join(parts) or "the same software makes the same of it"


def eager_sentence(before: Run, after: Run) -> str:
    """Return how the eager sides differ: which op calls one alone has, or that they are the same."""
    pairs = pair_eager(before.left.op_calls, after.left.op_calls)
    count = count_text(len(after.left.op_calls), "op call")
    if pairs.are_equal:
        return f"the same {count}"
    names = [Counter(item_name(call) for call in run.left.op_calls) for run in (before, after)]
    lost, gained = names[0] - names[1], names[1] - names[0]
    parts = [f"lost {_listed(lost)}" if lost else "", f"gained {_listed(gained)}" if gained else ""]
    return "; ".join(filter(None, parts)) or f"{count}, in another order or on other shapes"


def _listed(names: Counter[str]) -> str:
    texts = [f"{one_line(name)} x{n}" if n > 1 else one_line(name) for name, n in names.items()]
    more = [f"{len(texts) - _MOST_NAMES} more"] if len(texts) > _MOST_NAMES else []
    return list_text([*texts[:_MOST_NAMES], *more])


def _software(before: Environment, after: Environment) -> list[str]:
    texts = [(name, *(getattr(one, name) for one in (before, after))) for name in _SOFTWARE]
    return [
        f"{name} {one_line(old) or 'unknown'} -> {one_line(new) or 'unknown'}"
        for name, old, new in texts
        if old != new
    ]


# ---------------------------------------------------------------- numbers


def _registers(run: Run, diff: Diff) -> float | None:
    """Return the most registers of a thread of any compiled kernel."""
    del diff
    found = [
        kernel.resources.registers if kernel.resources else kernel.registers
        for kernel in run.right.kernels
    ]
    return max((count for count in found if count is not None), default=None)


def _spills(run: Run, diff: Diff) -> float | None:
    del diff
    found = [kernel.resources.spill_bytes for kernel in run.right.kernels if kernel.resources]
    return sum(found) if found else None


def _flops(run: Run, diff: Diff) -> float | None:
    del diff
    work = side_work(run.right)
    return None if work is None else work.flops


def _bytes(run: Run, diff: Diff) -> float | None:
    del diff
    work = side_work(run.right)
    return None if work is None else work.bytes_moved


def _compile_s(run: Run, diff: Diff) -> float | None:
    del diff
    compilations = run.right.compiler.compilations if run.right.compiler else ()
    return sum(one.phases_ns.get("dynamo", 0) for one in compilations) / 1e9 or None


def _breaks(run: Run, diff: Diff) -> float | None:
    del diff
    return len(run.right.compiler.graph_breaks) if run.right.compiler else None


def _recompiles(run: Run, diff: Diff) -> float | None:
    del diff
    return len(run.right.compiler.recompiles) if run.right.compiler else None


def _error(run: Run, diff: Diff) -> float | None:
    del diff
    return run.numerics.right.max_rel if run.numerics and run.numerics.right else None


def _count(value: float) -> str:
    return str(int(value))


_TABLE: tuple[tuple[str, _Of, _Text], ...] = (
    ("eager op calls", lambda run, _: len(run.left.op_calls), _count),
    ("op calls", lambda run, _: len(run.right.op_calls), _count),
    ("kernels", lambda run, _: len(run.right.kernels), _count),
    ("rewrites", lambda _, diff: len(diff.rewrites), _count),
    ("graph breaks", _breaks, _count),
    ("recompiles", _recompiles, _count),
    ("unexplained", lambda _, diff: sum(unexplained(diff)), _count),
    ("most registers", _registers, _count),
    ("spilled", _spills, lambda value: size_text(int(value))),
    ("FLOPs", _flops, lambda value: flops_text(int(value))),
    ("memory traffic", _bytes, lambda value: size_text(int(value))),
    ("peak memory", lambda run, _: run.right.peak_bytes, lambda value: size_text(int(value))),
    ("compile time", _compile_s, lambda value: f"{value:.3g} s"),
    ("error against float64", _error, error_text),
)
