"""A SQLite file as all three databases use it: durable, of today's schema, checked before it is
trusted. A file of another schema is of no use: nothing brings it up to date.

`synchronous=FULL` in WAL mode makes each transaction durable before it is answered (TL-7). A new
file is made beside its place and renamed into it, so a file that is there was whole once: one
without tables has been cut short. What this cannot see: a `-wal` file that was cut short looks like
a transaction that never ended, and SQLite drops it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from nodes.core.model.lab_time import iso

Fill: TypeAlias = Callable[[sqlite3.Connection], object]

MOST_PAGES = 0xFFFF_FFFE  # SQLite's own limit; one below the size of a database means that size

_DAMAGED = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_IOERR_SHORT_READ,
    }
)


@cache
def schema(kind: str) -> str:
    """The SQL that makes a new database, its version too. `kind`: queue, mailbox or manager."""
    return files("nodes.store").joinpath("schema", f"{kind}.sql").read_text("utf-8")


def connect(place: Path | str) -> sqlite3.Connection:
    """Open an existing file, by its path or by a URI of SQLite's, for reading and writing.
    Transactions are begun by hand (`transaction`).
    """
    connection = sqlite3.connect(
        place if isinstance(place, str) else f"{place.absolute().as_uri()}?mode=rw",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing: commit at the end, roll back when anything is raised."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # a full disk makes SQLite roll back by itself
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def create(path: Path, kind: str, fill: Fill) -> None:
    """Make a new file with today's schema and the rows of `fill`, whole or not at all."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    connection = sqlite3.connect(unfinished, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        with transaction(connection):
            _make_tables(connection, kind)
            fill(connection)
    finally:
        connection.close()
    unfinished.rename(path)
    sync_folder(path.parent)


def _make_tables(connection: sqlite3.Connection, kind: str) -> None:
    for statement in _statements(schema(kind)):
        connection.execute(statement)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would commit on its own."""
    statement = ""
    for line in script.splitlines():
        code = line.split("--")[0]
        statement += code + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def other_version(connection: sqlite3.Connection, kind: str) -> str | None:
    """What is wrong with the version of its schema, or None."""
    version, known = _version(connection), _version(_model(kind))
    return None if version == known else f"schema version {version}: not {known}, today's"


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def limit_growth(connection: sqlite3.Connection, is_full: bool) -> None:
    """As on a disk that is full, where `is_full`: what needs one more page fails with SQLITE_FULL,
    until this is called again.
    """
    connection.execute(f"PRAGMA max_page_count = {1 if is_full else MOST_PAGES}")


def used_bytes(connection: sqlite3.Connection) -> int:
    """What its pages take of the disk, without those that are free for what comes next."""
    return _asked(connection, "page_count") * _asked(connection, "page_size") - free_bytes(
        connection
    )


def free_bytes(connection: sqlite3.Connection) -> int:
    """What the pages of its file take that are free for what comes next."""
    return _asked(connection, "freelist_count") * _asked(connection, "page_size")


def _asked(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def damage(place: Path | str, kind: str) -> str | None:
    """Why the file cannot be trusted, or None. Raises sqlite3.OperationalError where it cannot be
    opened at all.
    """
    try:
        connection = connect(place)
    except sqlite3.Error as error:
        return _why(error)
    try:
        return damage_in(connection, kind)
    finally:
        connection.close()


def damage_in(connection: sqlite3.Connection, kind: str) -> str | None:
    """The same of a database that is open."""
    try:
        return _damage(connection, kind)
    except sqlite3.Error as error:
        return _why(error)


def _why(error: sqlite3.Error) -> str:
    """The text of a damage; any other mishap (no right to open, disk error) is none of the file's
    and raised again.
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code in _DAMAGED or code & 0xFF in _DAMAGED:
        return str(error)
    raise error


def _damage(connection: sqlite3.Connection, kind: str) -> str | None:
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        return f"quick_check: {verdict}"
    present = _tables(connection)
    missing = _tables(_model(kind)) - present
    if present and (wrong := other_version(connection, kind)):
        return wrong
    if missing:
        return f"tables are missing: {', '.join(sorted(missing)) if present else 'all'}"
    if connection.execute("SELECT count(*) FROM meta").fetchone() != (1,):
        return "meta does not have one row"
    return None


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    }


def distrust(path: Path, kind: str) -> str | None:
    """Why a new file is to be made in place of what is there, or None. Raises as `damage`."""
    if path.exists():
        return damage(path, kind)
    if any(companion.exists() for companion in companions(path)):
        return "its -wal file is there without it"
    return None


def date_of(now_ms: int) -> str:
    """`20260105T080000Z`."""
    return iso(now_ms).split(".")[0].replace("-", "").replace(":", "") + "Z"


def companions(path: Path) -> tuple[Path, ...]:
    """The files that SQLite keeps beside `path` in WAL mode."""
    return tuple(path.with_name(path.name + end) for end in ("-wal", "-shm"))


def set_aside(path: Path, date: str) -> Path:
    """Rename the file and its companions to `<name>.old-<date>`, never over another; gives the new
    path.
    """
    attempt, aside = 1, path.with_name(f"{path.name}.old-{date}")
    while any(candidate.exists() for candidate in (aside, *companions(aside))):
        attempt += 1
        aside = path.with_name(f"{path.name}.old-{date}-{attempt}")
    for present, renamed in zip(
        (path, *companions(path)), (aside, *companions(aside)), strict=True
    ):
        if present.exists():
            present.rename(renamed)
    sync_folder(path.parent)
    return aside


def sync_folder(folder: Path) -> None:
    """Make renames in the folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def in_memory(kind: str, fill: Fill) -> sqlite3.Connection:
    """A database with today's schema and the rows of `fill` that lives as long as its connection:
    the disk of a simulated server.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _model(kind).backup(connection)
    with transaction(connection):
        fill(connection)
    return connection


@cache
def _model(kind: str) -> sqlite3.Connection:
    model = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _make_tables(model, kind)
    return model
