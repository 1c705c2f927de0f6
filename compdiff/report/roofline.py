"""The roofline of a plan's target with the kernels of both sides. In: Run. Out: points and roofs with final coordinates.

Both axes are logarithmic. What is drawn are estimates: a kernel lies on the roof, or below it where it would be too short
for its launch. Kernels that compute nothing have no place on the axis; the table has them.
"""

import math
from collections.abc import Sequence

import msgspec

from compdiff.model import Capture, Estimate, Kernel, Run, Target
from compdiff.report.naming import clipped
from compdiff.report.quantities import duration_text, flops_text, ratio_text, size_text

WIDTH, HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 96, 20, 16, 40
_NAME = 60
_MOST_ROWS = 40


class Point(msgspec.Struct, frozen=True):
    """A kernel in the picture; those of equal estimates and name are one."""

    x: str
    y: str
    side: str
    title: str


class Roof(msgspec.Struct, frozen=True):
    """The line of one peak rate, from the memory's slope to the right edge, with its name at the end."""

    points: str
    label: str
    y: str


class Mark(msgspec.Struct, frozen=True):
    """A mark on an axis."""

    place: str
    text: str


class RoofRow(msgspec.Struct, frozen=True):
    """One kernel in the table; `count` says how many are alike."""

    side: str
    name: str
    count: str
    intensity: str
    rate: str
    work: str
    time: str
    bound: str


class RooflineView(msgspec.Struct, frozen=True):
    """The picture and the table that says the same; `more` counts the rows left out."""

    target: str
    points: tuple[Point, ...]
    roofs: tuple[Roof, ...]
    across: tuple[Mark, ...]
    up: tuple[Mark, ...]
    rows: tuple[RoofRow, ...]
    more: int
    description: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT


class _Alike(msgspec.Struct, frozen=True):
    """Kernels of one name and one estimate."""

    side: str
    label: str
    kernel: Kernel
    estimate: Estimate
    count: int

    @property
    def intensity(self) -> float:
        """FLOPs for each byte moved; 0 for a kernel that computes or moves nothing."""
        moved = self.estimate.bytes_read + self.estimate.bytes_written
        return self.estimate.flops / moved if moved else 0.0

    @property
    def rate(self) -> float:
        """FLOPs a nanosecond, which are GFLOP/s."""
        return self.estimate.flops / self.estimate.ns if self.estimate.ns else 0.0


def make_roofline(run: Run) -> RooflineView | None:
    """Return the roofline of a plan, None for any other run and where no kernel has an estimate."""
    target = run.target
    found = [*_alike(run.left, "left"), *_alike(run.right, "right")]
    if target is None or not found:
        return None
    drawn = [one for one in found if one.intensity > 0 and one.rate > 0]
    axes = _Axes(drawn, target)
    rows = sorted(found, key=lambda one: -one.estimate.ns * one.count)
    return RooflineView(
        target=target.title,
        points=tuple(axes.point(one) for one in drawn),
        roofs=axes.roofs(),
        across=axes.across(),
        up=axes.up(),
        rows=tuple(map(_row, rows[:_MOST_ROWS])),
        more=max(len(rows) - _MOST_ROWS, 0),
        description=f"Estimated FLOP rate of {len(drawn)} kernels by FLOPs for each byte, under the peaks of {target.title}",
    )


def _alike(capture: Capture, side: str) -> list[_Alike]:
    counts: dict[tuple[str, Estimate], list[Kernel]] = {}
    for kernel in capture.kernels:
        if kernel.estimate is not None:
            counts.setdefault((kernel.name, kernel.estimate), []).append(kernel)
    return [
        _Alike(side, capture.label, kernels[0], estimate, len(kernels))
        for (_, estimate), kernels in counts.items()
    ]


def _row(one: _Alike) -> RoofRow:
    estimate = one.estimate
    moved = estimate.bytes_read + estimate.bytes_written
    return RoofRow(
        side=one.label,
        name=clipped(one.kernel.name, _NAME),
        count=f"{one.count:,}",
        intensity=ratio_text(one.intensity) if one.intensity else "-",
        rate=_rate_text(one.rate) if one.rate else "-",
        work=f"{flops_text(estimate.flops)}, {size_text(moved)}",
        time=duration_text(estimate.ns),
        bound=estimate.bound,
    )


def _rate_text(gflops: float) -> str:
    return f"{flops_text(int(gflops * 1e9))}/s"


class _Axes:
    """Logarithmic axes that hold all points and the ridge of the roofs."""

    def __init__(self, drawn: Sequence[_Alike], target: Target) -> None:
        self.target = target
        # Those of tensor cores and plain ones; equal peaks are one roof.
        peaks: dict[float, list[str]] = {}
        for dtype, tflops in target.peak_tflops.items():
            peaks.setdefault(tflops * 1_000, []).append(dtype)
        self.peaks = peaks
        self.slope = target.memory_gb_per_s
        ridge = max(peaks) / self.slope
        intensities = [one.intensity for one in drawn]
        rates = [one.rate for one in drawn]
        self.x_low = math.floor(math.log10(min([0.1, *intensities])))
        self.x_high = math.ceil(math.log10(max([ridge * 2, *intensities])))
        self.y_low = math.floor(math.log10(min([self.slope, *rates])))
        self.y_high = math.ceil(math.log10(max(peaks)))

    def x(self, intensity: float) -> float:
        """Return the place of an intensity."""
        share = (math.log10(intensity) - self.x_low) / (self.x_high - self.x_low)
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    def y(self, rate: float) -> float:
        """Return the place of a rate in GFLOP/s."""
        share = (math.log10(rate) - self.y_low) / (self.y_high - self.y_low)
        return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)

    def point(self, one: _Alike) -> Point:
        """Return a kernel's point."""
        words = f"{clipped(one.kernel.name, _NAME)}, {one.label}: {_rate_text(one.rate)}, {one.estimate.bound}-bound"
        return Point(
            f"{self.x(one.intensity):.1f}",
            f"{self.y(one.rate):.1f}",
            one.side,
            f"{words}, {one.count} alike" if one.count > 1 else words,
        )

    def roofs(self) -> tuple[Roof, ...]:
        """Return a roof for each peak rate."""
        low = max(10**self.x_low, 10**self.y_low / self.slope)
        start = f"{self.x(low):.1f},{self.y(low * self.slope):.1f}"
        return tuple(
            Roof(
                f"{start} {self.x(peak / self.slope):.1f},{self.y(peak):.1f} {WIDTH - _RIGHT},{self.y(peak):.1f}",
                f"{', '.join(dtypes)} {_rate_text(peak)}",
                f"{self.y(peak) - 4:.1f}",
            )
            for peak, dtypes in self.peaks.items()
        )

    def across(self) -> tuple[Mark, ...]:
        """Return marks at powers of ten of FLOPs for each byte."""
        powers = range(self.x_low, self.x_high + 1)
        return tuple(Mark(f"{self.x(10.0**power):.1f}", f"{10.0**power:g}") for power in powers)

    def up(self) -> tuple[Mark, ...]:
        """Return marks at powers of ten of the rate."""
        powers = range(self.y_low, self.y_high + 1)
        return tuple(
            Mark(f"{self.y(10.0**power):.1f}", _rate_text(10.0**power)) for power in powers
        )
