"""JUnit, SARIF and Markdown of results: what their readers demand."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

from compdiff.regression import outputs
from compdiff.regression.check import Problem, Result

HOSTILE = "<script>alert(1)</script> ]]> \x00\x1b[31m | `x` ~~~~ **b** \ud800"
PASSED = Result("a", "cpu", "cases/a.py")
FAILED = Result(
    "b",
    "cpu",
    "cases/b c.py",
    "failed",
    (Problem("rewrite", "lost", "r", HOSTILE, 7), Problem("kernel", "gained", "k", "more", 9)),
    allowed=(Problem("copy", "gained", "c", "a copy", 3),),
    lines=("~~~~", "+ 1 k"),
)
ERROR = Result("c", status="error", problems=(Problem("run", "failed", "c", "it crashed"),))
ALL = [PASSED, FAILED, ERROR]


def test_exit_codes() -> None:
    """0 for passed, 1 for failed, 2 for what could not be judged, the highest of all."""
    assert [outputs.exit_code(some) for some in ([], [PASSED], ALL[:2], ALL)] == [0, 0, 1, 2]


def test_junit_is_what_readers_take() -> None:
    """Counts agree with the test cases, each has a name and class, and failures have message and type."""
    root = ET.fromstring(outputs.junit(ALL))  # noqa: S314 - our own
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    tests = suite.findall("testcase")
    assert [(one.get("classname"), one.get("name")) for one in tests] == [
        ("compdiff.cpu", "a"),
        ("compdiff.cpu", "b"),
        ("compdiff.unknown", "c"),
    ]
    assert [child.tag for one in tests for child in one] == ["failure", "error"]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "rewrite-lost"
    assert "<script>" in (failure.get("message") or "")


def test_sarif_is_valid() -> None:
    """What SARIF 2.1.0 demands is there: version, driver, rules by index, locations with lines from 1, relative URIs."""
    log = json.loads(outputs.sarif(ALL, Path.cwd()))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert driver["name"] == "compdiff"
    assert ids == sorted(set(ids))
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        assert place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
        assert not place["artifactLocation"]["uri"].startswith("/")
    assert run["invocations"] == [{"executionSuccessful": False}]
    uris = [
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]
    ]
    assert uris[0] == "cases/b%20c.py"
    assert [len(one.get("suppressions", ())) for one in run["results"]] == [0, 0, 1, 0]


def test_sarif_of_a_file_elsewhere(tmp_path: Path) -> None:
    """A case outside the folder is named by its whole path."""
    result = Result("b", "cpu", str(tmp_path / "b.py"), "failed", (Problem("a", "b", "c", "d"),))
    log = json.loads(outputs.sarif([result], Path.cwd()))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": (tmp_path / "b.py").as_uri()}


def test_markdown_shows_hostile_text_as_text() -> None:
    """Nothing from outside becomes markup, and no block is closed early."""
    text = outputs.markdown(ALL)
    assert text.startswith(outputs.MARKER)
    assert "<script>" not in text
    assert text.count("\n~~~~") == 2


def test_markdown_fits_a_comment() -> None:
    """A comment is cut at whole lines below GitHub's limit, with its blocks closed."""
    text = outputs.markdown([FAILED] * 5000)
    assert len(text) < 65_536
    assert text.count("\n~~~~") % 2 == 0
    assert "Cut here" in text


def test_table_names_all() -> None:
    """The table has a line a case, its problems below, and the sum."""
    text = outputs.table(ALL)
    assert text.splitlines()[0] == "passed  a  on cpu"
    assert "allowed: a copy" in text
    assert text.splitlines()[-1] == "3 cases: 1 passed, 1 failed, 1 error"
