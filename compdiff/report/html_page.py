"""report.html, one file without network access. In: Page. Out: HTML text. jinja2 is needed only here.

Templates loop, branch and include; they compute nothing. Style and script are inlined, and the content policy names
their hashes, so nothing else can run or load.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import compdiff
from compdiff.report.alignment_markup import alignment_rows
from compdiff.report.code_markup import code_block
from compdiff.report.explanations import explanations
from compdiff.report.folding_markup import fold_data, led_home
from compdiff.report.highlight import highlight
from compdiff.report.lane_markup import lane_bars, shape
from compdiff.report.markup import again, badge, bar, ref, refs, source
from compdiff.report.search_words import search_words
from compdiff.report.strip_markup import strip_shapes
from compdiff.report.table_markup import kernel_rows, op_rows
from compdiff.report.view import Page

# What templates call for HTML; all of it escapes every text.
_WRITERS: tuple[Callable[..., str], ...] = (
    again,
    alignment_rows,
    badge,
    bar,
    code_block,
    fold_data,
    kernel_rows,
    lane_bars,
    op_rows,
    ref,
    refs,
    shape,
    source,
    strip_shapes,
)


def render_page(page: Page) -> str:
    """Return the report as HTML."""
    return led_home(render("report.html", page=page), page.folding.anchors)


def render(template: str, **values: object) -> str:
    """Return a template rendered with the shared style and script."""
    environment = _environment()
    style, script = (_asset(name) for name in ("report.css", "report.js"))
    return environment.get_template(template).render(
        style=Markup(style),  # noqa: S704 (our own file)
        script=Markup(script),  # noqa: S704 (our own file)
        policy=content_policy(style, script),
        **values,
    )


def content_policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows this style and this script, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def template_folder() -> Path:
    """Return where the templates are: in the installed package, or beside it in a checkout."""
    package = Path(compdiff.__file__).parent
    installed = package / "templates"
    return installed if installed.is_dir() else package.parent / "templates"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(template_folder()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["highlight"] = highlight
    environment.globals.update({write.__name__: _marked_up(write) for write in _WRITERS})
    environment.globals["search_words"] = search_words
    environment.globals["explanations"] = explanations
    return environment


def _marked_up(write: Callable[..., str]) -> Callable[..., Markup]:
    """Return what writes HTML so that jinja2 does not escape it once more."""
    return lambda *values: Markup(write(*values))  # noqa: S704 (escaped there)


@lru_cache(maxsize=8)
def _asset(name: str) -> str:
    return (template_folder() / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
