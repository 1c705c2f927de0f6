"""The language of `-k`: `and`, `or`, `not`, parentheses, substrings. In: text. Out: Expression.

The grammar, loosest first: either = both { "or" both }; both = one { "and" one };
one = "not" one | "(" either ")" | word.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compdiff.errors import CaseError

_TOKEN = re.compile(r"[()]|[^\s()]+")
_KEYWORDS = frozenset({"and", "or", "not", "(", ")"})


@dataclass(frozen=True, slots=True)
class Expression:
    """`word` tests for `text`; `not`, `and`, `or` combine `parts`."""

    kind: str
    text: str = ""
    parts: "tuple[Expression, ...]" = ()


def parse(text: str) -> Expression:
    """Return the expression that a text spells.

    Raises:
        CaseError: the text is no expression.
    """
    parser = _Parser(text, _TOKEN.findall(text))
    expression = parser.either()
    if parser.peek():
        raise parser.error(f"unexpected {parser.peek()!r}")
    return expression


def matches(expression: Expression, name: str) -> bool:
    """Whether a name fits an expression; case is ignored."""
    if expression.kind == "word":
        return expression.text.lower() in name.lower()
    results = [matches(part, name) for part in expression.parts]
    if expression.kind == "not":
        return not results[0]
    return all(results) if expression.kind == "and" else any(results)


class _Parser:
    """Recursive descent over tokens; `peek` is empty at the end."""

    def __init__(self, text: str, tokens: Sequence[str]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0

    def peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def error(self, reason: str) -> CaseError:
        return CaseError(
            f"-k {self._text!r}: {reason}", 'Write it as -k "linear and not (softmax or size64)".'
        )

    def either(self) -> Expression:
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Expression("or", parts=tuple(parts))

    def _both(self) -> Expression:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Expression("and", parts=tuple(parts))

    def _one(self) -> Expression:
        if self._take("not"):
            return Expression("not", parts=(self._one(),))
        if self._take("("):
            inner = self.either()
            if not self._take(")"):
                raise self.error("a parenthesis is not closed")
            return inner
        return self._word()

    def _word(self) -> Expression:
        word = self.peek()
        if not word or word in _KEYWORDS:
            raise self.error(f"a name is missing before {word!r}" if word else "it ends early")
        self._at += 1
        return Expression("word", text=word)

    def _take(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self._at += 1
        return True
