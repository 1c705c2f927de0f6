"""The parts of diff.json that say what was missed. In: Diff. Out: documents in which every field is written."""

import msgspec

from compdiff.model import Missed, WhyNot


class MissedDoc(msgspec.Struct, frozen=True, kw_only=True):
    """A place where a rule nearly applied, as in the model."""

    rule: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    condition: str
    why: str
    quote: str
    location: str
    source: str
    launches: int
    bytes_moved: int


class WhyNotDoc(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `--why-not RULE`, as in the model."""

    rule: str
    applied: tuple[str, ...]
    missed: tuple[MissedDoc, ...]
    nothing: str


def missed_documents(missed: tuple[Missed, ...]) -> tuple[MissedDoc, ...]:
    """Return a document for each missed place."""
    return tuple(_missed(one) for one in missed)


def _missed(missed: Missed) -> MissedDoc:
    return MissedDoc(
        rule=missed.rule,
        left=missed.left,
        right=missed.right,
        condition=missed.condition,
        why=missed.why,
        quote=missed.quote,
        location=missed.location,
        source=missed.source,
        launches=missed.launches,
        bytes_moved=missed.bytes_moved,
    )


def why_not_document(answer: WhyNot | None) -> WhyNotDoc | None:
    """Return the document of an answer; None where nobody asked."""
    if answer is None:
        return None
    return WhyNotDoc(
        rule=answer.rule,
        applied=answer.applied,
        missed=missed_documents(answer.missed),
        nothing=answer.nothing,
    )
