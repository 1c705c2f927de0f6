"""Imports and calls what a case names. In: paths, references, parameters. Out: functions."""

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from compdiff.errors import CaseError

_FORMS = (
    "A case file holds `fn` and `inputs(device, dtype)`, "
    "or `Model`, `get_init_inputs()` and `get_inputs()`."
)
_ANY = "**"


def import_file(path: Path) -> ModuleType:
    """Return a case file's module, under a name that no case of another folder has.

    Raises:
        CaseError: there is no such Python file.
    """
    file = path.resolve()
    if not file.is_file():
        raise CaseError(
            f"{path}: no such case file.", "`compdiff cases` lists those that are there."
        )
    digest = hashlib.sha256(str(file).encode()).hexdigest()[:8]
    name = f"compdiff_case_{file.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise CaseError(f"{path}: Python cannot import this file.", "A case file ends in .py.")
    _put_on_path(file.parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling in the case look themselves up here
    spec.loader.exec_module(module)
    return module


def import_reference(reference: str) -> tuple[ModuleType, Callable[..., object]]:
    """Return the module and the function that `package.module:function` names.

    The function may be `Class.method`.

    Raises:
        CaseError: the module or the function is not there.
    """
    name, _, attribute = reference.partition(":")
    if not name or not attribute:
        raise CaseError(f"{reference!r} names no function.", "Write package.module:function.")
    _put_on_path(Path.cwd())
    module = _import_named(name, reference)
    holder: object = module
    *outer, last = attribute.split(".")
    for part in outer:
        holder = member(holder, part, reference)
    return module, member(holder, last, reference)


def member(holder: object, name: str, where: str) -> Callable[..., object]:
    """Return a callable that `holder` must have.

    Raises:
        CaseError: it has none, or one that cannot be called.
    """
    found = getattr(holder, name, None)
    if callable(found):
        return found  # type: ignore[no-any-return]
    lack = f"has no {name}" if found is None else f"has a {name} that cannot be called"
    raise CaseError(f"{where} {lack}.", _FORMS)


def parameter_names(function: Callable[..., object]) -> set[str]:
    """Return the names a function can be called with; `**` stands for any name."""
    if function is tuple:  # the stand-in for an inputs function that is not there
        return set()
    parameters = inspect.signature(function).parameters.values()
    fixed = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = {item.name for item in parameters if item.kind in fixed}
    open_ended = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters)
    return names | ({_ANY} if open_ended else set())


def check_params(where: str, params: Mapping[str, object], known: set[str]) -> None:
    """Refuse parameters that the case's functions do not take.

    Raises:
        CaseError: names the unknown ones and the known ones.
    """
    unknown = [] if _ANY in known else sorted(set(params) - known)
    if unknown:
        takes = ", ".join(sorted(known)) or "no parameters"
        raise CaseError(
            f"{where}: no parameter named {', '.join(unknown)}.", f"Its inputs take: {takes}."
        )


def call_with(function: Callable[..., object], params: Mapping[str, object]) -> object:
    """Return what `function` gives for those of `params` that it takes."""
    names = parameter_names(function)
    return function(
        **{name: value for name, value in params.items() if name in names or _ANY in names}
    )


def _import_named(name: str, reference: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if not (name == missing or name.startswith(missing + ".")):
            raise  # the module is there, and something that it imports is not
        hint = "Run in the folder that holds it, or set PYTHONPATH."
        raise CaseError(f"{reference}: no module named {missing!r}.", hint) from error


def _put_on_path(folder: Path) -> None:
    """Let the case import its neighbours, inside a function later as well: so the entry stays."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
