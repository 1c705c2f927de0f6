"""The scheduler's reasons in plain words. In: what it logged for a pair of kernels. Out: one sentence with the numbers.

Sources (torch 2.14): Scheduler.can_fuse and can_fuse_vertical, torch/_inductor/scheduler.py; SIMDScheduling.can_fuse,
codegen/simd.py; InductorChoices.can_fuse, choices.py. Words that no row reads are shown as they are.
"""

import re
from dataclasses import dataclass

from compdiff.missed.kernel_pairs import KernelPair

_SCHEDULER = "torch/_inductor/scheduler.py"
_SIMD = "torch/_inductor/codegen/simd.py"
_CHOICES = "torch/_inductor/choices.py"


@dataclass(frozen=True, kw_only=True)
class FusionReason:
    """One reason: `words` is a pattern over what torch logs, `text` a sentence with its groups and the pair's properties.

    A reason `of_the_whole` has numbers of the whole kernels: it does not tell what was said of parts of them.
    """

    name: str
    words: str
    text: str
    location: str
    of_the_whole: bool = False


FUSION_REASONS = (
    FusionReason(
        name="reductions_of_one_shape",
        words=r"numel/rnumel mismatch \(reduce\) \((?P<n1>.+), (?P<n2>.+)\), \((?P<r1>.+), (?P<r2>.+)\)",
        text="The first kernel reduces rows of {r1} elements ({n1} of them), the second rows of {r2} ({n2}): no "
        "loop does both.",
        location=_SIMD,
    ),
    FusionReason(
        name="loops_of_one_length",
        words=r"numel/rnumel mismatch \(non-reduce\) \((?P<n1>.+), (?P<n2>.+)\), \((?P<r1>.+), (?P<r2>.+)\)",
        text="The first kernel makes {n1} elements, the second {n2}: they have no loop in common.",
        location=_SIMD,
    ),
    FusionReason(
        name="rows_fit_the_reduction",
        words=r"nodes numel(/rnumel)? incompatibility",
        text="The reduction ({it.reductions}) and the elements of the other kernel ({it.other_shape}) do not fit one loop.",
        location=_SIMD,
        of_the_whole=True,
    ),
    FusionReason(
        name="tiles_fit",
        words=r"tiling mismatch|invalid tiling for reduction|invalid loop order",
        text="Both go over {it.tensors_text}, but their loops are tiled in different ways.",
        location=_SIMD,
    ),
    FusionReason(
        name="goes_over_it_alike",
        words=r"no shared data",
        text="The second kernel loads {it.tensors_text} in another loop than the one that stores it: the two go over it in "
        "different shapes or orders.",
        location=_CHOICES,
    ),
    FusionReason(
        name="reads_what_was_just_written",
        words=r"memory deps did not match",
        text="The second kernel reads {it.tensors_text} at other places than the first has just written (shifted, "
        "transposed, gathered or reduced).",
        location=_SCHEDULER,
    ),
    FusionReason(
        name="nothing_is_between",
        words=r"intermediate nodes between|will create cycle",
        text="Another kernel lies between: it needs a result of the first, and the second needs its result.",
        location=_SCHEDULER,
    ),
    FusionReason(
        name="is_on_one_device",
        words=r"device mismatch \((?P<first>.+) vs (?P<second>.+)\)",
        text="The first kernel runs on {first}, the second on {second}.",
        location=_SCHEDULER,
    ),
    FusionReason(
        name="takes_an_epilogue",
        words=r"node1 is extern but not a triton kernel",
        text="{it.first.name} is a library call, which takes no epilogue; a Triton template would (mode max-autotune).",
        location=_SCHEDULER,
    ),
    FusionReason(
        name="epilogue_fits_the_template",
        words=r"template epilogue not satisfied",
        text="The template takes no reduction and nothing that writes in place as its epilogue.",
        location=_SCHEDULER,
    ),
    FusionReason(
        name="is_small_enough",
        words=r"exceeds max fusion",
        text="Both together have more ops than one kernel may have (option max_fusion_size).",
        location=_CHOICES,
    ),
    FusionReason(
        name="keeps_memory_low",
        words=r"Fusion will increase peak memory|Nodes are too far away",
        text="One kernel for both would hold more memory at its peak.",
        location=_CHOICES,
    ),
)


def reason_told(pair: KernelPair) -> tuple[str, str, str]:
    """Return (condition, sentence, file of torch) for what the scheduler said of a pair."""
    whole = pair.said is not None and pair.said.whole
    for row in FUSION_REASONS:
        match = re.match(row.words, pair.quote)
        if match and (whole or not row.of_the_whole):
            return row.name, row.text.format(it=pair, **match.groupdict()), row.location
    whom = "the two" if whole else "parts of the two"
    return "scheduler_agrees", f"The scheduler says of {whom}: {pair.quote}.", _SCHEDULER
