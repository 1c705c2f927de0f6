"""Texts as an index holds them. In: times and strings from anywhere. Out: UTC times, text for any database."""

from datetime import datetime, timezone


def utc(when: datetime, timespec: str = "seconds") -> str:
    """Return a time as the index writes it: UTC, so that texts are in the order of times."""
    text = when.astimezone(timezone.utc).isoformat(timespec=timespec)
    return text.replace("+00:00", "Z")


def utc_text(text: str) -> str:
    """Return an ISO time as the index writes it; one without a zone is UTC; "" for what is no time."""
    try:
        when = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return utc(when if when.tzinfo else when.replace(tzinfo=timezone.utc))
    except (ValueError, OverflowError):
        return ""


def plain(text: str) -> str:
    """Return a text that every index takes: PostgreSQL has no character 0, and neither has half a surrogate pair."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
