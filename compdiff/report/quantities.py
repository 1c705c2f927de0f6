"""Texts of numbers. In: integers and floats with their unit. Out: the one text that every output shows for them."""

import math
import sys

from compdiff.model import Option

# What stands where a number is not known.
UNKNOWN = "-"
_DURATIONS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns"))
_FLOPS = (
    (10**15, "PFLOP"),
    (10**12, "TFLOP"),
    (10**9, "GFLOP"),
    (10**6, "MFLOP"),
    (10**3, "kFLOP"),
    (1, "FLOP"),
)
_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))


def duration_text(ns: float | None) -> str:
    """Return a duration with three significant digits and its unit: `1.23 ms`; a dash for None."""
    return UNKNOWN if ns is None else _scaled(ns, _DURATIONS)


def interval_text(low_ns: int, high_ns: int) -> str:
    """Return an interval of durations: `1.20 to 1.30 ms`, with both units where they differ."""
    low, high = duration_text(low_ns), duration_text(high_ns)
    number, _, unit = low.partition(" ")
    return f"{number if high.endswith(f' {unit}') else low} to {high}"


def size_text(size: int | None) -> str:
    """Return a number of bytes in binary units: `1.50 MiB`; a dash for None."""
    return UNKNOWN if size is None else _scaled(size, _SIZES)


def flops_text(flops: int) -> str:
    """Return a number of floating-point operations: `137 GFLOP`."""
    return _scaled(flops, _FLOPS)


def percent_text(fraction: float) -> str:
    """Return a fraction as a percentage: `12.5 %`, `0.3 %`, `100 %`."""
    percent = fraction * 100
    return f"{percent:.0f} %" if percent in {0, 100} else f"{percent:.1f} %"


def share_text(part: float, whole: float) -> str:
    """Return the share of `part` in `whole` as a percentage; a dash where there is no whole."""
    return percent_text(part / whole) if whole else UNKNOWN


def ratio_text(ratio: float) -> str:
    """Return a ratio to three significant digits: `1.80`, `12.3`, `0.954`, `345`."""
    return _three_digits(ratio)


def error_text(value: float | None) -> str:
    """Return a numerical error to three significant digits: `1.19e-07`; a dash for None.

    The largest float stands for what no number is, as JSON has no infinity.
    """
    if value is None:
        return UNKNOWN
    return "infinite" if value >= sys.float_info.max else f"{value:.3g}"


def count_text(count: int, singular: str, plural: str = "") -> str:
    """Return a counted noun: `1 op call`, `12 op calls`."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def list_text(parts: list[str]) -> str:
    """Return the parts as an English list: `a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def value_text(value: Option) -> str:
    """Return the text of a parameter, an option or a finding's number."""
    if isinstance(value, float) and not isinstance(value, bool):
        return f"{value:.4g}"
    return f"{value:,}" if type(value) is int else str(value)


def _scaled(value: float, units: tuple[tuple[int, str], ...]) -> str:
    size = abs(value)
    for scale, unit in units:
        # Rounded first: 999.96 us are 1.00 ms, not 1000 us. Most values need no rounding to tell.
        if size >= scale or (size > 0.99 * scale and float(f"{size / scale:.3g}") >= 1):
            return f"{_three_digits(value / scale) if scale > 1 else f'{value:.0f}'} {unit}"
    return f"{value:.0f} {units[-1][1]}" if value == int(value) else f"{value:.2g} {units[-1][1]}"


def _three_digits(value: float) -> str:
    # What is surely not rounded up to the next power of ten, which nearly all is: four times as fast.
    if 1 <= value < 9.99:  # noqa: PLR2004
        return f"{value:.2f}"
    if 10 <= value < 99.9:  # noqa: PLR2004
        return f"{value:.1f}"
    if 100 <= value < 999:  # noqa: PLR2004
        return f"{value:.0f}"
    if value == 0 or not math.isfinite(value):
        return f"{value:.3g}"
    rounded = float(f"{value:.3g}")
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{min(decimals, 6)}f}"
