"""What was missed as cards, and the answer to a question. In: Lookup. Out: what, why, at what cost, in final texts."""

import msgspec

from compdiff.model import Missed, WhyNot
from compdiff.report.cards import CardItem, make_item
from compdiff.report.lookup import Lookup, Ref
from compdiff.report.naming import short_place
from compdiff.report.quantities import count_text, list_text, size_text


class MissedCard(msgspec.Struct, frozen=True):
    """One place where a rule nearly applied."""

    id: str
    rule: str
    before: tuple[CardItem, ...]
    after: tuple[CardItem, ...]
    why: str
    condition: str
    quote: str
    location: str
    source: str
    cost: str
    links: tuple[str, ...]


class WhyNotView(msgspec.Struct, frozen=True):
    """The answer to `--why-not RULE`: `applied` links to rewrites, `sentence` sums it up."""

    rule: str
    sentence: str
    applied: tuple[Ref, ...]
    missed: tuple[MissedCard, ...]


def make_missed(lookup: Lookup) -> tuple[MissedCard, ...]:
    """Return a card for each missed place, the dearest first."""
    return _cards(lookup, lookup.diff.missed, "m")


def make_why_not(lookup: Lookup) -> WhyNotView | None:
    """Return the answer to what the user asked; None where nobody asked."""
    answer = lookup.diff.why_not
    if answer is None:
        return None
    return WhyNotView(
        rule=answer.rule,
        sentence=_sentence(answer),
        applied=lookup.refs(answer.applied),
        missed=_cards(lookup, answer.missed, "n"),
    )


def _sentence(answer: WhyNot) -> str:
    if answer.nothing:
        return answer.nothing[:1].upper() + answer.nothing[1:].rstrip(".") + "."
    if not answer.applied:
        return f"It applied nowhere, and nearly did in {count_text(len(answer.missed), 'place')}."
    applied = f"It applied {count_text(len(answer.applied), 'time')}"
    if not answer.missed:
        return f"{applied}, and came near nowhere else."
    return f"{applied}, and nearly did in {count_text(len(answer.missed), 'other place')}."


def _cards(lookup: Lookup, missed: tuple[Missed, ...], letter: str) -> tuple[MissedCard, ...]:
    return tuple(_card(lookup, one, f"{letter}{number}") for number, one in enumerate(missed, 1))


def _card(lookup: Lookup, missed: Missed, identity: str) -> MissedCard:
    return MissedCard(
        id=identity,
        rule=missed.rule,
        before=tuple(make_item(lookup, item) for item in missed.left),
        after=tuple(make_item(lookup, item) for item in missed.right),
        why=missed.why,
        condition=missed.condition.replace("_", " "),
        quote=missed.quote,
        location=missed.location,
        source=short_place(missed.source, lookup.run.case.file) if missed.source else "",
        cost=cost_text(missed),
        links=(*missed.left, *missed.right),
    )


def cost_text(missed: Missed) -> str:
    """Return what a place costs: `one kernel more, 512 KiB of memory traffic`; "" where nothing is known."""
    parts = [
        count_text(missed.launches, "kernel") + " more" if missed.launches else "",
        f"{size_text(missed.bytes_moved)} of memory traffic" if missed.bytes_moved else "",
    ]
    return list_text([part for part in parts if part])
