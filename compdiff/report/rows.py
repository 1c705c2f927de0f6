"""The alignment as rows. In: Lookup. Out: groups in eager order: left op calls by source line, and what they became.

A group is a run of neighbouring op calls that share their first right item, or else their rewrite. Each right item is
shown in full once, in its home group, and as a link wherever else its op calls stand. Right items that no op call owns
stand before the item that ran after them.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

import msgspec

from compdiff.align.sides import is_backward
from compdiff.model import Kernel, OpCall, SourceLocation
from compdiff.report.lookup import Lookup, Ref, is_unexplained
from compdiff.report.naming import arguments_text, outputs_text, place_text

UNEXPLAINED = "unexplained"
_NOWHERE = "unknown place"


class SourceLine(msgspec.Struct, frozen=True, gc=False):
    """A source line in three parts, the middle one being what made the op calls; `place` is `linear.py:12`."""

    place: str
    function: str
    before: str
    marked: str
    after: str


class LeftOp(msgspec.Struct, frozen=True, gc=False):
    """One left op call. `why` says more than the fate's name where no rewrite does; `links` are its counterparts.

    In a comparison also one left kernel of this `kind`, its `code` an anchor; `work` names the eager op calls whose work
    the item does.
    """

    id: str
    name: str
    kind: str
    work: str
    arguments: str
    outputs: str
    module: str
    fate: str
    rewrite: Ref | None
    why: str
    certainty: str
    kernels: tuple[Ref, ...]
    code: str
    links: tuple[str, ...]


class RightItem(msgspec.Struct, frozen=True, gc=False):
    """One right op call or kernel in full. `nested` are the kernels that an op call launched; `code` is an anchor."""

    id: str
    name: str
    kind: str
    work: str
    arguments: str
    outputs: str
    introduced: str
    unexplained: bool
    recomputed: tuple[Ref, ...]
    code: str
    links: tuple[str, ...]
    nested: tuple["RightItem", ...] = ()


class Block(msgspec.Struct, frozen=True, gc=False):
    """Neighbouring left op calls made by the same columns of one source line."""

    source: SourceLine | None
    ops: tuple[LeftOp, ...]


class Group(msgspec.Struct, frozen=True, gc=False):
    """Op calls that belong together and the right items they became; without op calls, introduced right items."""

    phase: str
    blocks: tuple[Block, ...]
    items: tuple[RightItem, ...]
    elsewhere: tuple[Ref, ...]
    fate: str

    @property
    def size(self) -> int:
        """How many left op calls the group holds."""
        return sum(len(block.ops) for block in self.blocks)


def make_rows(lookup: Lookup) -> tuple[Group, ...]:
    """Return the groups of the alignment, in eager order."""
    runs = list(_runs(lookup))
    homes = _homes(lookup, runs)
    at_home: dict[int, list[str]] = defaultdict(list)
    for unit in _units(lookup):
        if unit in homes:
            at_home[homes[unit]].append(unit)
    groups = [_group(lookup, ops, at_home[index]) for index, (_, ops) in enumerate(runs)]
    return _with_introduced(lookup, groups, homes)


class Unexplained(msgspec.Struct, frozen=True, gc=False):
    """An item that nothing explains; `place` is the source line of a left one, "" for a right one."""

    side: str
    id: str
    name: str
    place: str


def unexplained_items(groups: tuple[Group, ...]) -> tuple[Unexplained, ...]:
    """Return what nothing explains: left op calls, then right items, in the order shown."""
    left = [
        Unexplained("left", op.id, op.name, block.source.place if block.source else "")
        for group in groups
        for block in group.blocks
        for op in block.ops
        if op.fate == UNEXPLAINED
    ]
    right = [
        Unexplained("right", item.id, item.name, "")
        for group in groups
        for unit in group.items
        for item in (unit, *unit.nested)
        if item.unexplained
    ]
    return (*left, *right)


# ---------------------------------------------------------------- which op calls belong together


def _runs(lookup: Lookup) -> Iterator[tuple[str, list[str]]]:
    """Yield (key, op ids): neighbouring left op calls of one phase with the same key."""
    run: list[str] = []
    last: tuple[str, str] | None = None
    for op in lookup.left_items:
        key = (_key(lookup, op), _left_phase(lookup, op))
        if last is not None and key != last:
            yield last[0], run
            run = []
        run.append(op)
        last = key
    if last is not None:
        yield last[0], run


def _left_phase(lookup: Lookup, item: str) -> str:
    return "backward" if is_backward(lookup.run.left, lookup.left_items[item]) else "forward"


def _key(lookup: Lookup, op: str) -> str:
    """Return the right unit in whose group the op call stands, else its rewrite, else itself."""
    made = lookup.made_from.get(op)
    if made:
        return _unit(lookup, made[0])
    return lookup.fate(op).rewrite or op


def _unit(lookup: Lookup, item: str) -> str:
    """Return the op call that launched a right kernel, else the item itself."""
    kernel = lookup.right_kernels.get(item)
    launcher = f"c{kernel.op_call}" if kernel is not None and kernel.op_call is not None else ""
    return launcher if launcher in lookup.right_ops else item


def _units(lookup: Lookup) -> tuple[str, ...]:
    """Return the right items that stand on their own, in the order in which they ran."""
    return tuple(item for item in lookup.right_order if _unit(lookup, item) == item)


def _homes(lookup: Lookup, runs: list[tuple[str, list[str]]]) -> dict[str, int]:
    """Return, for each right unit with an owner, the group that shows it in full."""
    homes: dict[str, int] = {}
    for index, (key, _) in enumerate(runs):
        homes.setdefault(key, index)
    for index, (_, ops) in enumerate(runs):
        for op in ops:
            for item in lookup.made_from.get(op, ()):
                homes.setdefault(_unit(lookup, item), index)
    return homes


def _with_introduced(
    lookup: Lookup, groups: list[Group], homes: dict[str, int]
) -> tuple[Group, ...]:
    """Return the groups with those of the ownerless right units put in place, by execution order."""
    before: dict[int, list[str]] = {}
    position = len(groups)
    for unit in reversed(_units(lookup)):
        if unit in homes:
            position = homes[unit]
        else:
            before.setdefault(position, []).insert(0, unit)
    placed: list[Group] = []
    for index in range(len(groups) + 1):
        if index in before:
            placed += _introduced_groups(lookup, before[index])
        placed += groups[index : index + 1]
    return tuple(placed)


# ---------------------------------------------------------------- one group


def _group(lookup: Lookup, ops: list[str], home_items: list[str]) -> Group:
    blocks = tuple(_blocks(lookup, ops))
    made = dict.fromkeys(_unit(lookup, item) for op in ops for item in lookup.made_from.get(op, ()))
    rewritten = dict.fromkeys(
        _unit(lookup, item)
        for op in ops
        if op not in lookup.made_from
        for item in _rewrite_items(lookup, op)
    )
    elsewhere = [item for item in (*made, *rewritten) if item not in home_items]
    fates = list(dict.fromkeys(op.fate for block in blocks for op in block.ops))
    return Group(
        phase=_left_phase(lookup, ops[0]),
        blocks=blocks,
        items=tuple(_right_item(lookup, item) for item in home_items),
        elsewhere=lookup.refs(dict.fromkeys(elsewhere)),
        fate=fates[0] if len(fates) == 1 else "mixed",
    )


def _rewrite_items(lookup: Lookup, op: str) -> tuple[str, ...]:
    rewrite = lookup.rewrite_by_id.get(lookup.fate(op).rewrite or "")
    return rewrite.right if rewrite is not None else ()


def _introduced_groups(lookup: Lookup, units: list[str]) -> Iterator[Group]:
    """Yield a group for each run of neighbouring ownerless units of one phase."""
    for phase, neighbours in groupby(units, key=lambda unit: _unit_phase(lookup, unit)):
        items = tuple(_right_item(lookup, unit) for unit in neighbours)
        fate = UNEXPLAINED if any(item.unexplained for item in items) else "introduced"
        yield Group(phase=phase, blocks=(), items=items, elsewhere=(), fate=fate)


def _unit_phase(lookup: Lookup, unit: str) -> str:
    call = lookup.right_ops.get(unit)
    if call is not None:
        return call.phase
    compiler = lookup.run.right.compiler
    graph = lookup.right_kernels[unit].graph
    backward = {
        item.id for item in (compiler.graphs if compiler else ()) if item.direction == "backward"
    }
    return "backward" if graph in backward else "forward"


def _blocks(lookup: Lookup, ops: list[str]) -> Iterator[Block]:
    """Yield the blocks of a group: neighbouring op calls with the same source line and columns."""

    def source_of(op: str) -> SourceLine | None:
        return source_line(lookup.source(op), lookup.run.case.file)

    for source, block in groupby(ops, key=source_of):
        yield Block(source, tuple(_left_op(lookup, op) for op in block))


@lru_cache(maxsize=1 << 12)
def source_line(source: SourceLocation | None, case_file: str) -> SourceLine | None:
    """Return a source location as a line with its columns marked; the whole line where no column is known."""
    if source is None:
        return None
    text = source.text.rstrip("\n")
    indent = len(text) - len(text.lstrip())
    start = max(source.column, indent) if source.column >= 0 else indent
    end = source.end_column if start < source.end_column <= len(text) else len(text)
    return SourceLine(
        place=place_text(source, case_file) if source.file else _NOWHERE,
        function=source.function,
        before=text[indent:start],
        marked=text[start:end],
        after=text[end:],
    )


def _left_op(lookup: Lookup, op: str) -> LeftOp:
    made = lookup.left_items[op]
    call, kernel = (made, None) if isinstance(made, OpCall) else (None, made)
    fate = lookup.fate(op)
    match = lookup.matched.get(op)
    rewrite = fate.rewrite if fate.rewrite in lookup.rule_of else None
    kernels = lookup.launched_left.get(op, ())
    return LeftOp(
        id=op,
        name=lookup.names[op],
        kind=kernel_kind(kernel) if kernel else "",
        work=lookup.work(op),
        arguments=arguments_text(call) if call else "",
        outputs=outputs_text(call, lookup.run.left.basis) if call else "",
        module=call.module if call else "",
        fate=fate.fate,
        rewrite=lookup.ref(rewrite) if rewrite else None,
        why="" if rewrite or _kept_in_graph(lookup, op) else fate.why,
        certainty="" if match is None or match.certainty == "certain" else match.certainty,
        kernels=lookup.refs(kernels),
        code=lookup.code_anchor(op) if kernel else "",
        links=(*lookup.made_from.get(op, ()), *lookup.rewrites_of.get(op, ()), *kernels),
    )


def _kept_in_graph(lookup: Lookup, op: str) -> bool:
    """Return whether the op call was kept and runs in a compiled graph: then its fate says all there is to say."""
    calls = [lookup.right_ops.get(item) for item in lookup.made_from.get(op, ())]
    kept = lookup.fate(op).fate == "kept"
    return kept and any(call is not None and call.graph is not None for call in calls)


def _right_item(lookup: Lookup, item: str) -> RightItem:
    made = lookup.right_ops.get(item) or lookup.right_kernels[item]
    origin = lookup.origin(item)
    nested = tuple(_right_item(lookup, kernel) for kernel in lookup.launched_right.get(item, ()))
    call, kernel = (made, None) if isinstance(made, OpCall) else (None, made)
    return RightItem(
        id=item,
        name=lookup.names[item],
        kind=kernel_kind(kernel) if kernel else "op call",
        work=lookup.work(item),
        arguments=arguments_text(call) if call else "",
        outputs=outputs_text(call, lookup.run.right.basis) if call else "",
        introduced=origin.introduced,
        unexplained=is_unexplained(origin),
        recomputed=lookup.refs(origin.recomputed),
        code=lookup.code_anchor(item) if kernel else "",
        links=(*origin.op_calls, *lookup.rewrites_of.get(item, ())),
        nested=nested,
    )


def kernel_kind(kernel: Kernel) -> str:
    """Return what a kernel is, in words; of one that nobody saw, that it is modelled."""
    if kernel.modelled:
        return f"modelled {kernel.kind} kernel" if kernel.kind != "memcpy" else "modelled memcpy"
    words = {"cpp": "C++ kernel", "triton": "Triton kernel", "library": "library kernel"}
    return words.get(kernel.kind, kernel.kind)
