"""Plans models that nobody here wrote: all that transformers and timm make from a configuration. See docs/coverage.md.

Run: python benchmarks/corpus.py RESULTS.jsonl [--library timm] [--only bert] [--limit 20] [--target h200] [--jobs 2]
and then: python benchmarks/corpus.py RESULTS.jsonl --table > docs/coverage.md

Each model is a process of its own with few layers, random weights and no download (`corpus_model.py`). It leaves one line
in RESULTS; what stands there is not run again. Exit code 1 when less than 99.5 % of the op calls and kernels are explained.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

MODEL = Path(__file__).parent / "corpus_model.py"
LIBRARIES = ("timm", "transformers")
LEAST_EXPLAINED = 0.995
TIMEOUT_S = 300
TOOL_ERROR = 2
# The smallest model of an architecture is named so, the smallest first.
SMALL = (
    "atto",
    "femto",
    "pico",
    "nano",
    "xxs",
    "xxt",
    "zepto",
    "tiny",
    "xs",
    "_t_",
    "small",
    "_s_",
)
# What a run that ended early says, and whose failure it is.
CAUSES = (
    ("ended after", "timeout"),
    ("cannot be planned", "a plan cannot answer it"),
    ("internal error", "compdiff"),
)


def main() -> int:
    """Run the models that RESULTS does not hold, or print its table."""
    asked = _arguments()
    results = Path(asked.results)
    if asked.table:
        print(table(rows(results)))
        return 0
    done = {(row["library"], row["name"]) for row in rows(results)}
    waiting = [model for model in models(asked) if model not in done][: asked.limit]
    with ThreadPoolExecutor(asked.jobs) as pool, results.open("a", encoding="utf-8") as file:
        for row in pool.map(lambda model: measured(*model, asked.target), waiting):
            file.write(json.dumps(row, sort_keys=True) + "\n")
            file.flush()
            print(line(row), flush=True)
    share = explained_share(list(rows(results)))
    print(f"explained: {share:.2%} of op calls and kernels")
    return 0 if share >= LEAST_EXPLAINED else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results")
    parser.add_argument("--library", choices=LIBRARIES)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--target", default="h200")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    return parser.parse_args()


def models(asked: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield (library, name) of the models asked for, in the order of their names."""
    for library in LIBRARIES:
        if asked.library in {None, library}:
            names = timm_names() if library == "timm" else transformers_names()
            yield from ((library, name) for name in names if asked.only in name)


def timm_names() -> list[str]:
    """Return one model of each architecture of timm: the first that is called small, else the shortest name."""
    import timm

    chosen = []
    for module in timm.list_modules():
        names = timm.list_models(module=module)
        chosen += [min(names, key=_size)] if names else []
    return sorted(chosen)


def _size(name: str) -> tuple[int, int, str]:
    place = next((index for index, word in enumerate(SMALL) if word in f"{name}_"), len(SMALL))
    return place, len(name), name


def transformers_names() -> list[str]:
    """Return the model types that transformers has a base model for."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return sorted(MODEL_MAPPING_NAMES)


def measured(library: str, name: str, target: str) -> dict[str, Any]:
    """Return what came of planning one model."""
    row: dict[str, Any] = {"library": library, "name": name, "target": target}
    with tempfile.TemporaryDirectory() as folder:
        parameters = ["--param", f"library={library}", "--param", f"name={name}"]
        command = [sys.executable, "-m", "compdiff", "run", str(MODEL), *parameters]
        command += ["--target", target, "--out", folder, "--timeout", str(TIMEOUT_S)]
        start = perf_counter()
        ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        row |= {"exit": ended.returncode, "seconds": round(perf_counter() - start, 1)}
        document = Path(folder, MODEL.stem, "diff.json")
        if document.exists():
            row |= counts(json.loads(document.read_text(encoding="utf-8")))
        if ended.returncode == TOOL_ERROR:
            row |= failure(ended.stderr)
    return row


def counts(document: dict[str, Any]) -> dict[str, int]:
    """Return how much there was to explain, and what is not."""
    left, right, unexplained = document["left"], document["right"], document["unexplained"]
    return {
        "op_calls": left["op_calls"] + right["op_calls"],
        "kernels": right["kernels"],
        "unexplained_op_calls": unexplained["op_calls"],
        "unexplained_kernels": unexplained["kernels"],
    }


def failure(stderr: str) -> dict[str, str]:
    """Return the message of a run that failed, and whose failure it is."""
    message = next((text for text in stderr.splitlines() if text.startswith("Error: ")), "")
    raised = [text for text in stderr.splitlines() if text and not text.startswith((" ", "Hint"))]
    last = next(
        (text for text in raised if "Error" in text.partition(":")[0] and text != message), ""
    )
    cause = next((cause for words, cause in CAUSES if words in message), "the model or torch")
    return {"cause": cause, "message": f"{message.removeprefix('Error: ')} {last}".strip()[:300]}


def rows(results: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a results file."""
    if results.exists():
        yield from map(json.loads, results.read_text(encoding="utf-8").splitlines())


def line(row: dict[str, Any]) -> str:
    """Return one line for a terminal."""
    what = f"{row['library']}/{row['name']} {row['seconds']} s"
    if "cause" in row:
        return f"{what} FAILED ({row['cause']}): {row['message']}"
    unexplained = row["unexplained_op_calls"] + row["unexplained_kernels"]
    return f"{what} {row['op_calls']} op calls, {row['kernels']} kernels, {unexplained} unexplained"


def explained_share(found: list[dict[str, Any]]) -> float:
    """Return the share of op calls and kernels that are explained, of the models that could be planned."""
    planned = [row for row in found if "cause" not in row]
    total = sum(row["op_calls"] + row["kernels"] for row in planned)
    left = sum(row["unexplained_op_calls"] + row["unexplained_kernels"] for row in planned)
    return 1 - left / total if total else 1.0


def table(found: Iterator[dict[str, Any]]) -> str:
    """Return docs/coverage.md."""
    ordered = sorted(found, key=lambda row: (row["library"], row["name"]))
    planned = [row for row in ordered if "cause" not in row]
    failed = [row for row in ordered if "cause" in row]
    causes = Counter(row["cause"] for row in failed).most_common()
    parts = [
        *_heading(ordered, planned),
        "| model | op calls | kernels | unexplained | seconds |",
        "|---|--:|--:|--:|--:|",
        *map(_row, planned),
        "",
        "## Not planned",
        "",
        *(f"- {count} x {cause}" for cause, count in causes),
        "",
        "| model | whose | message |",
        "|---|---|---|",
        *map(_failed_row, failed),
    ]
    return "\n".join(parts)


def _heading(found: list[dict[str, Any]], planned: list[dict[str, Any]]) -> list[str]:
    """Return the lines above the table."""
    target = ", ".join(sorted({row["target"] for row in found}))
    libraries = ", ".join(f"{name} {version(name)}" for name in ("torch", *LIBRARIES))
    op_calls, kernels = (sum(row[what] for row in planned) for what in ("op_calls", "kernels"))
    return [
        "# Coverage",
        "",
        f"Models that nobody here wrote, planned for {target}: {libraries}, {datetime.now(UTC):%Y-%m-%d}.",
        "Made by `python benchmarks/corpus.py`: few layers, random weights, nothing downloaded. Op calls are those of both",
        "sides, kernels those of the compiled one.",
        "",
        f"{len(planned)} of {len(found)} models were planned; of {op_calls:,} op calls and {kernels:,} kernels",
        f"{explained_share(planned):.2%} are explained.",
        "",
    ]


def _row(row: dict[str, Any]) -> str:
    unexplained = row["unexplained_op_calls"] + row["unexplained_kernels"]
    cells = (
        f"{row['library']}/{row['name']}",
        row["op_calls"],
        row["kernels"],
        unexplained,
        row["seconds"],
    )
    return f"| {' | '.join(map(str, cells))} |"


def _failed_row(row: dict[str, Any]) -> str:
    return f"| {row['library']}/{row['name']} | {row['cause']} | {_cell(row['message'])} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


if __name__ == "__main__":
    sys.exit(main())
