"""Recomputes what compdiff claims of the golden runs, and plants false claims to see them caught; see docs/design.md."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compdiff.rewrites.engine
import compdiff.rewrites.facts
import compdiff.rewrites.predicates
from compdiff.analysis import analyse
from compdiff.model import GENERATED, Diff, Run
from compdiff.rewrites import RULE_NAMES
from compdiff.rewrites.rule import Scope
from compdiff.store import read_run
from tests.claims.checker import OPEN, faults
from tests.claims.planted import (
    analysed_with,
    claimed,
    false_row,
    with_exchanged_fates,
    with_exchanged_origins,
)
from tests.claims.rows import ROWS

_FOLDER = Path(__file__).parent.parent / "golden"
_PATHS = sorted(_FOLDER.glob("*/*.run.json.gz"))
_SOUND = [path for path in _PATHS if path.name.partition(".")[0] not in OPEN]
# Rows whose false claims must show in every run that they change.
_ALWAYS_SEEN: tuple[tuple[str, Scope], ...] = (
    ("common-subexpression", "op"),
    ("dead-code", "op"),
    ("loss-fused", "op"),
    ("mm-add-to-addmm", "pass"),
    ("mutation-functionalized", "op"),
    ("reduction-fusion", "op"),
    ("sdpa-pattern", "pass"),
    ("view-elimination", "op"),
)


def _no_calls(*_: object, **__: object) -> frozenset[int]:
    return frozenset()


def _yes(*_: object) -> bool:
    return True


def _no(*_: object) -> bool:
    return False


_FALSE_FACTS = (
    (compdiff.rewrites.facts, "live_calls", _no_calls),
    (compdiff.rewrites.predicates, "is_view", _yes),
    (compdiff.rewrites.engine, "reduces", _yes),
    (compdiff.rewrites.engine, "reduces", _no),
    (compdiff.rewrites.engine, "_MIN_MEMBERS", 1),
)


@cache
def _concluded(path: Path) -> tuple[Run, Diff]:
    run = read_run(path)
    return run, analyse(run)


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name.partition('.')[0]}"


@pytest.mark.parametrize("path", _SOUND, ids=_name)
def test_claims_are_borne_out(path: Path) -> None:
    """The run's own records contradict no claim."""
    assert faults(*_concluded(path)) == []


@pytest.mark.parametrize("path", sorted(set(_PATHS) - set(_SOUND)), ids=_name)
def test_open_faults_are_open(path: Path) -> None:
    """A case that is known to be explained wrongly is taken off the list when it no longer is."""
    assert faults(*_concluded(path))


def test_each_check_runs() -> None:
    """Each rule has a row, and golden runs that its checks looked at; so have the checks of fates and origins."""
    seen: Counter[str] = Counter()
    for path in _PATHS:
        faults(*_concluded(path), seen)
    assert set(ROWS) == RULE_NAMES
    assert {name for name in RULE_NAMES if not seen[name]} == set()
    least = {"fate": 500, "right item": 150, "kept": 80, "owner": 1000, "owned": 400}
    assert {kind: seen[kind] for kind, number in least.items() if seen[kind] < number} == {}


def _changed(name: str, scope: Scope) -> Iterator[tuple[str, list[str]]]:
    """Yield the golden runs of which a false row of this name says something else, with their faults."""
    row = false_row(name, scope)
    for path in _SOUND:
        run, true = _concluded(path)
        false = analysed_with(run, row)
        if claimed(false) != claimed(true):
            yield _name(path), faults(run, false)


@pytest.mark.parametrize("scope", ["op", "pass"])
@pytest.mark.parametrize("name", sorted(RULE_NAMES))
def test_a_false_row_is_caught(name: str, scope: Scope) -> None:
    """A row that claims whatever it comes to shows in one golden run at least."""
    assert any(found for _, found in _changed(name, scope))


@pytest.mark.parametrize(("name", "scope"), _ALWAYS_SEEN)
def test_a_false_row_is_always_caught(name: str, scope: Scope) -> None:
    """What these rules claim falsely shows in each golden run whose conclusions it changes."""
    caught = dict(_changed(name, scope))
    assert len(caught) >= 30
    assert [run for run, found in caught.items() if not found] == []


def test_ops_kept_as_others_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were any right op call the same op, `kept` would be said of ops that became others."""
    others = [
        _FOLDER / "cpu" / f"{case}.run.json.gz" for case in ("conv_frozen", "masked_otherwise")
    ]
    others.append(_FOLDER / "h200" / "unfused_bias.run.json.gz")
    true = {path: _concluded(path)[1] for path in others}
    monkeypatch.setattr(compdiff.rewrites.engine, "base_name", lambda _: "op")
    changed = [path for path in others if claimed(analyse(read_run(path))) != claimed(true[path])]
    assert changed
    assert all(faults(read_run(path), analyse(read_run(path))) for path in changed)


@pytest.mark.parametrize(("module", "name", "false"), _FALSE_FACTS)
def test_false_facts_are_always_caught(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, false: object
) -> None:
    """Where a fact that rules ask for is wrong, it shows in each golden run whose conclusions it changes."""
    true = {path: _concluded(path) for path in _SOUND}
    monkeypatch.setattr(module, name, false)
    changed = [(run, analyse(run), diff) for run, diff in true.values()]
    changed = [
        (run, false, diff) for run, false, diff in changed if claimed(false) != claimed(diff)
    ]
    assert len(changed) >= 10
    assert all(faults(run, false) for run, false, _ in changed)


def test_a_call_claimed_twice_is_caught() -> None:
    """Two rewrites that claim one op call are a fault."""
    run, diff = _concluded(_FOLDER / "cpu" / "linear.run.json.gz")
    twice = msgspec.structs.replace(diff, rewrites=(*diff.rewrites, *diff.rewrites))
    assert any("claimed 2 times" in fault for fault in faults(run, twice))


@given(data=st.data())
def test_exchanged_origins_are_caught(data: st.DataObject) -> None:
    """Two kernels cannot have each other's origins, but for those whose op calls are alike."""
    path, one, other = data.draw(st.sampled_from(_unlike_kernels()))
    run, diff = _concluded(path)
    assert faults(run, with_exchanged_origins(diff, one, other))


@cache
def _unlike_kernels() -> list[tuple[Path, str, str]]:
    """Return the pairs of generated kernels of one run whose op calls are of other names."""
    found = []
    for path in _SOUND:
        run, diff = _concluded(path)
        kernels = [f"k{one.id}" for one in run.right.kernels if one.kind in GENERATED]
        pairs = combinations(kernels, 2)
        found += [(path, *pair) for pair in pairs if _are_unlike(run, diff, *pair)]
    return found


def _are_unlike(run: Run, diff: Diff, one: str, other: str) -> bool:
    """Return whether no op call of the one kernel is of the name of one of the other's."""
    names = [
        {run.left.op_calls[int(call[1:])].name for call in diff.origins[item].op_calls}
        for item in (one, other)
    ]
    return all(names) and not names[0] & names[1]


def test_most_exchanged_fates_are_caught() -> None:
    """Nine of ten exchanges of two op calls of other fates show; the rest are true of both, as of two views."""
    caught = Counter(
        bool(faults(run, with_exchanged_fates(diff, one, other)))
        for run, diff in map(_concluded, _SOUND)
        for one, other in _of_other_fates(diff)
    )
    assert caught.total() >= 300
    assert caught[True] / caught.total() >= 0.9


def _of_other_fates(diff: Diff) -> list[tuple[str, str]]:
    """Return twelve pairs, spread over the run, of op calls with different fates or rules."""
    told = claimed(diff)
    pairs = [pair for pair in combinations(told, 2) if told[pair[0]] != told[pair[1]]]
    return pairs[:: max(1, len(pairs) // 12)]
