"""What the workload sent, written down before it acts: the record that the judgement starts from.

Every line goes to the file in one `write` of the operating system before the call returns, so a
killed sender leaves at most an attempt without an outcome, which has to be read as unknown. The
ledger decides nothing and is never read back by its writer.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

from lab.program.whole_file import append_line
from nodes.store.message_digest import MessageDigest


class Outcome(StrEnum):
    """How an attempt ended: `unknown` when the connection was lost after the final dot."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LedgerMessage:
    """A message of the plan; `date` is its `Date:` header as ISO 8601 in UTC; `hops`, its Received
    fields, and `digest` are of what is sent, by who sends it.
    """

    message_id: str
    mail: str
    date: str
    sender: str
    recipients: Sequence[str]
    size_bytes: int
    hops: int
    digest: MessageDigest


class LedgerFile:
    """The ledger on disk: one whole line a write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def append(self, line: str) -> None:
        """`line` without its end. Raises OSError."""
        append_line(self._descriptor, self._path, line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


class Ledger:
    """Gives JSON lines to `append`; times are lab ms since the start, `mono_ns` beside each."""

    def __init__(
        self,
        append: Callable[[str], None],
        lab_ms: Callable[[int], int],
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._append = append
        self._lab_ms = lab_ms
        self._monotonic_ns = monotonic_ns

    def message(self, message: LedgerMessage) -> None:
        """Before the first attempt."""
        now_ns = self._monotonic_ns()
        self._write(
            {
                "type": "message",
                "message_id": message.message_id,
                "mail": message.mail,
                "submitted_ms": self._lab_ms(now_ns),
                "date": message.date,
                "sender": message.sender,
                "recipients": list(message.recipients),
                "size_bytes": message.size_bytes,
                "hops": message.hops,
                "mono_ns": now_ns,
                **message.digest.columns(),
            }
        )

    def attempt(self, message_id: str, attempt: int, server: str) -> None:
        """Before the connection is opened."""
        now_ns = self._monotonic_ns()
        self._write(
            {
                "type": "attempt",
                "message_id": message_id,
                "attempt": attempt,
                "server": server,
                "started_ms": self._lab_ms(now_ns),
                "mono_ns": now_ns,
            }
        )

    def outcome(
        self,
        message_id: str,
        attempt: int,
        server: str,
        outcome: Outcome,
        reply: str | None,
        reason: str,
    ) -> None:
        """As soon as the attempt's end is known; `reply` is the server's last word, if any."""
        now_ns = self._monotonic_ns()
        self._write(
            {
                "type": "outcome",
                "message_id": message_id,
                "attempt": attempt,
                "server": server,
                "outcome": outcome.value,
                "reply": reply,
                "reason": reason,
                "ended_ms": self._lab_ms(now_ns),
                "mono_ns": now_ns,
            }
        )

    def _write(self, row: dict[str, object]) -> None:
        self._append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
