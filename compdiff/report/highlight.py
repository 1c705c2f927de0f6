"""Highlights code. In: text and language. Out: HTML, the text escaped, its tokens with pygments' short classes.

The colours stand in templates/report.css, for light and dark.
"""

from functools import lru_cache

from markupsafe import Markup
from pygments import highlight as _highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import CppLexer, PythonLexer  # type: ignore[import-untyped]

from compdiff.report.stages import Language

_LEXERS = {"python": PythonLexer, "cpp": CppLexer}


@lru_cache(maxsize=256)
def highlight(text: str, language: Language) -> Markup:
    """Return the highlighted text. Repeated layers generate equal code, so results are kept."""
    return Markup(_highlight(text, _LEXERS[language](), HtmlFormatter(nowrap=True)))  # noqa: S704 (escaped there)
