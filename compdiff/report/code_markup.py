"""Pieces of code as HTML. In: Code. Out: highlighted code; of what is long its start, and all of it packed for the script.

A graph of ten thousand nodes has megabytes of code, of which a reader looks at a screen.
"""

import base64
import zlib

from compdiff.report.highlight import highlight
from compdiff.report.markup import text
from compdiff.report.quantities import count_text
from compdiff.report.stages import Code

_LONGEST, _START = 48_000, 12_000


def code_block(piece: Code) -> str:
    """Return a piece of code in a `pre`; one that is too long ends in a line that says so."""
    shown = start_of(piece.text)
    rest = piece.text[len(shown) :]
    packed = f' data-packed="{pack(piece.text)}"' if rest else ""
    label = text(f"{piece.title} ({piece.anchor})")
    code = highlight(shown, piece.language)
    return (
        f'<pre class="scroll" role="region" tabindex="0" aria-label="{label}"{packed}>'
        f"<code>{code}</code></pre>\n{_cut(rest)}"
    )


def start_of(code: str) -> str:
    """Return the first lines of code that is too long to show, all of what is not."""
    return code if len(code) <= _LONGEST else code[: code.rfind("\n", 0, _START) + 1 or _START]


def pack(code: str) -> str:
    """Return a text as raw deflate in base64."""
    packer = zlib.compressobj(level=6, wbits=-zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(code.encode()) + packer.flush()).decode()


def _cut(rest: str) -> str:
    if not rest:
        return ""
    lines = count_text(rest.strip("\n").count("\n") + 1, "more line")
    return f'<p class="cut muted">{lines}, shown by the script of this page; the run file holds them too.</p>\n'
