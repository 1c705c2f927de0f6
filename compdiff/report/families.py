"""Time by kernel family. In: Run. Out: one row for each family that either side runs, with counts, times and bars.

The family is what the kernel's name says; times are profiled, or estimated where the run is a plan.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from compdiff.kernels import read_kernel_name
from compdiff.model import GENERATED, Capture, Kernel, Run
from compdiff.report.estimates import kernel_ns
from compdiff.report.quantities import duration_text, share_text
from compdiff.report.tables import bar_width

_GENERATED = {"triton": "Triton, by Inductor", "cpp": "C++, by Inductor"}
_PLAIN = {"memcpy": "copy", "memset": "memory set"}


class FamilyCell(msgspec.Struct, frozen=True):
    """What one side has of a family; `width` is of 100, the longest of all being 100."""

    count: str
    time: str
    share: str
    width: str


class FamilyRow(msgspec.Struct, frozen=True):
    """A family on both sides."""

    name: str
    left: FamilyCell
    right: FamilyCell


class FamiliesView(msgspec.Struct, frozen=True):
    """All families, those that take longest first; `times` says what the times are."""

    labels: tuple[str, str]
    rows: tuple[FamilyRow, ...]
    times: str


def make_families(run: Run) -> FamiliesView | None:
    """Return the families of both sides, None where no kernel ran."""
    sides = (_Families(run.left), _Families(run.right))
    names = dict.fromkeys(name for side in sides for name in side.ns)
    if not names:
        return None
    order = sorted(names, key=lambda name: -max(side.ns[name] for side in sides))
    longest = max(max(side.ns.values(), default=0) for side in sides)
    planned = "planned" in {run.left.basis, run.right.basis}
    return FamiliesView(
        labels=(run.left.label, run.right.label),
        rows=tuple(
            FamilyRow(name, *(side.cell(name, longest) for side in sides)) for name in order
        ),
        times="estimated" if planned else "profiled",
    )


class _Families:
    """Counts and times of one side by family."""

    def __init__(self, capture: Capture) -> None:
        self.counts = Counter[str]()
        self.ns = Counter[str]()
        for kernel, name in _named(capture.kernels):
            self.counts[name] += 1
            self.ns[name] += kernel_ns(kernel)

    def cell(self, name: str, longest: int) -> FamilyCell:
        """Return what a row shows of this side."""
        count = self.counts[name]
        return FamilyCell(
            count=f"{count:,}",
            time=duration_text(self.ns[name]) if count else "",
            share=share_text(self.ns[name], self.ns.total()) if count else "",
            width=bar_width(self.ns[name], longest),
        )


def _named(kernels: Iterable[Kernel]) -> Iterable[tuple[Kernel, str]]:
    return ((kernel, family_text(kernel)) for kernel in kernels)


def family_text(kernel: Kernel) -> str:
    """Return what a kernel is counted under: `cuBLAS GEMM`, `Triton, by Inductor`, `copy`."""
    if kernel.kind in GENERATED:
        return _GENERATED[kernel.kind]
    if kernel.kind in _PLAIN:
        return _PLAIN[kernel.kind]
    name = read_kernel_name(kernel.name)
    return f"{name.family} {name.computes}" if name.known else "names that no table reads"
