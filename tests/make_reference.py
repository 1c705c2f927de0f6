"""Writes docs/reference from the code (`make docs`). In: commands, tables, schemas. Out: Markdown, the same on each machine.

`tests/test_reference.py` sees that the files are current.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click
import msgspec

from compdiff.cli import compdiff
from compdiff.findings.table import FINDINGS
from compdiff.ladder.records import Ladder
from compdiff.model import Run, Target
from compdiff.report.document import Document
from compdiff.rewrites import RULES
from compdiff.rewrites.comparison_rules import COMPARISON_RULES

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
_NOTE = "<!-- Made from the code by `make docs`: edit the code, not this file. -->"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "true or false", type(None): "null"}
_VALUES = {
    "directory": "FOLDER",
    "float": "NUMBER",
    "float range": "NUMBER",
    "integer range": "INTEGER",
}
# What stands in a cell would otherwise be read as Markdown.
_IN_CELL = str.maketrans({"|": "\\|", "<": "&lt;", ">": "&gt;", "*": "\\*"})
_EMPHASIS = re.compile(r"(?<!\w)_|_(?!\w)")


def pages() -> dict[str, str]:
    """Return the text of each file of docs/reference, by its name."""
    return {
        "cli.md": _page("Commands", _cli()),
        "rules.md": _page("Rules", _rules()),
        "findings.md": _page("Findings", _findings()),
        "run.md": _page("run.json.gz", _schema(Run, _RUN)),
        "diff.md": _page("diff.json", _schema(Document, _DIFF)),
        "ladder.md": _page("ladder.json", _schema(Ladder, _LADDER)),
        "target.md": _page("A target", _schema(Target, _TARGET)),
    }


_RUN = (
    "The saved thing: JSON, gzipped, schema `compdiff.run/1`. Fields that have their default value are left out. A file "
    "with a field that is not listed is refused."
)
_DIFF = "The conclusion for scripts: JSON, schema `compdiff.diff/1`. Every field is there, null where nothing is known."
_LADDER = "What `compdiff run --ladder` concludes: JSON. The run of each rung is saved beside it."
_TARGET = "A GPU as data, for `--target FILE.json`. `compdiff targets` lists those that are there."


def _page(title: str, lines: Iterator[str]) -> str:
    return "\n".join([f"# {title}", "", _NOTE, "", *lines]).rstrip() + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table, a line each, and an empty line after it; nothing for no rows."""
    if not rows:
        return []
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(row)} |" for row in lines), ""]


def _cell(text: str) -> str:
    """Return a text for a cell or a paragraph; in code, between backquotes, only a bar would be read."""
    parts = text.replace("\n", " ").split("`")
    return "`".join(
        part.replace("|", "\\|") if index % 2 else _EMPHASIS.sub(r"\\_", part.translate(_IN_CELL))
        for index, part in enumerate(parts)
    )


# ---------------------------------------------------------------- commands


def _cli() -> Iterator[str]:
    """Yield a section for each command, subcommands after their group."""
    yield from (_help(compdiff), "")
    yield from _commands(compdiff, "compdiff")


def _commands(group: click.Group, name: str) -> Iterator[str]:
    context = click.Context(group, info_name=name)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        yield from _command(command, f"{name} {word}")
        if isinstance(command, click.Group):
            yield from _commands(command, f"{name} {word}")


def _command(command: click.Command, name: str) -> Iterator[str]:
    yield from (f"## {name}", "", f"`{_usage(command, name)}`", "", _help(command), "")
    options = [param for param in command.params if isinstance(param, click.Option)]
    yield from _table(("option", "meaning"), [_option(param) for param in options])


def _usage(command: click.Command, name: str) -> str:
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    words = [_argument(param) for param in arguments]
    if isinstance(command, click.Group):
        words.append("COMMAND")
    return " ".join(
        [name, *(["[OPTIONS]"] if len(arguments) < len(command.params) else []), *words]
    )


def _argument(param: click.Argument) -> str:
    word = (param.metavar or param.name or "").upper()
    word = f"{word.rstrip('.')}..." if param.nargs == -1 else word
    return word if param.required else f"[{word}]"


def _option(param: click.Option) -> tuple[str, str]:
    names = ", ".join([*param.opts, *param.secondary_opts])
    value = "" if param.is_flag else f" {_value(param)}"
    default = f" Default: `{param.default}`." if param.show_default is True else ""
    return _cell(f"`{names}{value}`"), _cell(f"{param.help or ''}{default}")


def _value(param: click.Option) -> str:
    if isinstance(param.type, click.Choice):
        return "|".join(map(str, param.type.choices))
    return param.metavar or _VALUES.get(param.type.name, param.type.name.upper())


def _help(command: click.Command) -> str:
    """Return the help of a command as Markdown, its paragraphs on a line each."""
    paragraphs = (command.help or command.short_help or "").strip().split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in paragraphs)


# ---------------------------------------------------------------- tables


def _rules() -> Iterator[str]:
    """Yield the rules of a run in the order in which they are tried, then those between two runs."""
    yield from (
        "`compdiff explain NAME` prints one. The first rule that fits claims an op call.",
        "",
    )
    cases = {path.stem: path.relative_to(ROOT) for path in (ROOT / "cases").rglob("*.py")}
    rows = [
        (
            f"`{rule.name}`",
            rule.fate,
            _cell(rule.why),
            _cell(f"`{rule.source}`"),
            f"[{rule.case}](../../{cases[rule.case]})",
        )
        for rule in RULES
    ]
    head = ("rule", "fate", "why", "where torch does it", "case that shows it")
    yield from _table(head, list(dict.fromkeys(rows)))
    yield from (
        "## Between two runs",
        "",
        "`compdiff diff` names what became of one run's items in the other.",
        "",
    )
    between = [(f"`{rule.name}`", rule.fate, _cell(rule.why)) for rule in COMPARISON_RULES]
    yield from _table(("rule", "fate", "why"), between)


def _findings() -> Iterator[str]:
    """Yield a section for each finding, in the order in which they are shown."""
    yield from (
        "`compdiff explain NAME` prints one. Those marked as timed rest on measured times.",
        "",
    )
    for row in FINDINGS:
        timed = " (timed)" if row.timed else ""
        yield from (f"## {row.id}", "", f"**{_cell(row.title)}**{timed}. {_cell(row.means)}", "")
        yield from (f"Try: {_cell(row.advice)}", "", f"Seen by: {_cell(row.source)}.", "")


# ---------------------------------------------------------------- schemas


def _schema(root: type[msgspec.Struct], about: str) -> Iterator[str]:
    """Yield what a file is, and a section for each of its records, the outermost first."""
    yield from (about, "")
    for record in _records(root):
        yield from (f"## {record.__name__}", "", _docstring(record), "")
        rows = [_field(field) for field in msgspec.structs.fields(record)]
        yield from _table(("field", "type", "default"), rows)


def _docstring(record: type[msgspec.Struct]) -> str:
    paragraphs = (record.__doc__ or "").strip().split("\n\n")
    return "\n\n".join(_cell(" ".join(part.split())) for part in paragraphs)


def _records(root: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """Return a record with all that stand in it, each once, in the order in which they are met."""
    found, waiting = [], [root]
    while waiting:
        record = waiting.pop(0)
        if record not in found:
            found.append(record)
            fields = msgspec.structs.fields(record)
            waiting += [inner for field in fields for inner in _structs(field.type)]
    return found


def _structs(kind: Any) -> Iterator[type[msgspec.Struct]]:  # noqa: ANN401 - any annotation
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for part in get_args(kind):
        yield from _structs(part)


def _field(field: msgspec.structs.FieldInfo) -> tuple[str, str, str]:
    return f"`{field.encode_name}`", _type(field.type), _default(field)


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return _cell(f"`{msgspec.json.encode(value).decode()}`")


def _type(kind: Any) -> str:  # noqa: ANN401 - any annotation
    """Return an annotation in the words of JSON, records as links."""
    parts = get_args(kind)
    origin = get_origin(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in parts)
    if origin in {Union, UnionType}:
        return " or ".join(map(_type, parts))
    if origin in {dict, Mapping}:
        return f"object of {_type(parts[1])}"
    if origin is tuple:
        return (
            f"list of {_type(parts[0])}"
            if parts[-1] is ...
            else f"[{', '.join(map(_type, parts))}]"
        )
    return f"[{kind.__name__}](#{kind.__name__.lower()})"


def write(folder: Path = FOLDER) -> None:
    """Write all pages into a folder, and remove what is no page any more."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
    sys.stdout.write(f"{FOLDER}: {', '.join(pages())}\n")
