"""Kernels that might be one. In: post-grad graphs. Out: pairs that stayed two, and what stands in the way by their shapes.

Where the scheduler gave its reason, that counts (`fusion_reasons`); these conditions stand in where it did not.
"""

from collections.abc import Iterator

from compdiff.missed.kernel_pairs import KernelPair, kernel_pairs
from compdiff.missed.place import Need, Opportunity, Site

_SCHEDULER = "torch/_inductor/scheduler.py"


def generated_pairs(site: Site) -> Iterator[KernelPair]:
    """Yield the pairs that Inductor generated both of, each with other op calls' work."""
    for pair in kernel_pairs(site):
        if pair.first.is_generated and pair.second.is_generated and pair.is_of_several_op_calls:
            yield pair


def reduction_pairs(site: Site) -> Iterator[KernelPair]:
    """Yield those with a reduction."""
    return (pair for pair in generated_pairs(site) if pair.reduced or pair.reduced_second)


def pointwise_pairs(site: Site) -> Iterator[KernelPair]:
    """Yield those without a reduction."""
    return (pair for pair in generated_pairs(site) if not (pair.reduced or pair.reduced_second))


def epilogue_pairs(site: Site) -> Iterator[KernelPair]:
    """Yield the pairs whose first kernel is a library call and whose second Inductor generated."""
    for pair in kernel_pairs(site):
        if not pair.first.is_generated and pair.second.is_generated:
            yield pair


# ---------------------------------------------------------------- conditions


def is_on_one_device(pair: KernelPair) -> bool:
    """Return whether both kernels run on one device. Source: Scheduler.can_fuse, scheduler.py (torch 2.14)."""
    return len(pair.devices) <= 1


def reduces_alike(pair: KernelPair) -> bool:
    """Return whether not both reduce, or both the same way.

    Source: SIMDScheduling.can_fuse, codegen/simd.py (torch 2.14).
    """
    return not pair.reduced or not pair.reduced_second or pair.reduced == pair.reduced_second


def takes_an_epilogue(pair: KernelPair) -> bool:
    """Return whether the first kernel is no library call. Source: Scheduler.can_fuse, scheduler.py (torch 2.14)."""
    return pair.first.is_generated


def nothing_is_between(pair: KernelPair) -> bool:
    """Return whether no other kernel needs the first and is needed by the second.

    Source: Scheduler.can_fuse_vertical, scheduler.py.
    """
    return pair.between is None


NOTHING_BETWEEN = Need(
    holds=nothing_is_between,
    otherwise="{it.between.name} ({it.between.item}) lies between: it needs a result of the first, and the second "
    "needs its.",
    location=_SCHEDULER,
)
SHAPE_NEEDS = (
    NOTHING_BETWEEN,
    Need(
        holds=is_on_one_device,
        otherwise="They run on {it.devices[0]} and {it.devices[1]}.",
        location=_SCHEDULER,
    ),
    Need(
        holds=reduces_alike,
        otherwise="The first kernel reduces {it.reduced}, the second {it.reduced_second}.",
        location="torch/_inductor/codegen/simd.py",
    ),
)
_REST = "The second kernel reads {it.tensors_text}, which the first stores; why they are two is not recorded."
REDUCTIONS = Opportunity(
    rule="reduction-fusion",
    kind="pair of generated kernels with a reduction, one feeding the other,",
    find=reduction_pairs,
    needs=SHAPE_NEEDS,
    rest=_REST,
    expected=True,
)
POINTWISE = Opportunity(
    rule="pointwise-fusion",
    kind="pair of generated pointwise kernels, one feeding the other,",
    find=pointwise_pairs,
    needs=SHAPE_NEEDS,
    rest=_REST,
    expected=True,
)
EPILOGUE = Opportunity(
    rule="epilogue-fusion",
    kind="library call whose result a generated kernel takes",
    find=epilogue_pairs,
    needs=(
        NOTHING_BETWEEN,
        Need(
            holds=takes_an_epilogue,
            otherwise="{it.first.name} is a library call, which takes no epilogue but those of torch's own patterns for it.",
            location=_SCHEDULER,
        ),
    ),
)
