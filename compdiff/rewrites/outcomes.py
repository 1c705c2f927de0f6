"""The outcomes of a matrix product and an addition. In: a rewrite. Out: the same, with which one happened.

One dispatcher op fewer is not one device activity fewer: only the epilogue saves a pass over the output.
"""

from collections.abc import Sequence

import msgspec

from compdiff.align.traces import OpTrace
from compdiff.model import Rewrite
from compdiff.rewrites.facts import Facts

OUTCOMES = {
    "bias-epilogue": "The addition runs in the GEMM's epilogue: the output is written once, and no copy is made.",
    "seeded-output": "The bias is first copied into the output and the GEMM adds to it (beta = 1): one dispatcher op "
    "fewer, but not one device activity fewer; the copy costs one pass over the output.",
    "fused-add": "The GEMM is kept and the addition joins the next generated kernel: nothing is saved in the GEMM, but "
    "the addition costs no pass of its own.",
}
MATRIX_PRODUCTS = frozenset({"aten::addmm", "aten::baddbmm", "aten::bmm", "aten::mm"})
_ADDITIONS = frozenset({"aten::add", "aten::add_"})
_COPY_OPS = frozenset({"aten::copy_", "aten::fill_"})
_MM_RULES = frozenset({"mm-add-to-addmm"})


def outcome_of(facts: Facts, rewrite: Rewrite, traces: Sequence[OpTrace]) -> Rewrite:
    """Return `rewrite` with `outcome` set when it speaks of a matrix product and an addition."""
    outcome = ""
    if rewrite.rule in _MM_RULES:
        outcome = (
            "seeded-output"
            if any(_is_seeded(facts, item) for item in rewrite.right)
            else "bias-epilogue"
        )
    elif rewrite.rule == "addmm-unfused-bias" or any(
        _adds_to_product(facts, trace) for trace in traces
    ):
        outcome = "fused-add"
    if not outcome:
        return rewrite
    return msgspec.structs.replace(rewrite, outcome=outcome, outcome_why=OUTCOMES[outcome])


def _is_seeded(facts: Facts, item: str) -> bool:
    """Return whether an op call copied the bias into its output first, as its inner ops or kernels show."""
    inner = getattr(facts.items[item], "inner", ())
    copies = any(kernel.kind == "memcpy" for kernel in facts.launched_by(item))
    return copies or any(name in _COPY_OPS for name in inner)


def _adds_to_product(facts: Facts, trace: OpTrace) -> bool:
    """Return whether the call is an addition in a generated kernel that reads a matrix product's result."""
    if trace.call.name not in _ADDITIONS or not facts.generated(trace):
        return False
    read = {meta.value for meta in trace.call.inputs}
    return any(
        other.name in MATRIX_PRODUCTS and any(meta.value in read for meta in other.outputs)
        for other in facts.alignment.left.op_calls
    )
