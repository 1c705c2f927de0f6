"""Options that commands on an archive share. In: what was typed. Out: an open Archive, a Filter."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

import click
import msgspec

from compdiff.archive import Archive, Filter
from compdiff.archive.texts import utc
from compdiff.cli.values import parse_value

DEFAULT_LOCATION = "compdiff-archive"
Command = TypeVar("Command", bound=Callable[..., Any])

archive_option = click.option(
    "--archive",
    "location",
    envvar="COMPDIFF_ARCHIVE",
    default=DEFAULT_LOCATION,
    show_default=True,
    help="Folder, or postgresql://user@host/database; also from COMPDIFF_ARCHIVE.",
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for scripts.",
)
_AGE = re.compile(r"(\d{1,6})([hdwmy])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}


@contextmanager
def opened(location: str) -> Iterator[Archive]:
    """Give an archive that is open, and close it."""
    with closing(Archive.open(location)) as archive:
        yield archive


def age(ctx: click.Context, param: click.Parameter, value: str | None) -> timedelta | None:
    """Return a length of time, as a callback of click: `12h`, `30d`, `8w`, `6m`, `1y`.

    Raises:
        click.BadParameter: it is none.
    """
    del ctx, param
    if value is None:
        return None
    found = _AGE.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no age: write 12h, 30d, 8w, 6m or 1y.")
    return timedelta(hours=int(found[1]) * _HOURS[found[2]])


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """Return a time, as a callback of click: an age, or an ISO date, with a time and a zone or not (the local one).

    Raises:
        click.BadParameter: it is none.
    """
    if value is None:
        return None
    try:
        if _AGE.fullmatch(value):
            return datetime.now(timezone.utc) - (age(ctx, param, value) or timedelta())
        return datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone()
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(
            f"{value!r} is no time: write 2026-12-31, 2026-12-31T18:00 or 30d."
        ) from error


_TEXTS = {
    "--case": "The case's name.",
    "--device": "`cpu`, `cuda`, or a part of the device's name.",
    "--target": "The GPU it was planned for.",
    "--basis": "`measured`, `planned` or `imported`.",
    "--torch": "Versions of torch: '>=2.12', 2.14.",
    "--triton": "Versions of Triton.",
    "--cuda": "Versions of CUDA.",
    "--driver": "Versions of the driver.",
    "--host": "The machine's name.",
    "--branch": "The branch that was checked out.",
    "--commit": "The start of a commit.",
    "--tag": "A tag.",
}


def filter_options(command: Command) -> Command:
    """Add the options that choose runs; the command takes them all as `**chosen`, for `make_filter`."""
    options = [
        *(click.option(name, default="", help=text) for name, text in _TEXTS.items()),
        click.option(
            "--param", multiple=True, metavar="NAME=VALUE", help="A parameter of its inputs."
        ),
        click.option(
            "--option", multiple=True, metavar="NAME=VALUE", help="An argument of torch.compile."
        ),
        click.option(
            "--since", metavar="TIME", callback=moment, help="Measured at this time or later."
        ),
        click.option("--until", metavar="TIME", callback=moment, help="Measured before this time."),
        click.option("--dirty/--clean", default=None, help="With uncommitted changes, or without."),
        click.option("--pinned/--unpinned", default=None, help="Pinned, or not."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def make_filter(chosen: dict[str, Any], limit: int | None = None) -> Filter:
    """Return the filter that options ask for."""
    texts = {name.removeprefix("--"): chosen[name.removeprefix("--")] for name in _TEXTS}
    return Filter(
        **texts,
        params=_pairs(chosen["param"]),
        options=_pairs(chosen["option"]),
        since=utc(chosen["since"]) if chosen["since"] else "",
        until=utc(chosen["until"]) if chosen["until"] else "",
        dirty=chosen["dirty"],
        pinned=chosen["pinned"],
        limit=limit,
    )


def _pairs(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a name and a JSON value."""
    found = []
    for text in texts:
        name, separator, value = text.partition("=")
        if not (name and separator):
            raise click.UsageError(f"{text!r} is not NAME=VALUE.")
        found.append((name, msgspec.json.encode(parse_value(value)).decode()))
    return tuple(found)
