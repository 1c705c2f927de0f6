"""Recomputes what compdiff claims. In: a run and its diff. Out: the claims that the run's own records do not bear out."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from compdiff.model import Diff, OpCall, Run
from tests.claims.account import Account, counts, only_looks, op_name
from tests.claims.rows import ROWS, Claim


def faults(run: Run, diff: Diff, seen: Counter[str] | None = None) -> list[str]:
    """Return a sentence for each claim that the records contradict; `seen` counts what was checked, by kind.

    Runs without a compiler's account have nothing to check a claim against, but for the bookkeeping.
    """
    tally = Counter[str]() if seen is None else seen
    account = Account(run)
    found = list(_bookkeeping(account, diff, tally))
    compiler = run.right.compiler
    if compiler is None or not compiler.graphs:
        return found
    found += _rewrites(account, diff, tally)
    found += _kept(account, diff, tally)
    found += _owners(account, diff, tally)
    found += _owned(account, diff, tally)
    return found


def _places(diff: Diff) -> dict[str, set[str]]:
    """Return the right items that each left op call is said to be in."""
    places: dict[str, set[str]] = defaultdict(set)
    for item, origin in diff.origins.items():
        for call in origin.op_calls:
            places[call].add(item)
    return places


def _bookkeeping(account: Account, diff: Diff, tally: Counter[str]) -> Iterator[str]:
    """No op call is claimed twice, fates and rewrites name each other, and origins agree with both."""
    places = _places(diff)
    by_call: dict[str, list[str]] = {
        call: [rewrite.id for rewrite in diff.rewrites if call in rewrite.left]
        for call in account.left
    }
    for rewrite in diff.rewrites:
        for item in rewrite.right:
            tally["right item"] += 1
            if not any(item in places[call] for call in rewrite.left):
                yield f"{rewrite.id} {rewrite.rule}: {item} comes from none of {rewrite.left}"
    for call, names in by_call.items():
        tally["fate"] += 1
        fate = diff.fates[call]
        if len(names) > 1:
            yield f"{call} is claimed {len(names)} times"
        if names != [name for name in [fate.rewrite] if name is not None]:
            yield f"{call}: its fate names {fate.rewrite}, and {names} claim it"
        if fate.fate in {"kept", "fused", "decomposed"} and not places[call]:
            yield f"{call} is {fate.fate}, and no right item comes from it"


def _rewrites(account: Account, diff: Diff, tally: Counter[str]) -> Iterator[str]:
    places = _places(diff)
    for rewrite in diff.rewrites:
        claim = Claim(account, rewrite, places)
        for check in ROWS[rewrite.rule]:
            tally[rewrite.rule] += 1
            for fault in check(claim):
                yield f"{rewrite.id} {rewrite.rule}: {fault}"


def _kept(account: Account, diff: Diff, tally: Counter[str]) -> Iterator[str]:
    """A kept op call is made again, by its name and with its sizes, or is a kernel of the case's own."""
    places = _places(diff)
    for item, call in account.left.items():
        if diff.fates[item].fate != "kept":
            continue
        tally["kept"] += 1
        again = [account.right[place] for place in places[item]]
        same = [one for one in again if isinstance(one, OpCall) and _is_same(call, one)]
        own = any(
            "triton_kernel_wrapper" in n.target for p in places[item] for n in account.nodes_of(p)
        )
        if not same and not own:
            yield f"{item} {call.name} is kept, but the right side has {[one.name for one in again]}"


def _is_same(left: OpCall, right: OpCall) -> bool:
    given = counts(right.inputs)
    fits = not left.outputs or bool(counts(left.outputs) & (counts(right.outputs) | given))
    reads = not left.inputs or bool(counts(left.inputs) & given)
    return op_name(left.name) == op_name(right.name) and fits and reads


def _owners(account: Account, diff: Diff, tally: Counter[str]) -> Iterator[str]:
    """Each op call in an origin has a node in the item; where no wrapper call made the item, its name and sizes."""
    exempt = {call for one in diff.rewrites if one.rule in _TOLD_OTHERWISE for call in one.left}
    for item, origin in diff.origins.items():
        for call in origin.op_calls:
            if call in exempt:
                continue
            tally["owner"] += 1
            if not account.does(item, call):
                yield f"{item} {account.right[item].name} has no node of {call} {account.left[call].name}"


# Rules whose op calls are not in the graphs, or not by the same calls: their rows say what must hold.
_TOLD_OTHERWISE = {"other-code-path", "other-layout"}


def _owned(account: Account, diff: Diff, tally: Counter[str]) -> Iterator[str]:
    """Each node that a generated kernel computes, and no library call does, is of an op call in its origin."""
    library = {
        (found[0].id, name)
        for item in account.right
        if not account.is_generated(item) and (found := account.wrapper_call(item))
        for name in found[1].nodes
    }
    exempt = {call for one in diff.rewrites if one.rule in _TOLD_OTHERWISE for call in one.left}
    places = _places(diff)
    for item, origin in diff.origins.items():
        found = account.wrapper_call(item)
        if found is None or not account.is_generated(item) or exempt & set(origin.op_calls):
            continue
        for node in account.nodes_of(item):
            told = node.original_aten and op_name(node.target) not in _OF_NO_CALL
            if only_looks(node) or not told or (found[0].id, node.name) in library:
                continue
            names = account.descent((found[0].compile_id, node.name))
            owners = [call for call, nodes in account.nodes_for.items() if names & nodes]
            elsewhere = {place for call in owners for place in places[call]}
            stored = any(node.name in _named(account, place) for place in elsewhere - {item})
            if not owners or stored or exempt & set(owners):
                continue
            tally["owned"] += 1
            if not set(owners) & set(origin.op_calls):
                yield f"{item} computes {node.name}, of {owners}, and comes from {origin.op_calls}"


def _named(account: Account, item: str) -> set[str]:
    """Return the nodes that an item names; all are there for a library call that no call of the wrapper is told to be."""
    found = account.wrapper_call(item)
    if found is not None:
        return set(found[1].nodes)
    made = account.right[item]
    graph = account.graphs.get(made.graph) if made.graph is not None else None
    return {name for call in graph.calls for name in call.nodes} if graph else set()


# Written-back results, and numbers: kernels have them for any reader.
_OF_NO_CALL = {"copy", "full", "scalar_tensor", "iota", "clone"}

OPEN = {
    "flex_causal": "the block mask's other half is never computed, and counted into the template's kernel",
}
"""Cases, planned for a target, that compdiff is known to explain wrongly, and what is wrong."""
