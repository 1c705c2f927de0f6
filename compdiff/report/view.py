"""The whole report as data. In: Run, Diff, failed expectations. Out: Page, in which every text and number is final.

A page is a pure function of these: nothing here reads a clock, a version or a file.
"""

import msgspec

from compdiff.model import Diff, Run
from compdiff.report.about import AboutView, NumericsView, make_about, make_numerics
from compdiff.report.cards import FindingCard, RewriteCard, make_findings, make_rewrites
from compdiff.report.comparison import ComparisonView, make_comparison
from compdiff.report.families import FamiliesView, make_families
from compdiff.report.folding import Folding, fold
from compdiff.report.gains import Gains, make_gains
from compdiff.report.headline import Headline, make_headline
from compdiff.report.lookup import Lookup
from compdiff.report.missed_cards import MissedCard, WhyNotView, make_missed, make_why_not
from compdiff.report.profile_table import ProfilerView, make_profiler
from compdiff.report.roofline import RooflineView, make_roofline
from compdiff.report.rows import Group, make_rows
from compdiff.report.stages import CompilerView, make_compilers
from compdiff.report.strips import Strips, make_strips
from compdiff.report.tables import KernelTable, OpTable, make_kernel_tables, make_op_tables
from compdiff.report.timeline import TimelineView, make_timeline
from compdiff.report.timings import TimingView, make_timing


class Page(msgspec.Struct, frozen=True):
    """The parts of a report, in the order in which they are shown."""

    head: Headline
    strips: Strips | None
    gains: Gains | None
    comparison: ComparisonView | None
    rows: tuple[Group, ...]
    folding: Folding
    rewrites: tuple[RewriteCard, ...]
    missed: tuple[MissedCard, ...]
    why_not: WhyNotView | None
    findings: tuple[FindingCard, ...]
    timing: TimingView | None
    timeline: TimelineView | None
    profiler: ProfilerView | None
    kernels: tuple[KernelTable, ...]
    families: FamiliesView | None
    roofline: RooflineView | None
    op_calls: tuple[OpTable, ...]
    numerics: NumericsView | None
    compilers: tuple[CompilerView, ...]
    about: AboutView


def make_page(run: Run, diff: Diff, expectation_failures: tuple[str, ...] = ()) -> Page:
    """Return everything that a report shows."""
    lookup = Lookup(run, diff)
    timing = make_timing(run)
    rows = make_rows(lookup)
    rewrites = make_rewrites(lookup)
    folding = fold(rows, rewrites)
    return Page(
        head=make_headline(lookup, timing, expectation_failures),
        strips=make_strips(lookup, rows),
        gains=make_gains(lookup, folding),
        comparison=make_comparison(lookup),
        rows=rows,
        folding=folding,
        rewrites=rewrites,
        missed=make_missed(lookup),
        why_not=make_why_not(lookup),
        findings=make_findings(lookup),
        timing=timing,
        timeline=make_timeline(lookup),
        profiler=make_profiler(run),
        kernels=make_kernel_tables(lookup, folding),
        families=make_families(run),
        roofline=make_roofline(run),
        op_calls=make_op_tables(lookup, folding),
        numerics=make_numerics(run),
        compilers=make_compilers(run),
        about=make_about(run),
    )
