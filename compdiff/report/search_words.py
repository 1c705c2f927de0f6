"""What a reader of a report may search for by field. In: Page. Out: words such as `fate:fused`, for the box to offer."""

from collections.abc import Iterator

from compdiff.report.view import Page

_MOST = 60


def search_words(page: Page) -> tuple[str, ...]:
    """Return the fates, rules, passes and files of a page, each once, none with a space in it."""
    words = dict.fromkeys(_words(page))
    return tuple(word for word in words if " " not in word)[:_MOST]


def _words(page: Page) -> Iterator[str]:
    yield from (f"fate:{group.fate}" for group in page.rows if group.fate != "mixed")
    yield from (f"rule:{card.rule}" for card in page.rewrites)
    yield from (f"pass:{card.by_pass.rpartition(' ')[2]}" for card in page.rewrites if card.by_pass)
    yield from (f"file:{card.source.rpartition(':')[0]}" for card in page.rewrites if card.source)
