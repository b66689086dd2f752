"""strangers.jsonl: what strangers heard, one line for each reply, from the first banner to the end.

A row is written as soon as the reply is there. Nothing here says what a stranger should have heard.
"""

import json
import time
from collections.abc import Callable, Mapping
from enum import StrEnum

from lab.plan.parts import Stranger

STRANGERS_FILE = "strangers.jsonl"
MAIL, RCPT = "MAIL FROM:", "RCPT TO:"
BANNER, EHLO, STARTTLS, DATA, FINAL_DOT = "banner", "EHLO", "STARTTLS", "DATA", "."
"""What a reply can be to, beside the commands of the plan."""


class End(StrEnum):
    """How a session ended: said all it had to, sent away, closed by the server or the network
    without a word, no reply, given up after having trickled long enough, or ended with the run.
    """

    DONE = "done"
    REFUSED = "refused"
    CLOSED = "closed"
    TIMED_OUT = "timed-out"
    GAVE_UP = "gave-up"
    STOPPED = "stopped"


class StrangerRecord:
    """Gives JSON lines to `append`; times are lab ms since the start, `mono_ns` beside each."""

    def __init__(
        self,
        append: Callable[[str], None],
        lab_ms: Callable[[int], int],
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._append, self._lab_ms, self._monotonic_ns = append, lab_ms, monotonic_ns

    def reply(self, stranger: Stranger, command: str, reply: str) -> None:
        """`reply` in one line, its code in front."""
        self._write("reply", stranger, {"command": command, "reply": reply})

    def end(self, stranger: Stranger, end: End, reply: str | None, sent_bytes: int) -> None:
        """`reply`: the last word of a server that sent it away. `sent_bytes` of what trickled."""
        said = {"outcome": end.value, "reply": reply, "sent_bytes": sent_bytes}
        self._write("end", stranger, said)

    def _write(self, kind: str, stranger: Stranger, said: Mapping[str, object]) -> None:
        now_ns = self._monotonic_ns()
        row = {
            "type": kind,
            "stranger": stranger.id,
            "server": stranger.server,
            **said,
            "at_ms": self._lab_ms(now_ns),
            "mono_ns": now_ns,
        }
        self._append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
