"""Highlights code. In: text and language. Out: HTML in which the text is escaped and tokens carry pygments' short classes.

The colours stand in templates/report.css, for light and dark.
"""

from functools import lru_cache

from markupsafe import Markup
from pygments import highlight as _highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer, PythonLexer
from pygments.util import ClassNotFound

_LEXERS = {"python": PythonLexer, "cpp": CppLexer}


@lru_cache(maxsize=256)
def highlight(text: str, language: str) -> Markup:
    """Return the highlighted text; `language` is `python` or `cpp`.

    Repeated layers generate equal code, so results are kept.

    Raises:
        ClassNotFound: for any other language.
    """
    if language not in _LEXERS:
        message = f"no lexer for {language}"
        raise ClassNotFound(message)
    lexer = _LEXERS[language](stripnl=True)
    return Markup(_highlight(text, lexer, HtmlFormatter(nowrap=True)))  # noqa: S704 (escaped there)
