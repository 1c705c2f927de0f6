"""Scores alignment without provenance. Run: python benchmarks/alignment_quality.py [RUN_FILE...].

Each run is aligned twice: by what the compiler said, which counts as right, and once more with all of that hidden, by
sequence and names, from what an imported trace holds: no overloads, outputs, contents or storages either. Compared are the
pairs of a left op call and a right item that does its work.
Without arguments the golden runs are taken. Exit code 1 when precision or recall over all is below 0.95.
"""

import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
LEAST = 0.95


def pairs(run) -> set[tuple[str, str]]:  # noqa: ANN001 - compdiff is imported late
    """Return which op calls each right item does, by its origin."""
    from compdiff.analysis import analyse

    return {(op, item) for item, origin in analyse(run).origins.items() for op in origin.op_calls}


def hidden(run):  # noqa: ANN001, ANN201 - as above
    """Return the run with no more than an imported trace of each side would tell."""
    return msgspec.structs.replace(run, left=as_traced(run.left), right=as_traced(run.right))


def as_traced(side):  # noqa: ANN001, ANN201 - as above
    """Return a side without a compiler's account, and its op calls with the names and inputs that a trace holds."""
    replace = msgspec.structs.replace
    calls = (
        replace(
            call,
            overload="",
            inputs=tuple(replace(meta, value=-1, storage=-1) for meta in call.inputs),
            outputs=(),
            mutates=call.name.endswith("_"),
            graph=None,
            call=None,
        )
        for call in side.op_calls
    )
    return replace(
        side,
        basis="imported",
        compiler=None,
        output_values=(),
        op_calls=tuple(calls),
        kernels=tuple(replace(kernel, graph=None, call=None) for kernel in side.kernels),
    )


def main(paths: list[Path]) -> int:
    """Print a line for each run, and the total."""
    from compdiff.store import read_run

    total, right, found = 0, 0, 0
    print("| run | pairs | found | right | precision | recall |\n|---|--:|--:|--:|--:|--:|")
    for path in paths:
        run = read_run(path)
        known, guessed = pairs(run), pairs(hidden(run))
        both = len(known & guessed)
        total, found, right = total + len(known), found + len(guessed), right + both
        name = f"{path.parent.name}/{path.name.partition('.')[0]}"
        print(line(name, len(known), len(guessed), both))
    print(line("all", total, found, right))
    return int(right < LEAST * found or right < LEAST * total)


def line(name: str, known: int, found: int, right: int) -> str:
    """Return one row of the table."""
    precision, recall = (right / whole if whole else 1.0 for whole in (found, known))
    return f"| {name} | {known} | {found} | {right} | {precision:.3f} | {recall:.3f} |"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    golden = sorted((ROOT / "tests" / "golden").glob("*/*.run.json.gz"))
    sys.exit(main([Path(text) for text in sys.argv[1:]] or golden))
