"""What a case file says of itself. In: a path. Out: its form, docstring and parameter sets, unrun.

The source is parsed, never executed: listing cases must be safe and fast.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from compdiff.errors import CaseError

Value: TypeAlias = int | float | str | bool | None

_MAYBE_A_CASE = re.compile(r"^\s*(def fn\b|class Model\b|fn\s*=|Model\s*=)", re.MULTILINE)
_FORMS = (("fn", ("fn", "inputs")), ("module", ("Model", "get_inputs")))
_FORM_HINT = "A case defines `fn` and `inputs`, or `Model` and `get_inputs`: see docs/cases.md."
_DEVICE_TYPES = ("cpu", "cuda")
_MAKERS = {"fn": ("inputs",), "module": ("get_init_inputs", "get_inputs")}
_GIVEN = ("device", "dtype")  # every `inputs` gets these; the others are parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """What a case file says of itself. `known` are its parameter names; None: it takes any."""

    path: Path
    form: str
    summary: str = ""
    sets: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    known: tuple[str, ...] | None = ()


def read_case(path: Path) -> CaseFile:
    """Return what a case file says of itself, from its source alone.

    Raises:
        CaseError: it cannot be read or parsed, or is not a case.
    """
    source = _source(path)
    tree = _parsed(source, path)
    names = dict(_top_level(tree.body))
    form = next((form for form, needs in _FORMS if all(name in names for name in needs)), None)
    if form is None:
        raise CaseError(f"{path} is not a case: it defines neither pair of names", _FORM_HINT)
    return CaseFile(
        path=path,
        form=form,
        summary=_first_line(ast.get_docstring(tree)),
        sets=_parameter_sets(names.get("PARAMS"), path),
        known=_known_parameters(names[maker] for maker in _MAKERS[form] if maker in names),
    )


def looks_like_case(path: Path) -> bool:
    """Whether a file defines a case; a broken one that may be a case counts, to be reported."""
    if path.suffix != ".py":
        return False
    source = _source(path)
    try:
        names = {name for name, _ in _top_level(_tree(source, path).body)}
    except (SyntaxError, ValueError):
        return _MAYBE_A_CASE.search(source) is not None
    return any(names.issuperset(needs) for _, needs in _FORMS)


def _source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CaseError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CaseError(
            f"{path} is not UTF-8 text ({error.reason} at byte {error.start})"
        ) from error


def _tree(source: str, path: Path) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # an invalid escape warns again, and better, when the case runs
        return ast.parse(source, filename=str(path))


def _parsed(source: str, path: Path) -> ast.Module:
    try:
        return _tree(source, path)
    except SyntaxError as error:
        raise CaseError(f"{path}:{error.lineno}: {error.msg}", "Correct the case file.") from error
    except ValueError as error:
        raise CaseError(f"{path}: {error}", "Correct the case file.") from error


def _top_level(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each name that a module binds with the statement that does it."""
    for statement in body:
        for name in _bound(statement):
            yield name, statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _top_level(statement.body)


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in statement.names]
    if isinstance(statement, ast.AnnAssign):
        return [statement.target.id] if isinstance(statement.target, ast.Name) else []
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []


def _first_line(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n")[0].strip()


def _known_parameters(statements: Iterable[ast.stmt]) -> tuple[str, ...] | None:
    """Return the parameters of the functions that make inputs; None if they can be any."""
    known: dict[str, None] = {}
    for statement in statements:
        if not isinstance(statement, ast.FunctionDef) or statement.args.kwarg is not None:
            return None
        known |= dict.fromkeys(
            one.arg for one in (*statement.args.args, *statement.args.kwonlyargs)
        )
    return tuple(name for name in known if name not in _GIVEN)


def _parameter_sets(statement: ast.stmt | None, path: Path) -> dict[str, dict[str, Value]]:
    if statement is None:
        return {}
    value = getattr(statement, "value", None)
    try:
        sets = ast.literal_eval(value) if isinstance(value, ast.expr) else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        sets = None
    if not isinstance(sets, dict) or not all(_is_set(name, one) for name, one in sets.items()):
        raise CaseError(
            f"{path}:{statement.lineno}: PARAMS is not a literal dict of named parameter sets",
            'Write it as PARAMS = {"small": {"size": 64}}; values are numbers, strings, bools or '
            "None, and that of the key `device` is `cpu` or `cuda`.",
        )
    return sets


def _is_set(name: object, values: object) -> bool:
    return (
        isinstance(name, str)
        and isinstance(values, dict)
        and all(isinstance(key, str) for key in values)
        and all(isinstance(value, int | float | str | None) for value in values.values())
        and values.get("device", "cpu") in _DEVICE_TYPES
    )
