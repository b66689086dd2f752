"""A primary message: one that a server answered for, with its forks.

The key is (server, database id, internal id), so a Message-Id accepted twice is two of them. A
primary is born by RECEIVE, by the promotion of a shadow message, or by resubmission from a Safety
Net; `born.source` distinguishes those two. LOAD after a restart proves one whose RECEIVE the kill
swallowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from spark_eval.read.rows import TrackingRow

REDUNDANCY, SAFETY_NET, AGENT = "REDUNDANCY", "SAFETYNET", "AGENT"
ACCEPTED = "accepted"


class Key(NamedTuple):
    """A message in one queue database."""

    server: str
    database_id: str
    internal_id: str


@dataclass(slots=True)
class Primary:
    """Rows of its server about it, each the first of its kind: `born`, `redirect` (HAREDIRECT),
    `failure` (HAREDIRECTFAIL of a message that was accepted), `loaded`, `transferred` (what content
    conversion made of it). `done`: what became of each recipient, first and last row.
    """

    key: Key
    message_id: str | None = None
    network_message_id: str | None = None
    born: TrackingRow | None = None
    redirect: TrackingRow | None = None
    failure: TrackingRow | None = None
    loaded: TrackingRow | None = None
    transferred: TrackingRow | None = None
    last_loaded_ms: int | None = None

    @property
    def is_there(self) -> bool:
        """Whether its server is known to have had it durably."""
        return self.born is not None or self.loaded is not None

    @property
    def size_bytes(self) -> int | None:
        """By which it is routed: of what is stored."""
        row = self.transferred or self.born or self.loaded
        return row.size_bytes if row else None

    @property
    def is_promoted(self) -> bool:
        return _is_from(self.born, REDUNDANCY)

    @property
    def is_resubmitted(self) -> bool:
        return _is_from(self.born, SAFETY_NET)

    @property
    def recipients(self) -> tuple[str, ...]:
        """For whom its server answers."""
        row = self.born or self.loaded
        return tuple(dict.fromkeys(row.recipients or ())) if row else ()


def _is_from(row: TrackingRow | None, source: str) -> bool:
    return row is not None and row.event == "RESUBMIT" and row.source == source


def key_of(row: TrackingRow) -> Key | None:
    """None of a row that names no internal id."""
    if row.internal_id is None:
        return None
    return Key(row.server, row.database_id or "", row.internal_id)


def is_journal_report(row: TrackingRow) -> bool:
    """Whether a server says by that row that it made a journal report (F§1.3: `reference` names the
    message that it is about).
    """
    return row.event == "RECEIVE" and row.source == AGENT


def is_made_here(row: TrackingRow) -> bool:
    """Whether its server made that message itself: a side effect of another one (SM-10)."""
    return row.event == "DSN" or is_journal_report(row)


def is_birth(row: TrackingRow) -> bool:
    return (row.event == "RECEIVE" and row.source != AGENT) or (
        row.event == "RESUBMIT" and row.source in (REDUNDANCY, SAFETY_NET)
    )


def is_conversion(row: TrackingRow) -> bool:
    """Whether its server says by that row that content conversion made another message of it."""
    return row.event == "TRANSFER" and row.source == "ROUTING"


def is_acceptance_without_shadow(row: TrackingRow) -> bool:
    return row.event == "HAREDIRECTFAIL" and (row.outcome or ACCEPTED) == ACCEPTED


def order_of(row: TrackingRow) -> tuple[int, tuple[str, int]]:
    return (row.at_ms if row.mono_ns is None else row.mono_ns), row.ref


def primaries_of(rows: Iterable[TrackingRow]) -> dict[Key, Primary]:
    """Of the rows of one message, in any order."""
    found: dict[Key, Primary] = {}
    for row in sorted(rows, key=order_of):
        is_load = row.event == "LOAD" and row.context == "delivery"
        is_own = row.event in ("HAREDIRECT", "HAREDIRECTFAIL") or is_conversion(row)
        about = is_load or is_birth(row) or is_own
        if about and (key := key_of(row)) is not None:
            _take(found.setdefault(key, Primary(key)), row, is_load=is_load)
    return {key: each for key, each in found.items() if each.is_there or each.redirect is not None}


def _take(primary: Primary, row: TrackingRow, *, is_load: bool) -> None:
    primary.message_id = max(primary.message_id or "", row.message_id or "") or None
    known = primary.network_message_id or ""
    primary.network_message_id = max(known, row.network_message_id or "") or None
    if is_load:
        primary.loaded = primary.loaded or row
        primary.last_loaded_ms = max(primary.last_loaded_ms or row.at_ms, row.at_ms)
    elif is_birth(row):
        primary.born = primary.born or row
    elif is_conversion(row):
        primary.transferred = primary.transferred or row
    elif row.event == "HAREDIRECT":
        primary.redirect = primary.redirect or row
    elif is_acceptance_without_shadow(row):
        primary.failure = primary.failure or row
