"""How often each message of a run is there: groups, clones, and what makes the mail uneven."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.multiplied.template import DIGITS, NotOurs, Recorded, message_number

MAX_GROUPS = 16
SHIFTS = 5
WIDE_CLONE = 10**DIGITS - 1


@dataclass(frozen=True, slots=True)
class Copies:
    """`busy_clones` instead of `clones` for the messages `busy` (their numbers), in the first group
    alone. The message `wide_message` is there once more in the first group, to `wide` mailboxes.
    """

    groups: int
    clones: int
    busy: frozenset[str] = frozenset()
    busy_clones: int = 0
    wide: int = 0
    wide_message: str = ""
    wide_recipient: str = ""

    def tags(self, group: int, number: str) -> list[str]:
        """What stands at the marker of a clone, for each clone of a message in a group."""
        is_busy = group == 0 and number in self.busy
        count = self.busy_clones if is_busy else self.clones
        return [tag(clone) for clone in range(count)]

    def most(self, group: int) -> int:
        """As many copies as any message has in a group."""
        if group:
            return self.clones
        return max(self.clones, self.busy_clones) + bool(self.wide)

    @property
    def shifts_s(self) -> range:
        """A group's clock is ahead by one of these, in turn."""
        return range(min(SHIFTS, self.groups))

    def messages(self, recorded: int) -> int:
        """How many the multiplied run has, of so many recorded."""
        more_busy = len(self.busy) * max(0, self.busy_clones - self.clones)
        return recorded * self.groups * self.clones + more_busy + bool(self.wide)


def tag(number: int) -> str:
    return f"{number:0{DIGITS}d}"


def copies_for(
    recorded: Recorded, rows: int, *, busy_server: str = "", wide: int = 0, groups: int = MAX_GROUPS
) -> Copies:
    """For at least about `rows` tracking rows. With `busy_server`, that server of the first group
    accepts half of all mail. Raises `NotOurs`.
    """
    even_rows = rows // 2 if busy_server else rows
    factor = max(1, -(-even_rows // recorded.tracking_rows))
    groups = min(groups, factor)
    clones = -(-factor // groups)
    return Copies(
        groups, clones, *_busy(recorded, busy_server, groups * clones, clones), wide,
        *(_wide(recorded) if wide else ()),
    )  # fmt: skip


def _busy(recorded: Recorded, server: str, factor: int, clones: int) -> tuple[frozenset[str], int]:
    if not server:
        return frozenset(), 0
    if any(",DSN,DSN," in row for lines in recorded.files.values() for row in lines):
        raise NotOurs("a run with DSNs has no busy server: a DSN has no number of a message")
    rows = _ledger(recorded)
    accepted = {row["message_id"]: row["server"] for row in rows if row.get("outcome") == "ok"}
    mine = frozenset(
        message_number(recorded.plan, name) for name, by in accepted.items() if by == server
    )
    if not mine:
        raise NotOurs(f"{server!r} accepted no message of this run")
    others = len(accepted) * factor - len(mine) * clones
    return mine, max(clones, -(-others // len(mine)))


def _wide(recorded: Recorded) -> tuple[str, str]:
    """The first message to one mailbox that was acknowledged at once, and its recipient."""
    rows = _ledger(recorded)
    first_ok = {
        row["message_id"] for row in rows if row.get("outcome") == "ok" and row["attempt"] == 1
    }
    mailboxes = {box["address"] for box in recorded.plan["topology"]["mailboxes"]}
    for row in rows:
        if row["type"] == "message" and row["message_id"] in first_ok:
            (recipient, *others) = row["recipients"]
            if not others and recipient in mailboxes:
                return message_number(recorded.plan, row["message_id"]), recipient
    raise NotOurs("no message of this run has one mailbox as its recipient")


def _ledger(recorded: Recorded) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in recorded.files["ledger.jsonl"]]
