"""Folded repetitions as data for the script, and links into them. In: Folding. Out: JSON, HTML."""

import re
from collections.abc import Mapping

import msgspec

from compdiff.report.folding import Folding

_LINK = re.compile(r'href="#([a-z]+\d+)"')


def fold_data(folding: Folding) -> str:
    """Return the folds as JSON that may stand in a script element: `{"f1": {"cells": [...], "texts": [[...], ...]}}`.

    `cells` are the texts of the first repetition that others have otherwise, `texts` has a row for each other one.
    """
    data = {fold.id: {"cells": fold.cells, "texts": fold.texts} for fold in folding.folds}
    return msgspec.json.encode(data).decode().replace("<", "\\u003c")


def led_home(html: str, anchors: Mapping[str, str]) -> str:
    """Return a page in which links to items that are folded away lead to the first repetition of them.

    The script, which can show any repetition, goes by `data-of` instead.
    """
    if not anchors:
        return html
    return _LINK.sub(lambda found: f'href="#{anchors.get(found[1], found[1])}"', html)
