"""What a project asks of its cases. In: compdiff.toml, or [tool:compdiff] in setup.cfg. Out: a Config, validated."""

import configparser
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from compdiff.errors import CompdiffError, FormatError
from compdiff.regression.lock import LOCK_FILE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIG_FILE = "compdiff.toml"
SETUP_FILE = "setup.cfg"
_SECTION = "tool:compdiff"
_LISTS = frozenset({"cases", "allow"})
Value: TypeAlias = int | float | str | bool | None
_T = TypeVar("_T")


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much is too much. Shares are of the baseline: 0.035 is 3.5 %; None asks nothing.

    `slowdown` is of the compiled side's time, `memory` of its peak; `numerics` is how many times the error against float64
    may grow. The counts are the most that the compiled side may have, whatever the lock says.
    """

    slowdown: float | None = 0.035
    memory: float | None = 0.05
    numerics: float | None = 4.0
    op_calls: int | None = None
    kernels: int | None = None
    graph_breaks: int | None = None
    recompiles: int | None = None
    copies_introduced: int | None = None
    unexplained: int | None = None


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `compdiff check` does; see docs/ci.md.

    `cases`, `select`, `device`, `target`, `dtype`, `mode`, `dynamic`, `fullgraph`, `backend`, `option` and `param` are those
    of `compdiff run`. `baseline` is a run file, a folder of them, or a reference into `archive`. `allow` holds patterns of
    changes that fail nothing (`linear: kernel gained: *`). `any_host` compares times of hosts of different names, where
    device, threads and platform are the same: for runners that get a new name each time. `case` holds limits of single
    cases, by name.
    """

    cases: list[str] = []
    select: str = ""
    device: str = "auto"
    target: str = ""
    dtype: str = ""
    mode: str | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    backend: str = "inductor"
    option: dict[str, Value] = {}
    param: dict[str, Value] = {}
    lock: str = LOCK_FILE
    archive: str = ""
    baseline: str = ""
    any_host: bool = False
    allow: list[str] = []
    limits: Limits = Limits()
    case: dict[str, dict[str, Value]] = {}
    budget: float = 1.0
    timeout: float = 600.0
    confirm: int = 2
    seed: int = 0

    def limits_of(self, case: str) -> Limits:
        """Return the limits of a case: its own where it has any, else those of all."""
        return _converted(
            {**msgspec.structs.asdict(self.limits), **self.case.get(case, {})},
            Limits,
            f"[case.{case}]",
        )


def read_config(path: Path | None = None, folder: Path = Path()) -> Config:
    """Return what `path` says, else compdiff.toml or setup.cfg of a folder; the defaults where there is neither.

    Raises:
        CompdiffError: the file cannot be read.
        FormatError: naming the file and the key that does not fit.
    """
    if path is not None:
        return _read(path)
    for name in (CONFIG_FILE, SETUP_FILE):
        if (folder / name).is_file():
            return _read(folder / name)
    return Config()


def _read(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
        data = _from_ini(text) if path.suffix == ".cfg" else tomllib.loads(text)
    except OSError as error:
        raise CompdiffError(f"cannot read {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, configparser.Error) as error:
        raise FormatError(f"{path}: {error}", "See docs/ci.md for an example.") from error
    config = _converted(data, Config, str(path))
    for case in config.case:
        config.limits_of(case)
    return config


def _from_ini(text: str) -> dict[str, object]:
    """Return the sections of a setup.cfg that are ours: `[tool:compdiff]`, `[tool:compdiff:limits]`, ..."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    data: dict[str, object] = {}
    for section in parser.sections():
        values = {
            key.replace("-", "_"): _ini_value(key, text) for key, text in parser[section].items()
        }
        if section == _SECTION:
            data |= values
        elif section.startswith(f"{_SECTION}:"):
            _put(data, section.removeprefix(f"{_SECTION}:").split(":"), values)
    return data


def _put(data: dict[str, object], path: Sequence[str], values: Mapping[str, object]) -> None:
    """Put the values where the path says: `case:linear` is the table `linear` in the table `case`."""
    for name in path:
        inner = data.setdefault(name, {})
        data = inner if isinstance(inner, dict) else {}
    data.update(values)


def _ini_value(key: str, text: str) -> object:
    if key in _LISTS:
        return [line.strip() for line in text.splitlines() if line.strip()]
    words: dict[str, Value] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        return text


def _converted(data: object, kind: type[_T], name: str) -> _T:
    try:
        return msgspec.convert(data, kind, strict=False)
    except msgspec.ValidationError as error:
        raise FormatError(f"{name}: {error}", "See docs/ci.md for what can be set.") from error
