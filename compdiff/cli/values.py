"""Values written on the command line. In: text. Out: int, float, bool, None, or the text."""

from typing import TypeAlias

Value: TypeAlias = int | float | str | bool | None

_WORDS: dict[str, Value] = {"true": True, "false": False, "none": None}


def parse_value(text: str) -> Value:
    """Return what `text` spells: a number, `true`, `false` or `none` in any case, else the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return _number(text)


def _number(text: str) -> Value:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
