"""Finds what was missed. In: a Run, its facts and rewrites. Out: places with the first condition that failed there.

It knows no op and no rule: the tables do.
"""

from collections.abc import Iterator, Sequence

from compdiff.missed.fusion_reasons import reason_told
from compdiff.missed.kernel_pairs import KernelPair
from compdiff.missed.place import AnyPlace, Opportunity, Site
from compdiff.missed.table import OPPORTUNITIES
from compdiff.model import Missed, Rewrite, Run
from compdiff.rewrites.facts import Facts


def find_missed(run: Run, facts: Facts, rewrites: Sequence[Rewrite]) -> tuple[Missed, ...]:
    """Return the places that a reader expects to be rewritten, that cost a launch or bytes, and whose reason is known.

    The dearest come first: by bytes, then by launches.
    """
    if run.failure is not None or not facts.graphs:
        return ()
    site = Site(run, facts, tuple(rewrites))
    expected = (row for row in OPPORTUNITIES if row.expected)
    found = [one for row in expected for one in places(row, site) if one.condition]
    worth = (one for one in found if one.launches or one.bytes_moved)
    return tuple(sorted(worth, key=lambda one: (-one.bytes_moved, -one.launches)))


def places(opportunity: Opportunity[AnyPlace], site: Site) -> Iterator[Missed]:
    """Yield each place where a rule might have applied and did not."""
    for place in opportunity.find(site):
        if place.left:
            yield _missed(opportunity, place)


def _missed(opportunity: Opportunity[AnyPlace], place: AnyPlace) -> Missed:
    condition, why, location = first_failure(opportunity, place)
    return Missed(
        rule=opportunity.rule,
        left=place.left,
        right=place.right,
        condition=condition,
        why=why,
        quote=place.quote,
        location=location,
        source=place.source,
        launches=place.cost.launches,
        bytes_moved=place.cost.bytes_moved,
    )


def first_failure(opportunity: Opportunity[AnyPlace], place: AnyPlace) -> tuple[str, str, str]:
    """Return (condition, sentence, file of torch) for what failed first; torch's own reason comes before all."""
    if isinstance(place, KernelPair) and place.quote:
        return reason_told(place)
    for need in opportunity.needs:
        why = need.failure(place)
        if why:
            return need.name, why, need.location
    return "", opportunity.rest.format(it=place), ""
