"""Two sides of two runs as one run to report. In: two runs, a side of each. Out: a Run; what else differs are warnings."""

from collections.abc import Iterator

import msgspec

from compdiff.errors import CompdiffError
from compdiff.model import Capture, CaptureWarning, Run, Side


def combined(a: Run, a_side: Side, b: Run, b_side: Side) -> Run:
    """Return a run of A's side, left, and B's side, right, without times and numerics, which compare sides of one run.

    Raises:
        CompdiffError: a side has neither op calls nor kernels.
    """
    left, right = capture_of(a, a_side), capture_of(b, b_side)
    for letter, run, side, capture in (("A", a, a_side, left), ("B", b, b_side, right)):
        if not capture.op_calls and not capture.kernels:
            message = (
                f"{letter}, {run.case.name}:{side}: a side without op calls cannot be compared"
            )
            raise CompdiffError(message, _hint(run))
    shown = [f"{a.case.name}-{a_side}", f"{b.case.name}-{b_side}"]
    if a_side == b_side == "right":
        shown = [a.case.name, b.case.name]
    return msgspec.structs.replace(
        b,
        case=msgspec.structs.replace(b.case, name="-against-".join(shown)),
        left=_labelled(left, "A", a, b),
        right=_labelled(right, "B", b, a),
        timing=None,
        numerics=None,
        expectation=None,
        audits=(),
        warnings=tuple(_differences(a, b)),
        failure=a.failure or b.failure,
    )


def capture_of(run: Run, side: Side) -> Capture:
    """Return one side of a run."""
    return run.left if side == "left" else run.right


def _hint(run: Run) -> str:
    if run.failure is None:
        return "Nothing was captured there; measure it again, or compare the other side."
    reason = run.failure.message.partition("\n")[0]
    return f"That run ended in {run.failure.stage}: {reason}"


def _labelled(capture: Capture, letter: str, run: Run, other: Run) -> Capture:
    """Return the capture with a label that tells it from the other one: `B: compiled, torch 2.14.1`."""
    version = run.environment.torch
    parts = [
        f"{run.case.name} {capture.label}" if run.case.name != other.case.name else capture.label,
        f"torch {version}" if version != other.environment.torch else "",
    ]
    return msgspec.structs.replace(
        capture, label=f"{letter}: {', '.join(part for part in parts if part)}"
    )


def _differences(a: Run, b: Run) -> list[CaptureWarning]:
    """Return one warning for each difference in environment, options, parameters and case."""
    asdict = msgspec.structs.asdict
    parts = (
        ("environment", asdict(a.environment), asdict(b.environment)),
        ("options", asdict(a.options), asdict(b.options)),
        ("parameters", _parameters(a), _parameters(b)),
    )
    found = []
    for part, before, after in parts:
        for path, *values in _changed(before, after):
            text = f"{part}: {path}: {_shown(values[0])} -> {_shown(values[1])}"
            found.append(CaptureWarning(id=f"{part}-differs", text=text))
    if a.case.source != b.case.source:
        found.append(CaptureWarning(id="case-differs", text="case: the files are not the same"))
    return sorted(found, key=lambda warning: warning.text)


def _changed(
    before: dict[str, object], after: dict[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Yield the path, and both values, of each difference; what one side lacks is ""."""
    changed = [
        key for key in sorted({*before, *after}) if before.get(key, "") != after.get(key, "")
    ]
    values = [one.get(key, "") for one in (before, after) for key in changed]
    if not any(isinstance(value, dict | list | tuple) for value in values):
        yield from ((key, before.get(key, ""), after.get(key, "")) for key in changed)
        return
    # Slow to load: only where values hold others.
    from deepdiff import DeepDiff  # noqa: PLC0415

    # Without the threshold, dicts with few common keys would be one difference, shown whole.
    tree = DeepDiff(before, after, view="tree", threshold_to_diff_deeper=0)
    for items in tree.values():
        for item in items:
            yield ".".join(str(key) for key in item.path(output_format="list")), item.t1, item.t2


def _parameters(run: Run) -> dict[str, object]:
    case = run.case
    return {**case.params, "dtype": case.dtype, "backward": case.backward}


def _shown(value: object) -> str:
    text = str(value)
    return "absent" if text in {"", "not present"} else text
