"""Values written on the command line. In: text. Out: int, float, bool, None, or the text itself."""

import ast

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


def parse_value(text: str) -> int | float | str | bool | None:
    """Return the Python literal that `text` spells (`true`, `false`, `none` in any case), else the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, (int, float, str)) else text
