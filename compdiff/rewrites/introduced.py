"""Why the right side has an item that no left op call asked for. In: the facts and the item. Out: a reason, or ""."""

import re
from dataclasses import dataclass

from compdiff.align.liveness import is_view
from compdiff.model import Kernel, OpCall
from compdiff.rewrites.facts import Facts


@dataclass(frozen=True)
class Reason:
    """A reason, for items whose name (op call) or nodes (kernel) fit `pattern`."""

    pattern: str
    text: str


_VIEW_AGAIN = (
    "AOTAutograd's runtime wrapper makes a view again that the function returns or mutates"
)
# Op calls inside a graph's call that no wrapper call made, or outside graphs, by op name.
OP_CALL_REASONS = (
    Reason(
        r"::_local_scalar_dense$",
        "reads a value on the host: a branch, a loop or a size of the graph depends on it",
    ),
    Reason(r"randint|inductor_seeds", "draws the seed for the generated random numbers"),
    Reason(r"::copy_$", "writes a result back into a tensor that the function mutates"),
    Reason(r"::(reshape|detach|_unsafe_view)$", _VIEW_AGAIN),
    Reason(r"::lift_fresh$", "hands a number of Python to a graph as a tensor"),
    # Source: WorkspaceArg, WorkspaceZeroMode, torch/_inductor/codegen/common.py (torch 2.14).
    Reason(
        r"::zero_$", "clears the workspace in which the blocks of a split scan or reduction meet"
    ),
    Reason(r"::(empty|empty_strided|empty_like)$", "allocates a buffer of the wrapper"),
    Reason(
        r"::(clone|contiguous)$",
        "copies an input into the layout or alignment that the graph was compiled for",
    ),
)
# Post-grad targets of a kernel whose nodes have no origin.
NODE_REASONS = (
    Reason(r"copy_", "writes a result back into a tensor that the function mutates"),
    Reason(r"force_stride_order", "copies a result into the layout that eager mode gives it"),
    Reason(r"clone|constant_pad|copy", "copies a tensor into the layout that the next call needs"),
    Reason(
        r"inductor_(seeds|random|lookup_seed)", "draws random numbers with Inductor's own generator"
    ),
    Reason(r"full|iota|scalar_tensor", "stores a constant that the graph needs in memory"),
)


def reason_introduced(facts: Facts, item: str, made: OpCall | Kernel) -> str:
    """Return why the right side has this item, or "" when nothing says."""
    prepared = facts.alignment.prepares.get(item)
    if prepared is not None:
        return _reason_beside(made, facts.items[prepared], prepared)
    if facts.alignment.right.compiler is None:
        # Nobody tells what a compiler did, if there was one.
        alone = isinstance(made, Kernel) and made.op_call is None and made.name in facts.left_alone
        otherwise = (
            "runs on the left side too, where no op call launched it either" if alone else ""
        )
        return facts.alignment.replays.get(item, otherwise)
    if made.graph is not None and made.call is not None:
        return _reason_of_nodes(facts, item)
    if isinstance(made, OpCall):
        return _first_reason(OP_CALL_REASONS, made.name) or (_VIEW_AGAIN if is_view(made) else "")
    if made.op_call is not None:
        return f"launched by c{made.op_call}, which was introduced"
    return {"memcpy": "copies between host and device", "memset": "clears memory"}.get(
        made.kind, ""
    )


def _reason_beside(made: OpCall | Kernel, library: OpCall | Kernel, item: str) -> str:
    """Return what a kernel does that names a library call's node: something before the call, or after it."""
    name = f"{library.name} ({item})"
    if made.call is not None and library.call is not None and made.call > library.call:
        return f"goes on with the result of {name}: adds its bias, or gives it the layout that is asked for"
    return f"copies an input of {name} into the layout that it needs"


def _reason_of_nodes(facts: Facts, item: str) -> str:
    nodes = facts.nodes_of(item)
    for ref in facts.alignment.item_nodes.get(item, ()):
        compile_id = facts.graphs[ref.graph].compile_id
        event = facts.alignment.lineage.frames[compile_id].made_by.get(ref.name)
        if event is not None:
            return f"made by {event.stage}: {event.pattern or event.pass_name}"
    if nodes and all(node.op == "placeholder" for node in nodes):
        return "copies inputs of the graph into the layout that its calls need"
    return next((text for node in nodes if (text := _first_reason(NODE_REASONS, node.target))), "")


def _first_reason(table: tuple[Reason, ...], text: str) -> str:
    return next((reason.text for reason in table if re.search(reason.pattern, text)), "")
