"""Results for machines and reviewers. In: Results. Out: a table as text, Markdown, JUnit XML, SARIF 2.1.0."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as ET

from compdiff import __version__
from compdiff.regression.check import Problem, Result
from compdiff.regression.lock import LOCK_FILE

MARKER = "<!-- compdiff check -->"
"""Stands first in the Markdown, so that a workflow finds its comment and replaces it."""
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# The most that a comment on a pull request may hold is 65,536 characters.
_LONGEST_COMMENT = 60_000
_MOST_LINES = 40
_ALLOWED = "allowed in the settings of compdiff check"
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TITLES = {
    "rewrite-lost": "A rewrite is lost",
    "kernel-gained": "There is a kernel more",
    "graph-break-gained": "Dynamo breaks the graph where it did not",
    "time-slower": "The compiled function is slower",
    "numerics-drifted": "The compiled outputs are less exact",
    "numerics-wrong": "The compiled outputs are wrong",
}


def exit_code(results: Sequence[Result]) -> int:
    """Return 0 where all passed, 1 where one failed, 2 where one could not be judged."""
    return max(({"passed": 0, "failed": 1, "error": 2}[one.status] for one in results), default=0)


def summary(results: Sequence[Result]) -> str:
    """Return how many of each: `3 cases: 2 passed, 1 failed`."""
    counts = {
        kind: sum(one.status == kind for one in results) for kind in ("passed", "failed", "error")
    }
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "none"
    return f"{len(results)} case{'' if len(results) == 1 else 's'}: {parts}"


def table(results: Sequence[Result]) -> str:
    """Return the results as lines of text: a line a case, its problems and the changed lines below."""
    width = max((len(one.case) for one in results), default=0)
    lines = []
    for one in results:
        place = f"on {one.where}" if one.where else ""
        lines.append(f"{one.status:6}  {one.case:{width}}  {place}  {_time_text(one)}".rstrip())
        lines += [f"        {problem.text}" for problem in one.problems]
        lines += [f"        allowed: {problem.text}" for problem in one.allowed]
        lines += [f"        note: {note}" for note in one.notes]
        lines += [f"        {line}" for line in _shortened(one.lines)]
    return "\n".join([*lines, summary(results)])


def _time_text(result: Result) -> str:
    time = result.time
    if time is None or time.ratio is None:
        return ""
    ratio = time.ratio
    return f"time {time.verdict}: {ratio.median:.3f}x ({ratio.low:.3f} to {ratio.high:.3f})"


def _shortened(lines: Sequence[str]) -> list[str]:
    if len(lines) <= _MOST_LINES:
        return list(lines)
    return [*lines[:_MOST_LINES], f"... {len(lines) - _MOST_LINES} more lines"]


# ---------------------------------------------------------------- Markdown


def markdown(results: Sequence[Result]) -> str:
    """Return a comment for a pull request: what failed first, what passed as a count."""
    bad = [one for one in results if one.status != "passed"]
    head = [MARKER, f"### compdiff check: {summary(results)}", ""]
    body = [line for one in bad for line in _details(one)]
    quiet = [one for one in results if one.status == "passed" and (one.notes or one.allowed)]
    body += [
        f"- {_escaped(one.case)}: {_escaped(text)}"
        for one in quiet
        for text in (*one.notes, *(f"allowed: {problem.text}" for problem in one.allowed))
    ]
    text = "\n".join([*head, *body])
    if bad:
        text += (
            '\n\nOn purpose? `compdiff check --update-baseline --why "..."`, and commit the lock.'
        )
    return _cut(text) + "\n"


def _cut(text: str) -> str:
    """Return at most what a comment holds, whole lines of it; an open block of code is closed."""
    if len(text) <= _LONGEST_COMMENT:
        return text
    kept = text[:_LONGEST_COMMENT].rpartition("\n")[0]
    fence = "\n~~~~" if kept.count("\n~~~~") % 2 else ""
    return f"{kept}{fence}\n\nCut here: the whole is in the log of the build."


def _details(result: Result) -> list[str]:
    place = f" on {_escaped(result.where)}" if result.where else ""
    lines = [f"**{_escaped(result.case)}**{place}: {result.status}", ""]
    lines += [f"- {_escaped(problem.text)}" for problem in result.problems]
    lines += [f"- note: {_escaped(note)}" for note in result.notes]
    if result.lines:
        lines += [
            "",
            "~~~~diff",
            *(line.replace("~~~~", "~~~") for line in _shortened(result.lines)),
            "~~~~",
        ]
    return [*lines, ""]


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    flat = " ".join(text.split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#@!])", r"\\\1", flat)


# ---------------------------------------------------------------- JUnit


def junit(results: Sequence[Result]) -> bytes:
    """Return JUnit XML: one test a case, a failure with all of its problems. No clock and no host stand in it."""
    counts = {
        "tests": len(results),
        "failures": sum(one.status == "failed" for one in results),
        "errors": sum(one.status == "error" for one in results),
        "skipped": 0,
    }
    numbers = {name: str(count) for name, count in counts.items()}
    root = ET.Element("testsuites", {"name": "compdiff", **numbers, "time": "0"})
    suite = ET.SubElement(root, "testsuite", {"name": "compdiff check", **numbers, "time": "0"})
    for one in results:
        _test_case(suite, one)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _test_case(suite: ET.Element, result: Result) -> None:
    place = f"compdiff.{result.where or 'unknown'}"
    attributes = {"classname": place, "name": result.case, "time": "0"}
    if result.file:
        attributes |= {"file": result.file, "line": str(_first_line(result.problems))}
    test = ET.SubElement(suite, "testcase", {k: _xml(v) for k, v in attributes.items()})
    if result.status != "passed":
        first = result.problems[0]
        tag = "error" if result.status == "error" else "failure"
        found = ET.SubElement(test, tag, {"message": _xml(first.text), "type": _xml(first.rule)})
        found.text = _xml(
            "\n".join(
                [*(problem.text for problem in result.problems), *result.notes, *result.lines]
            )
        )
    elif result.notes:
        ET.SubElement(test, "system-out").text = _xml("\n".join(result.notes))


def _first_line(problems: Sequence[Problem]) -> int:
    return problems[0].line if problems else 1


def _xml(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


# ---------------------------------------------------------------- SARIF


def sarif(results: Sequence[Result], root: Path) -> bytes:
    """Return SARIF 2.1.0: one result a problem, on the source line of its case; files are named from `root`."""
    rules = sorted({problem.rule for one in results for problem in (*one.problems, *one.allowed)})
    document = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "compdiff",
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"SRCROOT": {"uri": root.resolve().as_uri() + "/"}},
                "invocations": [
                    {"executionSuccessful": not any(one.status == "error" for one in results)}
                ],
                "results": [made for one in results for made in _sarif_results(one, rules, root)],
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=True).encode() + b"\n"


def _rule(rule: str) -> dict[str, object]:
    title = _TITLES.get(rule, rule.replace("-", " ").capitalize())
    return {
        "id": rule,
        "shortDescription": {"text": f"{title}."},
        "help": {"text": "The lock or the baseline says otherwise. See docs/ci.md of compdiff."},
        "defaultConfiguration": {"level": "error"},
    }


def _sarif_results(result: Result, rules: Sequence[str], root: Path) -> Iterator[dict[str, object]]:
    """Yield a result for each problem; one that is allowed is suppressed, as SARIF calls it."""
    for problem in (*result.problems, *result.allowed):
        found: dict[str, object] = {
            "ruleId": problem.rule,
            "ruleIndex": rules.index(problem.rule),
            "level": "error",
            "message": {"text": f"{result.case}: {problem.text}"},
            "locations": [_location(result.file, problem.line, root)],
            # What makes a result the same one in the next run: not its line.
            "partialFingerprints": {
                "compdiff/v1": f"{result.case}/{result.where}/{problem.rule}/{problem.name}"
            },
        }
        if problem in result.allowed:
            found["suppressions"] = [{"kind": "external", "justification": _ALLOWED}]
        yield found


def _location(file: str, line: int, root: Path) -> dict[str, object]:
    path = Path(os.path.relpath(file or LOCK_FILE, root))
    outside = path.is_absolute() or path.parts[:1] == ("..",)
    artifact = (
        {"uri": Path(file).resolve().as_uri()}
        if outside
        else {"uri": quote(path.as_posix()), "uriBaseId": "SRCROOT"}
    )
    return {
        "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(line, 1)}}
    }
