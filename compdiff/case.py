"""Cases found without running them. In: what the user named. Out: CaseSpecs with unique names.

Files are parsed, never imported: listing cases executes nothing. A parameter set that is limited to
another device type is skipped, with the reason.
"""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compdiff.casefile import CaseFile, Value, looks_like_case, read_case
from compdiff.errors import CaseError
from compdiff.model import CaseSpec
from compdiff.selection import matches, parse

_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_UNSAFE_IN_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A parameter set that does not run, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The cases to run, in the order they were named, and those that were left out."""

    cases: tuple[CaseSpec, ...]
    skipped: tuple[Skipped, ...] = ()


def find(
    targets: Sequence[str],
    *,
    device_type: str,
    select: str | None = None,
    overrides: Mapping[str, Value] | None = None,
    inputs_ref: str = "",
) -> tuple[CaseSpec, ...]:
    """Return the cases of `survey` alone."""
    return survey(
        targets,
        device_type=device_type,
        select=select,
        overrides=overrides,
        inputs_ref=inputs_ref,
    ).cases


def survey(
    targets: Sequence[str],
    *,
    device_type: str,
    select: str | None = None,
    overrides: Mapping[str, Value] | None = None,
    inputs_ref: str = "",
) -> Survey:
    """Return the cases that the targets name, and the parameter sets that were left out.

    Args:
        targets: files, directories, globs, or `package.module:function`.
        device_type: `cpu` or `cuda`; parameter sets limited to the other are skipped.
        select: `and`, `or`, `not`, parentheses over substrings of the name, case ignored.
        overrides: values that replace those of every parameter set.
        inputs_ref: `package.module:function` that makes the inputs of a reference.

    Raises:
        CaseError: a target is no case, cannot be read, or does not know a parameter.
    """
    references = [target for target in targets if _is_reference(target)]
    _check_inputs(references, inputs_ref)
    specs: list[CaseSpec] = []
    skipped: list[Skipped] = []
    for source in _sources(targets):
        if isinstance(source, str):
            specs.append(_reference(source, inputs_ref, overrides or {}))
        else:
            found = _from_file(source, device_type, overrides or {})
            specs += found.cases
            skipped += found.skipped
    return _selected(Survey(cases=_unique(specs), skipped=tuple(skipped)), select)


def case_files(targets: Sequence[str]) -> tuple[CaseFile, ...]:
    """Return the case files that the targets name, in order, each once; references are left out.

    Raises:
        CaseError: a target names nothing, or a file is no case.
    """
    return tuple(read_case(source) for source in _sources(targets) if isinstance(source, Path))


# ---------------------------------------------------------------- targets


def _is_reference(target: str) -> bool:
    return _REFERENCE.fullmatch(target) is not None and not Path(target).exists()


def _sources(targets: Sequence[str]) -> Iterator[Path | str]:
    """Yield each file (as a path) and reference (as a string) once, in the order named."""
    seen: set[Path | str] = set()
    for target in targets:
        found: Iterable[Path | str] = (target,) if _is_reference(target) else _files(target)
        for source in found:
            key = source.resolve() if isinstance(source, Path) else source
            if key not in seen:
                seen.add(key)
                yield source


def _files(target: str) -> list[Path]:
    path = Path(target)
    if path.is_file():
        return [path]
    found = _in_directory(path) if path.is_dir() else _globbed(target)
    if not found:
        raise CaseError(
            f"no case found at {target}",
            "Name a case file, a directory or glob with some, or package.module:function.",
        )
    return found


def _globbed(target: str) -> list[Path]:
    # Path.glob refuses absolute patterns, and a target may be one.
    found = sorted(Path(name) for name in glob.glob(target, recursive=True))  # noqa: PTH207
    files = [path for path in found if path.is_file() and looks_like_case(path)]
    return files + [file for path in found if path.is_dir() for file in _in_directory(path)]


def _in_directory(folder: Path) -> list[Path]:
    """Return the case files below a folder, sorted; hidden folders are not entered."""
    return [
        path
        for path in sorted(folder.rglob("*.py"))
        if not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
        and looks_like_case(path)
    ]


# ---------------------------------------------------------------- one target to specs


def _check_inputs(references: Sequence[str], inputs_ref: str) -> None:
    if references and not inputs_ref:
        raise CaseError(
            f"{references[0]} has no inputs",
            "Name what makes them: --inputs package.module:function.",
        )
    if inputs_ref and not references:
        raise CaseError(
            "--inputs is for package.module:function, and no such case is named",
            "A case file has its own `inputs`.",
        )
    if inputs_ref and not _REFERENCE.fullmatch(inputs_ref):
        raise CaseError(f"--inputs {inputs_ref}: not of the form package.module:function")


def _reference(target: str, inputs_ref: str, overrides: Mapping[str, Value]) -> CaseSpec:
    # Its parameters can't be known without importing the package, so any name is passed on.
    name = _safe(target.partition(":")[2])
    return CaseSpec(
        name=name, path=target, form="reference", inputs=inputs_ref, params=dict(overrides)
    )


def _from_file(path: Path, device_type: str, overrides: Mapping[str, Value]) -> Survey:
    """Return one spec for each parameter set that runs on this device type."""
    case = read_case(path)
    _check_overrides(case, overrides)
    stem = _safe(path.stem)
    sets = case.sets or {"": {}}
    active = {
        name: one for name, one in sets.items() if one.get("device", device_type) == device_type
    }
    skipped = tuple(
        Skipped(
            name=f"{stem}-{_safe(name)}", reason=f"its parameter set is for {one['device']} only"
        )
        for name, one in sets.items()
        if name not in active
    )
    cases = tuple(
        CaseSpec(
            name=stem if len(active) == 1 else f"{stem}-{_safe(name)}",
            path=str(path),
            form=case.form,
            summary=case.summary,
            param_set=name,
            params={key: value for key, value in one.items() if key != "device"} | dict(overrides),
        )
        for name, one in active.items()
    )
    return Survey(cases=cases, skipped=skipped)


def _check_overrides(case: CaseFile, overrides: Mapping[str, Value]) -> None:
    if case.known is None:
        return
    unknown = [name for name in overrides if name not in case.known]
    if unknown:
        known = ", ".join(case.known) or "none"
        raise CaseError(f"{case.path} has no parameter {unknown[0]!r}", f"Its parameters: {known}.")


def _selected(found: Survey, select: str | None) -> Survey:
    if not select:
        return found
    expression = parse(select)
    return Survey(
        cases=tuple(spec for spec in found.cases if matches(expression, spec.name)),
        skipped=tuple(one for one in found.skipped if matches(expression, one.name)),
    )


def _unique(specs: Sequence[CaseSpec]) -> tuple[CaseSpec, ...]:
    """Return the specs with names made unique: by the folder or module, then by a number."""
    names = [spec.name for spec in specs]
    longer = [
        f"{_parent_name(spec)}-{spec.name}" if names.count(spec.name) > 1 else spec.name
        for spec in specs
    ]
    taken: set[str] = set()
    result = []
    for spec, name in zip(specs, longer, strict=True):
        free = name
        number = 2
        while free in taken:
            free = f"{name}-{number}"
            number += 1
        taken.add(free)
        result.append(msgspec.structs.replace(spec, name=free))
    return tuple(result)


def _parent_name(spec: CaseSpec) -> str:
    if spec.form == "reference":
        return _safe(spec.path.partition(":")[0])
    return _safe(Path(spec.path).resolve().parent.name)


def _safe(name: str) -> str:
    """Return a name that is safe as a folder name, in a URL and in a shell."""
    return _UNSAFE_IN_NAME.sub("-", name).strip(".-") or "case"
