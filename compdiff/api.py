"""compdiff from Python. In: a function with its arguments, or a saved run. Out: a Report.

It is the code that the command line runs, without the child process: a function of a notebook exists only here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from compdiff import timing as statistics
from compdiff.align.items import left_op, right_kernel, right_op
from compdiff.analysis import analyse, unexplained
from compdiff.errors import CompdiffError
from compdiff.expect import judge
from compdiff.model import (
    Capture,
    CompileOptions,
    Diff,
    Fate,
    Finding,
    Kernel,
    OpCall,
    Origin,
    Rewrite,
    Run,
    SamplingPlan,
)
from compdiff.store import read_run, write_atomic, write_run

if TYPE_CHECKING:
    from compdiff.report.view import Page

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, repr=False)
class Report:
    """What torch.compile did to a function: a run, and what compdiff concludes from it.

    Attributes:
        run: both sides as they were captured, the environment, the samples: what is saved.
        diff: the conclusion: fates, origins, rewrites, findings.
        expectation_failures: what the case expects (EXPECT) and did not get; empty where it asks for nothing.
    """

    run: Run
    diff: Diff
    expectation_failures: tuple[str, ...] = ()

    @property
    def eager(self) -> Capture:
        """What eager mode did: `eager.op_calls`, and on a GPU `eager.kernels`, in the order in which they ran."""
        return self.run.left

    @property
    def compiled(self) -> Capture:
        """What the compiled function did: `compiled.op_calls`, `compiled.kernels`; `compiled.compiler` says how."""
        return self.run.right

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """What the compiler rewrote, in the order of the eager op calls."""
        return self.diff.rewrites

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules of all rewrites, each once, in order."""
        return tuple(dict.fromkeys(rewrite.rule for rewrite in self.diff.rewrites))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The diagnoses of both sides."""
        return self.diff.findings

    @property
    def unexplained(self) -> int:
        """How many eager op calls, compiled op calls and kernels nothing explains."""
        return sum(unexplained(self.diff))

    @property
    def speedup(self) -> float | None:
        """Eager time over compiled time, the median of interleaved samples; None where nothing was timed."""
        timing = self.run.timing
        if timing is None or not timing.left.ns_per_call or not timing.right.ns_per_call:
            return None
        return statistics.speedup(timing).median

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return self._page.head.sentence

    def fate(self, call: OpCall) -> Fate:
        """Return what became of one of `eager.op_calls`.

        Raises:
            CompdiffError: the op call is of another run.
        """
        found = self.diff.fates.get(left_op(call.id))
        if found is None:
            raise CompdiffError(f"{call.name}: no eager op call of this run has the id {call.id}")
        return found

    def origin(self, item: OpCall | Kernel) -> Origin:
        """Return where one of `compiled.op_calls` or `compiled.kernels` came from; it names eager op calls as `e3`.

        Raises:
            CompdiffError: the item is of another run.
        """
        name = right_op(item.id) if isinstance(item, OpCall) else right_kernel(item.id)
        found = self.diff.origins.get(name)
        if found is None:
            raise CompdiffError(f"{item.name}: no compiled item of this run has the id {item.id}")
        return found

    def summary(self) -> str:
        """Return what the command line prints, as plain text."""
        from compdiff.report.terminal import plain_summary  # noqa: PLC0415 (rich loads only here)

        return plain_summary(self._page)

    def markdown(self) -> str:
        """Return summary.md: Markdown for a pull request, under 60 kB."""
        from compdiff.report.summary import render_summary  # noqa: PLC0415 (loads late, as all of the report)

        return render_summary(self._page)

    def json(self) -> str:
        """Return diff.json: the conclusion for scripts, schema `compdiff.diff/1`."""
        from compdiff.report.document import encode_document  # noqa: PLC0415 (as above)

        return encode_document(self.run, self.diff, self.expectation_failures).decode()

    def html(self, path: str | Path) -> Path:
        """Write the report as one HTML file and return its path.

        Raises:
            CompdiffError: the file cannot be written.
        """
        from compdiff.report.html_page import render_page  # noqa: PLC0415 (jinja2 loads only here)

        write_atomic(Path(path), render_page(self._page).encode())
        return Path(path)

    def save(self, path: str | Path) -> Path:
        """Save the run and return its path; it is gzipped where the name ends in `.gz`. `compdiff.load` reads it.

        Raises:
            CompdiffError: the file cannot be written.
        """
        write_run(self.run, Path(path))
        return Path(path)

    def _repr_html_(self) -> str:
        """Return the report in a frame, for a notebook."""
        from compdiff.report.notebook import notebook_html  # noqa: PLC0415 (jinja2 loads only here)

        return notebook_html(self._page)

    def __repr__(self) -> str:
        return f"<compdiff.Report {self.run.case.name}: {self.sentence}>"

    @cached_property
    def _page(self) -> "Page":
        from compdiff.report.view import make_page  # noqa: PLC0415 (as above)

        return make_page(self.run, self.diff, self.expectation_failures)


def compare(  # noqa: PLR0913 - one for each option
    fn: Callable[..., object],
    *args: object,
    kwargs: Mapping[str, object] | None = None,
    backward: bool = False,
    backend: str = "inductor",
    mode: str | None = None,
    dynamic: bool | None = None,
    fullgraph: bool = False,
    options: Mapping[str, int | float | str | bool | None] | None = None,
    use_cache: bool = False,
    tolerance: tuple[float, float] | None = None,
    seed: int = 0,
    budget_s: float = 1.0,
    name: str = "",
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Call `fn` on the arguments in eager mode and under torch.compile, and return what the compiler did to it.

    It runs in this process, a few thousand times where it is fast. Arguments are copied; modules, tensors and gradients that
    `fn` is, holds or names, and random states, are put back. Code compiled before is forgotten, and compiled again when it
    is called.

    Args:
        fn: a function or an `nn.Module` that is not compiled yet.
        args: its positional arguments; where its tensors are is where it is measured.
        kwargs: its keyword arguments.
        backward: take gradients too; otherwise all runs under `torch.no_grad()`.
        backend: torch.compile's, as are `mode`, `dynamic`, `fullgraph` and `options`.
        mode: such as `max-autotune`.
        dynamic: None lets torch.compile decide.
        fullgraph: a graph break is an error.
        options: those of Inductor.
        use_cache: use the compile caches; a hit hides the passes.
        tolerance: (rtol, atol) for comparing the outputs; that of their dtypes if None.
        seed: of Python and torch, set before each part.
        budget_s: seconds of timing samples.
        name: what to call the case; the function's own name if empty.
        progress: told the name of each stage as it starts.

    Raises:
        CompdiffError: the call cannot be measured; says why and what to do.
        Exception: whatever `fn` raises, on either side.
    """
    # Here, so that importing compdiff and reading runs does without torch.
    from compdiff.capture.in_process import Call, measure_call  # noqa: PLC0415

    call = Call(
        fn=fn,
        args=args,
        kwargs=kwargs or {},
        backward=backward,
        tolerance=tolerance,
        name=name,
    )
    run = measure_call(
        call,
        options=CompileOptions(
            backend=backend,
            mode=mode,
            dynamic=dynamic,
            fullgraph=fullgraph,
            options=dict(options or {}),
            use_cache=use_cache,
        ),
        sampling=SamplingPlan(budget_ns=round(budget_s * _NS_PER_S)),
        seed=seed,
        progress=progress or _ignore,
    )
    return report_of(run)


def load(path: str | Path) -> Report:
    """Return the report of a saved run: a `run.json.gz`, or the folder with it. Needs neither torch nor a GPU.

    Raises:
        CompdiffError: there is no run, or it cannot be read.
    """
    return report_of(read_run(Path(path)))


def report_of(run: Run) -> Report:
    """Return what compdiff concludes from a run.

    Raises:
        CompdiffError: the conclusion breaks the conservation law, which is a bug in compdiff.
    """
    diff = analyse(run)
    return Report(run, diff, judge(run.expectation, run, diff) if run.failure is None else ())


def _ignore(_: str) -> None:
    """Show nothing."""
