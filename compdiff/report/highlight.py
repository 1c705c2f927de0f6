"""Highlights code. In: text and language. Out: HTML, the text escaped, its tokens with pygments' short classes.

The colours stand in templates/report.css, for light and dark.
"""

from functools import lru_cache

from markupsafe import Markup

from compdiff.report.stages import Language


@lru_cache(maxsize=256)
def highlight(text: str, language: Language) -> Markup:
    """Return the highlighted text. Repeated layers generate equal code, so results are kept."""
    # Loaded here: an import of traces has no code to show.
    from pygments import highlight as highlighted  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]  # noqa: PLC0415
    from pygments.lexers import CppLexer, PythonLexer  # type: ignore[import-untyped]  # noqa: PLC0415

    lexer = {"python": PythonLexer, "cpp": CppLexer}[language]()
    return Markup(highlighted(text, lexer, HtmlFormatter(nowrap=True)))  # noqa: S704 (escaped there)
