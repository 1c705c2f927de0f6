"""How a run was made, and whether its outputs agree. In: Run. Out: environment, options, audits, numerics as texts."""

import msgspec

from compdiff.model import CompileOptions, Environment, Numerics, OutputError, Run
from compdiff.report.quantities import count_text, error_text, value_text

_ENVIRONMENT = (
    ("torch", "torch"),
    ("triton", "Triton"),
    ("cuda", "CUDA"),
    ("driver", "driver"),
    ("device", "device"),
    ("cpu", "CPU"),
    ("threads", "threads"),
    ("python", "Python"),
    ("compiler", "C++ compiler"),
    ("platform", "platform"),
    ("git_commit", "git commit"),
    ("git_branch", "git branch"),
    ("compdiff", "compdiff"),
)


class Fact(msgspec.Struct, frozen=True):
    """A name with its value."""

    name: str
    value: str


class AuditRow(msgspec.Struct, frozen=True):
    """One capture pass, with the compiles counted before and after it."""

    name: str
    before: int
    after: int
    compiled: int


class ErrorRow(msgspec.Struct, frozen=True):
    """The largest differences of one pair of outputs."""

    name: str
    max_abs: str
    max_rel: str


class NumericsView(msgspec.Struct, frozen=True):
    """Both sides against a float64 reference. `state` is `agree`, `differ` or `not compared`."""

    state: str
    sentence: str
    rows: tuple[ErrorRow, ...]
    tolerance: str
    note: str


class AboutView(msgspec.Struct, frozen=True):
    """Run metadata."""

    case: tuple[Fact, ...]
    environment: tuple[Fact, ...]
    options: tuple[Fact, ...]
    audits: tuple[AuditRow, ...]
    source: str
    file: str


def make_about(run: Run) -> AboutView:
    """Return how the run was made."""
    case = (
        Fact("case", run.case.name),
        Fact("file", run.case.file),
        Fact("form", run.case.form),
        Fact("parameters", ", ".join(f"{k} = {value_text(v)}" for k, v in run.case.params.items())),
        Fact("dtype", run.case.dtype),
        Fact("backward", "yes" if run.case.backward else "no"),
        Fact("measured at", run.created),
        Fact("schema", run.schema),
    )
    return AboutView(
        case=tuple(fact for fact in case if fact.value),
        environment=environment_facts(run.environment),
        options=option_facts(run.options),
        audits=tuple(
            AuditRow(
                a.name, a.compiles_before, a.compiles_after, a.compiles_after - a.compiles_before
            )
            for a in run.audits
        ),
        source=run.case.source,
        file=run.case.file,
    )


def environment_facts(environment: Environment) -> tuple[Fact, ...]:
    """Return what is known of machine and software, absent parts left out."""
    values = {field: getattr(environment, field) for field, _ in _ENVIRONMENT}
    facts = [Fact(name, str(values[field])) for field, name in _ENVIRONMENT if values[field]]
    if environment.git_dirty:
        facts.append(Fact("git state", "uncommitted changes"))
    return tuple(facts)


def option_facts(options: CompileOptions) -> tuple[Fact, ...]:
    """Return the arguments given to torch.compile, defaults included."""
    return (
        Fact("backend", options.backend),
        Fact("mode", options.mode or "default"),
        Fact("dynamic", "automatic" if options.dynamic is None else str(options.dynamic)),
        Fact("fullgraph", str(options.fullgraph)),
        *(Fact(name, value_text(value)) for name, value in sorted(options.options.items())),
        Fact("compile caches", "on" if options.use_cache else "off"),
    )


def make_numerics(run: Run) -> NumericsView | None:
    """Return how far both sides are from the float64 reference; None when nothing was compared."""
    numerics = run.numerics
    if numerics is None:
        return None
    names = (
        (f"{run.left.label} against float64", numerics.left),
        (f"{run.right.label} against float64", numerics.right),
        (f"{run.right.label} against {run.left.label}", numerics.between),
    )
    rows = tuple(_error_row(name, error) for name, error in names if error is not None)
    states = {True: "agree", False: "differ", None: "not compared"}
    return NumericsView(
        state=states[numerics.within],
        sentence=_sentence(run, numerics),
        rows=rows,
        tolerance=f"rtol {numerics.rtol:.3g}, atol {numerics.atol:.3g}",
        note=numerics.note,
    )


def _error_row(name: str, error: OutputError) -> ErrorRow:
    return ErrorRow(name, error_text(error.max_abs), error_text(error.max_rel))


def _sentence(run: Run, numerics: Numerics) -> str:
    if not numerics.comparable or numerics.within is None:
        return "The outputs were not compared."
    state = "agree within" if numerics.within else "differ by more than"
    first = f"{count_text(numerics.tensors, 'tensor')} compared: the sides {state} the tolerance."
    return f"{first} {_closer(run, numerics)}".strip()


def _closer(run: Run, numerics: Numerics) -> str:
    if numerics.left is None or numerics.right is None:
        return ""
    left, right = numerics.left.max_abs, numerics.right.max_abs
    if left == right:
        return "Both are equally far from float64."
    closer = run.right.label if right < left else run.left.label
    return f"The {closer} side is closer to float64."
