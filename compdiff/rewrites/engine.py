"""Applies the rules. In: an Alignment. Out: rewrites, a fate for each left op call, an origin for each right item.

Rules are tried in order; an op call is claimed once. The engine knows no op name.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from compdiff.align.graph_replay import ON_THE_HOST, REPLAYED
from compdiff.align.items import in_order, right_items
from compdiff.align.other_way import OTHER_WAY
from compdiff.align.traces import Alignment, OpTrace
from compdiff.model import (
    PRE_GRAD,
    Fate,
    FateKind,
    OpCall,
    Origin,
    PassEvent,
    Rewrite,
    SourceLocation,
)
from compdiff.rewrites.facts import Facts, base_name, kernel_ids, trace_ids
from compdiff.rewrites.introduced import reason_introduced
from compdiff.rewrites.outcomes import outcome_of
from compdiff.rewrites.predicates import (
    computing_nodes,
    was_changed_by_a_pattern,
    was_replaced_by_a_pattern,
)
from compdiff.rewrites.recomputed import is_recomputed
from compdiff.rewrites.rule import Rule
from compdiff.rewrites.rules import REDUCTION_TARGETS, RULES

_KEPT = "The same op runs on the right."
_OUTSIDE = "It runs outside the compiled graphs, as in eager mode."
_REPLAYED = "Its launches were captured in a CUDA graph, which replays them."
_ON_THE_HOST = "Host work while a CUDA graph was captured: a replay does not do it again."
_KEPT_PART = (
    "The same op runs on the right; a generated kernel does the rest, as a bias or its gradient."
)
_KEPT_KERNEL = "The op's own Triton kernel runs on the right too; the compiler launches it itself."
_USER_KERNEL = "triton_kernel_wrapper_"


@dataclass(frozen=True)
class Explanation:
    """What the rules conclude, keyed by item id."""

    rewrites: tuple[Rewrite, ...]
    fates: dict[str, Fate]
    origins: dict[str, Origin]


@dataclass
class _State:
    facts: Facts
    fates: dict[str, Fate] = field(default_factory=dict)
    rewrites: list[Rewrite] = field(default_factory=list)

    def unclaimed(self, traces: Iterable[OpTrace]) -> list[OpTrace]:
        return [trace for trace in traces if trace.id not in self.fates]

    def claim(  # noqa: PLR0913 - the parts of one rewrite
        self,
        rule: Rule,
        traces: Sequence[OpTrace],
        *,
        right: tuple[str, ...],
        shared: Sequence[OpTrace] = (),
        event: PassEvent | None = None,
        evidence: tuple[str, ...] = (),
    ) -> None:
        """Record one rewrite and the fates of the op calls it explains."""
        identity = f"r{len(self.rewrites) + 1}"
        rewrite = Rewrite(
            id=identity,
            rule=rule.name,
            left=trace_ids(list(traces)),
            right=right,
            shared=trace_ids(list(shared)),
            by_pass=_pass_text(event),
            location=event.location if event else "",
            source=_source_text([*traces, *shared]),
            why=rule.why,
            evidence=evidence,
        )
        self.rewrites.append(outcome_of(self.facts, rewrite, traces))
        for trace in traces:
            self.fates[trace.id] = Fate(fate=_fate(rule, trace), rewrite=identity, why=rule.why)


def explain(alignment: Alignment, rules: Sequence[Rule] = RULES) -> Explanation:
    """Return rewrites, fates and origins; every left op call gets a fate and every right item an origin."""
    state = _State(Facts(alignment))
    _keep_outside(state)
    _keep_replayed(state)
    appliers: dict[str, Callable[[_State, Rule], None]] = {
        "pass": _apply_to_events,
        "op": _apply_to_ops,
        "kernel": _apply_to_kernels,
        "library": _apply_to_library_calls,
        "path": _apply_to_paths,
    }
    pass_rules = [rule for rule in rules if rule.scope == "pass" and not rule.when]
    for rule in pass_rules:
        _apply_to_events(state, rule)
    _keep_same_op(state)
    for rule in rules:
        if rule not in pass_rules:
            appliers[rule.scope](state, rule)
    for trace in state.unclaimed(alignment.traces):
        state.fates[trace.id] = Fate(
            fate="unexplained", why="no rule explains what became of this op call"
        )
    rewrites, fates = _numbered(state)
    return Explanation(rewrites, fates, _origins(state))


# ---------------------------------------------------------------- kept


def _keep_outside(state: _State) -> None:
    """Keep what runs outside the graphs; without a compiler's account nobody says where graphs are."""
    told = state.facts.alignment.right.compiler is not None
    for trace in state.facts.alignment.traces:
        if trace.kept is not None:
            state.fates[trace.id] = Fate(fate="kept", why=_OUTSIDE if told else _KEPT)


def _keep_same_op(state: _State) -> None:
    """Keep the op calls that one right op call of the same name does."""
    for trace in state.unclaimed(state.facts.alignment.traces):
        calls = state.facts.extern_calls(trace)
        same = [call for call in calls if base_name(call.name) == base_name(trace.call.name)]
        if same and len(calls) == len(same):
            if not state.facts.generated(trace):
                state.fates[trace.id] = Fate(fate="kept", why=_KEPT)
            elif not was_replaced_by_a_pattern(state.facts, trace):
                state.fates[trace.id] = Fate(fate="kept", why=_KEPT_PART)
        elif trace.items and all(_is_of_the_case(state.facts, item) for item in trace.items):
            state.fates[trace.id] = Fate(fate="kept", why=_KEPT_KERNEL)


def _is_of_the_case(facts: Facts, item: str) -> bool:
    """Return whether a right item is a Triton kernel that the case wrote, not the compiler."""
    nodes = facts.nodes_of(item)
    written = any(_USER_KERNEL in node.target for node in nodes)
    return written and facts.is_generated(item)


def _keep_replayed(state: _State) -> None:
    """Keep what a CUDA graph captured and replays; what only the host did meanwhile is not done again."""
    for trace in state.unclaimed(state.facts.alignment.traces):
        if trace.by == REPLAYED:
            state.fates[trace.id] = Fate(fate="kept", why=_REPLAYED)
        elif trace.by == ON_THE_HOST:
            state.fates[trace.id] = Fate(fate="eliminated", why=_ON_THE_HOST)


# ---------------------------------------------------------------- rules


def _apply_to_events(state: _State, rule: Rule) -> None:
    """Claim, for each pass event that the rule speaks of, the op calls whose nodes it removed."""
    facts = state.facts
    for compile_id, frame in facts.alignment.lineage.frames.items():
        for event, removed, created in frame.events:
            if not rule.matches_event(event):
                continue
            names = {(compile_id, name) for name in removed}
            of_dynamo = event.stage == PRE_GRAD
            traces = facts.with_dynamo_node(names) if of_dynamo else facts.with_joint_node(names)
            touched = [trace for trace in state.unclaimed(traces) if rule.admits(facts, trace)]
            if touched:
                right = _items_made(facts, touched, created)
                nodes = ", ".join(node.name for node in event.removed)
                made = ", ".join(sorted(created)) or "nothing"
                evidence = (f"{_pass_text(event)} removed {nodes} and made {made}",)
                state.claim(rule, touched, right=right, event=event, evidence=evidence)


def _items_made(
    facts: Facts, traces: Sequence[OpTrace], created: frozenset[str]
) -> tuple[str, ...]:
    """Return the right items that run the nodes which the event made, else all that the op calls end in."""
    made = {item for name in created for item in facts.items_by_node.get(name, ())}
    ends = {item for trace in traces for item in trace.items}
    direct = {item for item in ends if item in made or _launcher(facts, item) in made}
    return in_order(direct or ends)


def _launcher(facts: Facts, item: str) -> str | None:
    op_call = getattr(facts.items[item], "op_call", None)
    return None if op_call is None else f"c{op_call}"


def _apply_to_ops(state: _State, rule: Rule) -> None:
    facts = state.facts
    for trace in state.unclaimed(facts.alignment.traces):
        if rule.admits(facts, trace):
            event = _event_behind(rule, trace)
            evidence = _op_evidence(trace)
            shared = _twins(facts, rule, trace)
            state.claim(
                rule, [trace], right=trace.items, shared=shared, event=event, evidence=evidence
            )


def _event_behind(rule: Rule, trace: OpTrace) -> PassEvent | None:
    """Return the last pass event that put something in the place of a call's nodes, if it did so with all that compute.

    Of a call that became several nodes it may have replaced a constant; a rule that names passes tells which matter.
    """
    replacing = [event for event in trace.events if event.pattern or event.replacements]
    if not replacing:
        return None
    removed = {node.name for node in replacing[-1].removed}
    whole = set(computing_nodes(trace)) <= removed
    return replacing[-1] if whole or rule.matches_event(replacing[-1]) else None


def _twins(facts: Facts, rule: Rule, trace: OpTrace) -> list[OpTrace]:
    """Return the earlier equal call that stands for an eliminated one."""
    earlier = facts.first_equal.get(trace.call.id)
    return (
        [facts.alignment.traces[earlier]]
        if rule.fate == "eliminated" and earlier is not None
        else []
    )


def _op_evidence(trace: OpTrace) -> tuple[str, ...]:
    parts = []
    if trace.joint:
        parts.append(f"traced as {', '.join(node.name for node in trace.joint[:8])}")
    parts += [
        f"{_pass_text(event)} removed {', '.join(node.name for node in event.removed[:8])}"
        for event in trace.events[:4]
    ]
    return tuple(parts)


def _apply_to_kernels(state: _State, rule: Rule) -> None:
    """Claim, for each generated kernel that fits the rule, the op calls in it that nothing else explains."""
    facts = state.facts
    for kernel in kernel_ids(facts):
        members = facts.owners[kernel]
        free = [trace for trace in state.unclaimed(members) if _is_home(facts, trace, kernel)]
        # What a library call does now is not the kernel's, which prepares an input of it or goes on with its result.
        free = [trace for trace in free if not was_changed_by_a_pattern(facts, trace)]
        if not free or len(members) < _MIN_MEMBERS or not _fits(rule, facts, kernel, members):
            continue
        taken = [trace for trace in members if trace not in free]
        right = in_order(
            item for trace in free for item in trace.items if _same_direction(facts, item, kernel)
        )
        evidence = (_scheduled(facts, kernel),)
        state.claim(rule, free, right=right, shared=taken, evidence=evidence)


def _scheduled(facts: Facts, kernel: str) -> str:
    """Return what tells that the op calls of a kernel run in it."""
    name = facts.items[kernel].name
    nodes = ", ".join(node.name for node in facts.nodes_of(kernel)[:12])
    return f"the scheduler put {nodes} into {name}" if nodes else f"the name {name} lists the ops"


_MIN_MEMBERS = 2
# Source: get_kernel_category_by_source_code, torch/_inductor/wrapper_benchmark.py.
_POINTWISE_OR_NOT = re.compile(r"triton_(poi|red|per|spl|mix)_")
_REDUCTION_NAME = re.compile(
    r"triton_(red|per|spl|mix)_|cpp_\w*(softmax|norm|sum|mean|max|min|var|loss)"
)


def _apply_to_library_calls(state: _State, rule: Rule) -> None:
    """Claim, for each right op call that the rule speaks of, the op calls that it is guessed to stand for."""
    facts = state.facts
    for item, made in right_items(facts.alignment.right):
        members = [trace for trace in facts.owners.get(item, ()) if trace.certainty == "guess"]
        free = state.unclaimed(members)
        if free and isinstance(made, OpCall) and made.name in rule.ops:
            state.claim(rule, free, right=(item,), evidence=(free[0].by,))


def _apply_to_paths(state: _State, rule: Rule) -> None:
    """Claim together the op calls of code that only eager mode runs, for each set of right items that stands for them."""
    groups: dict[tuple[str, ...], list[OpTrace]] = defaultdict(list)
    for trace in state.unclaimed(state.facts.alignment.traces):
        if rule.admits(state.facts, trace):
            groups[trace.items].append(trace)
    for items, traces in groups.items():
        state.claim(rule, traces, right=items, evidence=(_path_evidence(traces),))


def _path_evidence(traces: Sequence[OpTrace]) -> str:
    if traces[0].by != OTHER_WAY:
        return traces[0].by
    places = [trace.call.source for trace in traces if trace.call.source is not None]
    lines = sorted({place.line for place in places})
    functions = ", ".join(sorted({place.function for place in places}))
    return f"no node of Dynamo's graph comes from lines {lines[0]} to {lines[-1]} of {functions}"


def _is_home(facts: Facts, trace: OpTrace, kernel: str) -> bool:
    """Return whether the kernel does the call's work in the call's own direction, or no kernel does."""
    backward = trace.call.phase == "backward"
    kernels = facts.generated(trace)
    homes = [item for item in kernels if facts.is_backward(item) == backward] or kernels
    return kernel in homes


def _fits(rule: Rule, facts: Facts, kernel: str, members: Sequence[OpTrace]) -> bool:
    if rule.ops:
        return any(trace.call.name in rule.ops for trace in members)
    return reduces(facts, kernel) == (rule.name == "reduction-fusion")


def reduces(facts: Facts, kernel: str) -> bool:
    """Return whether a generated kernel reduces: by its name where that tells it, else by its nodes.

    A node says less than a Triton kernel's name: a mean is also named by the kernel that only divides the sum.
    """
    name = facts.items[kernel].name
    nodes = facts.nodes_of(kernel)
    if not nodes or _POINTWISE_OR_NOT.match(name):
        return _REDUCTION_NAME.match(name) is not None
    return any(node.target in REDUCTION_TARGETS for node in nodes)


def _same_direction(facts: Facts, item: str, kernel: str) -> bool:
    return facts.is_backward(item) == facts.is_backward(kernel)


# ---------------------------------------------------------------- results


def _numbered(state: _State) -> tuple[tuple[Rewrite, ...], dict[str, Fate]]:
    """Return rewrites in the order of their first op call, numbered from r1, and the fates in left order."""
    ordered = sorted(state.rewrites, key=lambda rewrite: _first(rewrite.left))
    new_id = {rewrite.id: f"r{index}" for index, rewrite in enumerate(ordered, start=1)}
    rewrites = tuple(msgspec.structs.replace(rewrite, id=new_id[rewrite.id]) for rewrite in ordered)
    fates = {
        trace.id: msgspec.structs.replace(fate, rewrite=new_id.get(fate.rewrite or ""))
        for trace in state.facts.alignment.traces
        for fate in [state.fates[trace.id]]
    }
    return rewrites, fates


def _first(ids: tuple[str, ...]) -> int:
    return int(ids[0].lstrip("e")) if ids else 0


def _origins(state: _State) -> dict[str, Origin]:
    facts = state.facts
    origins = {}
    for item, made in right_items(facts.alignment.right):
        owners = facts.owners.get(item, [])
        if owners:
            again = [trace for trace in owners if is_recomputed(facts, trace, item)]
            origins[item] = Origin(op_calls=trace_ids(owners), recomputed=trace_ids(again))
        else:
            origins[item] = Origin(introduced=reason_introduced(facts, item, made))
    return origins


def _fate(rule: Rule, trace: OpTrace) -> FateKind:
    """Return the rule's fate, but `eliminated` for a rewritten op call that nothing on the right runs."""
    return "eliminated" if rule.fate == "rewritten" and not trace.items else rule.fate


def _pass_text(event: PassEvent | None) -> str:
    if event is None:
        return ""
    return f"{event.stage}: {event.pattern or event.pass_name}"


def _place(trace: OpTrace) -> SourceLocation | None:
    of_nodes = (node.source for node in trace.joint if node.source is not None)
    return trace.call.source or next(of_nodes, None)


def _source_text(traces: Sequence[OpTrace]) -> str:
    """Return the place of the last op call that has one, or of its graph node, as `file:line`."""
    places = [place for place in map(_place, traces) if place is not None]
    return f"{places[-1].file}:{places[-1].line}" if places else ""
