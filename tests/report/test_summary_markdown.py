"""summary.md as a Markdown parser and GitHub read it: whatever a file, an op or a message is called, it stays text."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from compdiff.analysis import analyse
from compdiff.model import FateKind, Finding, Rewrite, Run
from compdiff.report.summary import LIMIT_BYTES, escape, render_summary
from compdiff.report.view import make_page
from tests.builders import capture, diff, op, rewrite, run
from tests.report.examples import EXAMPLES, Example
from tests.variants import golden

# Our own tags; anything else that a parser takes for HTML came from outside.
_OWN_HTML = re.compile(
    r"<details( open)?><summary>[A-Z][a-z ]+ \([\d,]+\)</summary>\n?|</details>\n?|</?code>|<!-- -->"
)
_OWN_TOKENS = {
    *("blockquote", "bullet_list", "code_inline", "heading", "html_block", "html_inline", "inline", "list_item"),
    *("paragraph", "softbreak", "strong", "table", "tbody", "td", "text", "th", "thead", "tr"),
}  # fmt: skip
# What GitHub makes links of once all is rendered, in the text between two tags.
_LINKED = re.compile(r"@\w|#\d|://|(?i:\bwww\.|\bgh-\d)")
# Texts that choose how a run is read; all others may hold anything that the user, torch or a file says.
_CHOSEN = {
    *("backend", "basis", "certainty", "direction", "dtype", "fate", "form", "id", "kind", "op", "phase", "rewrite"),
    *("schema", "side", "stage", "verdict", "what"),
}  # fmt: skip
_NASTY = (
    "@someone", "@org/team", "#1", "org/repo#12", "GH-12", "http://example.org", "www.example.org", "a@example.org",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</details>", "</code>", "<!-- ", "-->", "<https://example.org>",
    "[a](http://example.org)", "![a](http://example.org/x.png)", "[a]: http://example.org", "[^1]", "`", "``", "```", "~~~",
    "|", "\\|", "\\", "*a*", "**", "__a__", "_", "~~a~~", "$x$", "&lt;b&gt;", "&#64;someone", "&", "1. a", "1) a", "- a",
    "+ a", "* a", "===", "---", "# a", "> a", "\t", "\n", "\r\n", "\n\n    a", "\u2028", "\x00", "\x1b[31m", "\u202e",
    "\ud800", ":tada:", "- [ ] a", "::", "a_b", "||",
)  # fmt: skip

nasty = st.lists(st.sampled_from(_NASTY) | st.text(max_size=6), min_size=1, max_size=4).map("".join)


def parsed(text: str) -> list[Token]:
    """Return the tokens of a Markdown text, block and inline, as GitHub's dialect has them."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return [token for block in blocks for token in (block, *(block.children or ()))]


def texts(tokens: list[Token]) -> Iterator[str]:
    """Yield the texts that stand between tags, outside code."""
    found, in_code = "", False
    for token in tokens:
        if token.type == "text" and not in_code:
            found += token.content
            continue
        yield found
        found = ""
        in_code = token.content == "<code>" or (in_code and token.content != "</code>")
    yield found


def shown(text: str) -> str:
    """Return what a reader of a Markdown text sees."""
    return unescape(re.sub(r"<[^>]*>", "", MarkdownIt("commonmark").enable("table").render(text)))


def spoiled(value: Any, spoil: Callable[[str], str], key: str = "") -> Any:  # noqa: ANN401 - plain data of any shape
    """Return plain data with every free text spoiled, keys of dicts and what is chosen from a list left as they are."""
    if isinstance(value, str):
        return value if key in _CHOSEN or not value else spoil(value)
    if isinstance(value, dict):
        return {name: spoiled(part, spoil, name) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [spoiled(part, spoil, key) for part in value]
    return value


def with_names(example: Example, spoil: Callable[[str], str]) -> Example:
    """Return the example with every name, place, message and label spoiled; ids stay."""
    plain = msgspec.to_builtins(example.run)
    rewrites = [_spoiled_free(item, spoil) for item in example.diff.rewrites]
    findings = [_spoiled_free(item, spoil) for item in example.diff.findings]
    concluded = msgspec.structs.replace(
        example.diff,
        left_label=spoil(example.diff.left_label),
        rewrites=tuple(msgspec.convert(item, Rewrite) for item in rewrites),
        findings=tuple(msgspec.convert(item, Finding) for item in findings),
    )
    return Example(msgspec.convert(spoiled(plain, spoil), Run), concluded)


_IDS = frozenset({"left", "right", "shared", "op_calls", "recomputed", "items", "rule"})


def _spoiled_free(record: Rewrite | Finding, spoil: Callable[[str], str]) -> dict[str, object]:
    """Return a record as plain data, its free texts spoiled and the ids in it kept."""
    plain = msgspec.to_builtins(record)
    return {key: part if key in _IDS else spoiled(part, spoil, key) for key, part in plain.items()}


def check(text: str) -> None:
    """Check that nothing but our own tags, tables and lists arises from a summary, and no link from its text."""
    tokens = parsed(text)
    kinds = {re.sub(r"_(open|close)$", "", token.type) for token in tokens}
    assert kinds <= _OWN_TOKENS, kinds - _OWN_TOKENS
    html = "".join(token.content for token in tokens if token.type.startswith("html_"))
    assert _OWN_HTML.sub("", html).strip() == "", html
    assert sum(token.type == "heading_open" for token in tokens) == 1
    linked = [found[0] for part in texts(tokens) if (found := _LINKED.search(part))]
    assert linked == []


@pytest.mark.parametrize("make", EXAMPLES)
@pytest.mark.parametrize("case", ["linear", "mlp_geglu", "graph_break"])
def test_plain_summaries_are_our_own(make: Callable[[], Example], case: str) -> None:
    """What is checked of hostile names holds for ordinary ones."""
    check(render_summary(make_page(*make()), "report.html"))
    measured = golden(case)
    check(render_summary(make_page(measured, analyse(measured)), "report.html"))


@given(nasty, st.sampled_from(EXAMPLES), nasty)
@settings(max_examples=60, deadline=None)
def test_hostile_names_stay_text(name: str, make: Callable[[], Example], failure: str) -> None:
    """With every text of a run and its diff hostile, no tag, link, image, list or heading arises."""
    example = with_names(make(), lambda text: f"{name}{text}{name}")
    check(render_summary(make_page(*example, (failure,)), "report.html"))


@given(nasty)
@settings(max_examples=300, deadline=None)
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    """A reader sees the characters that came in, white space as one blank and what cannot be printed spelled out."""
    line = " ".join(text.split())
    spelled = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in line
    )
    assert shown(escape(text)).strip() == spelled
    check(f"### x\n\n- {escape(text)}\n\n{escape(text)}\n\n| a |\n|---|\n| {escape(text)} |\n")


def test_ten_thousand_op_calls_stay_a_comment() -> None:
    """With a rewrite of its own for each hostile op call, it stays below the limit and is still well formed."""
    square = (64, 64)
    calls = tuple(
        op(number, f"aten::<b>@op{number}|`{'x' * 60}", (square,), square)
        for number in range(10_000)
    )
    rewrites = tuple(
        rewrite(number, f"rule-{number}", (f"e{number}",), ("c0",)) for number in range(10_000)
    )
    right = capture("compiled", (op(0, "aten::all", (square,), square),))
    fates: dict[str, tuple[FateKind, str]] = {
        f"e{number}": ("rewritten", f"r{number}") for number in range(10_000)
    }
    concluded = diff(fates, {"c0": tuple(fates)}, rewrites)
    text = render_summary(make_page(run(capture("eager", calls), right), concluded), "report.html")
    assert len(text.encode()) < LIMIT_BYTES
    assert re.search(r"\n[\d,]+ more in the report\.\n", text)
    check(text)
