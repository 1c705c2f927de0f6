"""What does not change from run to run. In: a Run. Out: a Stanza of countable lines; two Stanzas: what is lost and gained.

The lines hold no time, path, hash, running number or id, so the same torch and target give the same lines on any machine.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compdiff.align.items import item_name
from compdiff.align.pivot import Item
from compdiff.align.sides import compiled_items
from compdiff.analysis import analyse
from compdiff.model import CompileOptions, Diff, Kernel, Run
from compdiff.rewrites.changes import stable_text

SECTIONS = (
    "op calls",
    "kernels",
    "rewrites",
    "graph breaks",
    "recompiles",
    "copies introduced",
)
_COPIES = re.compile(r"\bcop(y|ies)\b|writes a result back")
# Findings that name op calls which copy, though no item of their own does.
_COPYING = {"bias-seed-copy": "copies its bias into the output first"}
_ITEM_IDS = re.compile(r" ?\((c|k|e|ek)\d+\)|\b(c|k|e|ek)\d+\b")
_FOLDERS = re.compile(r"(/[^\s:,()'\"]+)+/")
_LINE_NUMBERS = re.compile(r"(\.py):\d+")


@dataclass(frozen=True, order=True)
class Line:
    """One thing that the compiled side has: its name, and the eager op calls it stands for, in program order."""

    name: str
    op_calls: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the line as the lock shows it: `aten::addmm: aten::mm, aten::add.Tensor`."""
        return f"{self.name}: {', '.join(self.op_calls)}" if self.op_calls else self.name


Section = Mapping[Line, int]


@dataclass(frozen=True)
class Stanza:
    """What the compiled side of one case is: by section, each line with how often it occurs.

    `where` is the target, or the device measured on; `options` are those given to torch.compile, `accepted` says who took
    the last change on purpose, and why.
    """

    case: str
    where: str
    torch: str = ""
    options: tuple[str, ...] = ()
    accepted: str = ""
    sections: Mapping[str, Section] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """What tells stanzas of one lock apart."""
        return self.case, self.where

    def section(self, name: str) -> Section:
        """Return the lines of a section; none if it is empty."""
        return self.sections.get(name, {})


def stanza_of(run: Run, diff: Diff | None = None) -> Stanza:
    """Return what a run's compiled side is; `diff` is the run's own, where it is at hand."""
    known = diff or analyse(run)
    items = compiled_items(run, known, range(len(run.left.op_calls)), "right")
    names = [item_name(call) for call in run.left.op_calls]
    found: dict[str, Iterable[Line]] = {
        "op calls": (_item_line(item, names) for item in items if item.kind == "op call"),
        "kernels": _kernels(items, names),
        "rewrites": _rewrites(run, known),
        "graph breaks": _breaks(run),
        "recompiles": _recompiles(run),
        "copies introduced": _copies(items, run, known, names),
    }
    return Stanza(
        case=run.case.name,
        where=place_of(run),
        torch=run.environment.torch.partition("+")[0],
        options=_options(run.options, run),
        sections={name: Counter(lines) for name, lines in found.items()},
    )


def place_of(run: Run) -> str:
    """Return the target that a run was planned for, the GPU that it was measured on, or `cpu`."""
    if run.target is not None:
        return run.target.name
    kind = run.right.device.partition(":")[0]
    return kind if kind == "cpu" else one_line(run.environment.device or kind)


def one_line(text: str) -> str:
    """Return a text of the compiler on one line, without addresses and with control characters spelled out."""
    flat = " ".join(stable_text(text).split())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in flat)


def _options(options: CompileOptions, run: Run) -> tuple[str, ...]:
    """Return what was not left as it is by default, sorted: `dynamic=True`."""
    plain = CompileOptions()
    names = ("backend", "mode", "dynamic", "fullgraph")
    given: dict[str, object] = {
        name: getattr(options, name)
        for name in names
        if getattr(options, name) != getattr(plain, name)
    }
    given |= {f"option.{name}": value for name, value in options.options.items()}
    given |= {f"param.{name}": value for name, value in run.case.params.items()}
    if run.case.dtype:
        given["dtype"] = run.case.dtype
    return tuple(sorted(one_line(f"{name}={value}") for name, value in given.items()))


# ---------------------------------------------------------------- lines


def _item_line(item: Item, names: Sequence[str]) -> Line:
    return Line(_marked(one_line(_base(item)), backward=item.backward), _work(item, names))


def _base(item: Item) -> str:
    return item.base if isinstance(item.made, Kernel) else item.name


def _marked(name: str, *, backward: bool) -> str:
    return f"{name} [backward]" if backward else name


def _work(item: Item, names: Sequence[str]) -> tuple[str, ...]:
    """Return the eager op calls whose work an item does, repeated names counted."""
    if not item.work:
        reason = one_line(_ITEM_IDS.sub("", item.reason)) or "not explained"
        return (f"no eager op call ({reason})",)
    return counted(names[pivot] for pivot in sorted(item.work))


def counted(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, in order, with how often it occurs: `aten::add.Tensor x2`."""
    counts = Counter(names)
    return tuple(name if count == 1 else f"{name} x{count}" for name, count in counts.items())


def _kernels(items: Sequence[Item], names: Sequence[str]) -> Iterator[Line]:
    """Yield a line for each kernel; one that an op call launched stands for that call's work."""
    for item in items:
        if isinstance(item.made, Kernel):
            yield _item_line(item, names)
        for launched in item.launched:
            yield Line(_marked(one_line(launched), backward=item.backward), _work(item, names))


def _rewrites(run: Run, diff: Diff) -> Iterator[Line]:
    name_of = {f"e{call.id}": item_name(call) for call in run.left.op_calls}
    for rewrite in diff.rewrites:
        outcome = f" ({rewrite.outcome})" if rewrite.outcome else ""
        ops = counted(name_of.get(op, op) for op in rewrite.left)
        yield Line(f"{rewrite.rule}{outcome}", ops)


def _breaks(run: Run) -> Iterator[Line]:
    for broken in run.right.compiler.graph_breaks if run.right.compiler else ():
        yield Line(without_places(one_line(broken.reason)))


def _recompiles(run: Run) -> Iterator[Line]:
    for again in run.right.compiler.recompiles if run.right.compiler else ():
        reasons = "; ".join(without_places(one_line(reason)) for reason in again.reasons)
        yield Line(f"{again.compile_id} because {reasons}")


def without_places(text: str) -> str:
    """Return a text with folders and line numbers left out: they differ by machine, and with every edit above."""
    return _LINE_NUMBERS.sub(r"\1", _FOLDERS.sub("", text))


def _copies(items: Sequence[Item], run: Run, diff: Diff, names: Sequence[str]) -> Iterator[Line]:
    """Yield what copies though no eager op call asked for it: items, copies that op calls launch, seeded outputs."""
    by_id = {item.id: item for item in items}
    eager = Counter(kernel.name for kernel in run.left.kernels if kernel.kind == "memcpy")
    for item in items:
        if not item.work and _COPIES.search(item.reason):
            yield _item_line(item, names)
    for kernel in run.right.kernels:
        if kernel.kind == "memcpy" and kernel.op_call is not None:
            eager[kernel.name] -= 1
            if eager[kernel.name] < 0:
                owner = by_id[f"c{kernel.op_call}"]
                yield Line(one_line(kernel.name), _work(owner, names))
    yield from _seeds(by_id, diff, run, names)


def _seeds(by_id: Mapping[str, Item], diff: Diff, run: Run, names: Sequence[str]) -> Iterator[Line]:
    """Yield the op calls that findings say copy, where no kernel of theirs is a copy that was counted."""
    launched = {kernel.op_call for kernel in run.right.kernels if kernel.kind == "memcpy"}
    for finding in diff.findings:
        for one in finding.items if finding.id in _COPYING else ():
            item = by_id.get(one)
            if item is not None and item.made.id not in launched:
                yield Line(f"{item.name} {_COPYING[finding.id]}", _work(item, names))
