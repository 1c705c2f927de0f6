"""The two kinds of index behind one door. In: SQL with `:name` for values. Out: rows; changes in transactions.

All SQL of an archive is written once: both SQLite and SQLAlchemy's `text` take `:name`. SQLite is used directly,
because importing SQLAlchemy takes longer than any command on a folder may; URLs go through SQLAlchemy.
"""

import importlib
import re
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from compdiff.archive.schema import INDEXES, TABLES
from compdiff.errors import CompdiffError, FormatError

Value: TypeAlias = str | int | bytes | None
Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Mapping[str, Value]
_NOTHING: Values = {}

WAIT_S = 60
"""How long one writer waits for the others."""
# Any number will do that nothing else in the database locks.
_LOCK = 0x636F6D7064696666
# Ends a journal that belongs to a transaction over several databases: none of ours, and rolling it back removes a file
# that the journal names.
_JOURNAL_OF_SEVERAL = bytes.fromhex("d9d505f920a163d7")
_SQLITE_MAGIC = b"SQLite format 3\0"


class Change(Protocol):
    """Runs one statement within a transaction, and returns its rows."""

    def __call__(self, sql: str, values: Values = _NOTHING) -> list[Row]:
        """Return the rows of a statement."""


class Index(Protocol):
    """An index that is open."""

    name: str

    def rows(self, sql: str, values: Values = _NOTHING) -> list[Row]:
        """Return the rows of a query, all at once: one that is half read would keep the writers of a file waiting.

        Raises:
            CompdiffError: the index cannot be read.
        """

    def change(self) -> AbstractContextManager[Change]:
        """Return a transaction that no other writer runs beside; it is committed at the end, undone on an error.

        Raises:
            CompdiffError: the index cannot be written: then nothing was.
        """

    def tables(self) -> set[str]:
        """Return the names of all tables of compdiff's that there are."""

    def damage(self) -> list[str]:
        """Return what the database finds wrong with itself."""

    def close(self) -> None:
        """Let go of the database."""


# ---------------------------------------------------------------- SQLite


class SqliteIndex:
    """An index in one file."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.name = str(path)
        self._path = path
        if not create:
            _refuse_what_is_no_index(path)
        _refuse_foreign_journal(path)
        self._connection = self._connected("rwc" if create else "rw")
        self._refuse_foreign_tables()

    def rows(self, sql: str, values: Values = _NOTHING) -> list[Row]:
        """Return the rows of a query."""
        try:
            return self._connection.execute(sql, dict(values)).fetchall()
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
            raise self._explained("read", error) from error

    @contextmanager
    def change(self) -> Iterator[Change]:
        """Return a transaction; other writers wait."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._changed
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise self._explained("write", error) from error

    def tables(self) -> set[str]:
        """Return the names of all tables."""
        return {
            name for (name,) in self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }

    def damage(self) -> list[str]:
        """Return what SQLite's own check finds."""
        found = (str(text) for (text,) in self.rows("PRAGMA integrity_check(20)"))
        foreign = (str(row) for row in self.rows("PRAGMA foreign_key_check"))
        return [text for text in found if text != "ok"] + [f"dangling {row}" for row in foreign]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _changed(self, sql: str, values: Values = _NOTHING) -> list[Row]:
        return self._connection.execute(sql, dict(values)).fetchall()

    def _connected(self, mode: str) -> sqlite3.Connection:
        try:
            # as_uri quotes what would end the path: ?, # and %.
            uri = f"{self._path.absolute().as_uri()}?mode={mode}"
            connection = sqlite3.connect(uri, uri=True, timeout=WAIT_S, isolation_level=None)
            # Views and triggers of a database from elsewhere call no functions; a commit outlives a power failure.
            for pragma in (
                "trusted_schema = OFF",
                "cell_size_check = ON",
                "foreign_keys = ON",
                "synchronous = EXTRA",
            ):
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error as error:
            raise self._explained("open", error) from error
        return connection

    def _refuse_foreign_tables(self) -> None:
        known = TABLES | INDEXES
        query = "SELECT type, name FROM sqlite_schema"
        for kind, name in self.rows(query):
            automatic = kind == "index" and str(name).startswith("sqlite_autoindex_")
            if kind not in {"table", "index"} or not (automatic or name in known):
                self.close()
                raise FormatError(
                    f"{self.name}: holds a {kind} {name!r}, which no archive has",
                    "It is no archive, or from a newer compdiff, or somebody tampered with it.",
                )

    def _explained(self, verb: str, error: Exception) -> CompdiffError:
        code = getattr(error, "sqlite_errorname", "")
        hint = next((hint for start, hint in _SQLITE_HINTS if code.startswith(start)), "")
        return CompdiffError(f"cannot {verb} {self.name}: {error}", hint)


_READ_ONLY = "The archive is read-only here, or its last writer was killed: open it once where it can be written."
_SQLITE_HINTS = (
    ("SQLITE_READONLY", _READ_ONLY),
    ("SQLITE_CANTOPEN", _READ_ONLY),
    ("SQLITE_FULL", "The disk is full. Nothing was changed; free some space and try again."),
    ("SQLITE_IOERR", "The disk or the share failed, or is full. Nothing was changed."),
    ("SQLITE_BUSY", "Other writers held it for a minute. Try again."),
    ("SQLITE_NOTADB", "The index is damaged: restore it from a copy."),
    (
        "SQLITE_CORRUPT",
        "The index is damaged: restore it from a copy; `compdiff archive verify` says more.",
    ),
)


def _refuse_what_is_no_index(path: Path) -> None:
    """Refuse what SQLite would wait for, or take for an empty database."""
    try:
        head = _head(path) if path.is_file() else b""
    except OSError as error:
        raise CompdiffError(f"cannot read {path}: {error.strerror or error}") from error
    if not head:
        raise CompdiffError(
            f"{path.parent} is no archive: {path.name} is {'empty' if path.is_file() else 'missing'}",
            "Make one with `compdiff archive init`.",
        )
    if head != _SQLITE_MAGIC:
        raise FormatError(f"{path}: not an index of an archive", "Restore it from a copy.")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_SQLITE_MAGIC))


def _refuse_foreign_journal(path: Path) -> None:
    """Refuse a journal that was made to remove a file elsewhere."""
    journal = path.with_name(f"{path.name}-journal")
    try:
        # Asked once: other writers make and remove journals all the time.
        is_file = stat.S_ISREG(journal.lstat().st_mode)
        ending = journal.read_bytes()[-len(_JOURNAL_OF_SEVERAL) :] if is_file else b""
    except FileNotFoundError:  # there is none, or its writer has just finished
        return
    except OSError as error:
        raise CompdiffError(f"cannot read {journal}: {error.strerror or error}") from error
    if not is_file or ending == _JOURNAL_OF_SEVERAL:
        raise FormatError(
            f"{journal} is not a journal that compdiff writes",
            "Somebody may have made it to remove a file of yours: do not use this archive.",
        )


# ---------------------------------------------------------------- SQLAlchemy


class UrlIndex:
    """An index in a PostgreSQL database, through SQLAlchemy."""

    def __init__(self, url: str) -> None:
        sqlalchemy = _sqlalchemy(url)
        self._text = sqlalchemy.text
        self._error = sqlalchemy.exc.SQLAlchemyError
        try:
            parsed = sqlalchemy.make_url(url).set(drivername="postgresql+psycopg")
            self.name = parsed.render_as_string(hide_password=True)
            self._engine = sqlalchemy.create_engine(parsed, pool_pre_ping=True)
        except (self._error, ValueError) as error:
            raise CompdiffError(f"not a URL of a database: {without_password(url)}") from error

    def rows(self, sql: str, values: Values = _NOTHING) -> list[Row]:
        """Return the rows of a query."""
        try:
            with self._engine.connect() as connection:
                return [tuple(row) for row in connection.execute(self._text(sql), dict(values))]
        except self._error as error:
            raise self._explained("read", error) from error

    @contextmanager
    def change(self) -> Iterator[Change]:
        """Return a transaction; other writers wait for its lock."""
        try:
            with self._engine.begin() as connection:

                def changed(sql: str, values: Values = _NOTHING) -> list[Row]:
                    result = connection.execute(self._text(sql), dict(values))
                    return [tuple(row) for row in result] if result.returns_rows else []

                changed(f"SET LOCAL lock_timeout = '{WAIT_S}s'")
                changed("SELECT pg_advisory_xact_lock(:lock)", {"lock": _LOCK})
                yield changed
        except self._error as error:
            raise self._explained("write", error) from error

    def tables(self) -> set[str]:
        """Return the names of those tables of the current schema that an archive has."""
        query = (
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        )
        return {name for (name,) in self.rows(query)} & TABLES

    def damage(self) -> list[str]:
        """Return nothing: PostgreSQL refuses what is damaged by itself."""
        return []

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _explained(self, verb: str, error: Exception) -> CompdiffError:
        said = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        return CompdiffError(
            f"cannot {verb} {self.name}: {said}",
            "Check that the database answers and that you may use it. A run whose adding failed can be added again.",
        )


def without_password(url: str) -> str:
    """Return a URL fit for a message."""
    return re.sub(r"(://[^/@:]*):[^/]*@", r"\1:***@", url)


def _sqlalchemy(url: str) -> Any:  # noqa: ANN401 - a module that may be absent
    try:
        importlib.import_module("psycopg")
        return importlib.import_module("sqlalchemy")
    except ImportError as error:
        raise CompdiffError(
            f"{without_password(url)} needs the packages sqlalchemy and psycopg, which are not installed",
            "pip install 'compdiff[postgresql]'",
        ) from error
