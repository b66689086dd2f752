"""Sessions that a server opened, from its connectivity log: what for, whether they stood, and how
they ended. A name is unique within one life of a server and comes again after a restart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spark_eval.read.rows import ConnectivityRow

OPENED, STANDS, ENDED = "+", "Established connection", "-"
QUESTION = "XQDISCARD "
_MESSAGES = re.compile(r"Messages: ([0-9]+)")
_RETRY = re.compile(r"\(Retry : (.*)\)(?:;Mono=[0-9]+)?$")


@dataclass(frozen=True, slots=True)
class Session:
    """`rows` in order, from its opening to its end, as far as the log has them."""

    rows: tuple[ConnectivityRow, ...]

    @property
    def opened(self) -> ConnectivityRow | None:
        return self.rows[0] if self.rows[0].way == OPENED else None

    @property
    def ended(self) -> ConnectivityRow | None:
        last = self.rows[-1]
        return last if is_end(last) else None

    @property
    def purpose(self) -> str | None:
        return self.opened.said if self.opened else None

    @property
    def gave_up(self) -> str | None:
        """Why it ended otherwise than in good order."""
        found = _RETRY.search(self.ended.description) if self.ended else None
        return found[1] if found else None

    @property
    def stood(self) -> ConnectivityRow | None:
        """The row that says that it stands, right after its opening."""
        second = self.rows[1] if len(self.rows) > 1 else None
        return second if second is not None and second.said.startswith(STANDS) else None

    @property
    def messages(self) -> int | None:
        """How many it carried, by its end."""
        found = _MESSAGES.match(self.ended.said) if self.ended else None
        return int(found[1]) if found else None

    @property
    def is_lost_heartbeat(self) -> bool:
        """Whether it was opened for a heartbeat and never stood, or broke before an answer."""
        if self.purpose != "heartbeat" or len(self.rows) < 2:
            return False
        second = self.rows[1]
        broke = second.said == STANDS and len(self.rows) == 3 and bool(self.gave_up)
        return second.way == ENDED or broke

    @property
    def is_known_to_stand(self) -> bool:
        """Whether it said anything between its opening and its end."""
        return len(self.rows) != 2 or self.opened is None


def is_end(row: ConnectivityRow) -> bool:
    return row.way == ENDED and not row.said.startswith(QUESTION)


def sessions_of(rows: Iterable[ConnectivityRow]) -> Iterator[tuple[str, Session]]:
    """By server. A session ends with its end, or where one of its name is opened anew."""
    under_way: dict[tuple[str, str], list[ConnectivityRow]] = {}
    for row in sorted(rows, key=lambda row: row.ref):
        if not row.session:
            continue
        key = (row.server, row.session)
        if row.way == OPENED and under_way.get(key):
            yield row.server, Session(tuple(under_way.pop(key)))
        under_way.setdefault(key, []).append(row)
        if is_end(row):
            yield row.server, Session(tuple(under_way.pop(key)))
    for (server, _), left in sorted(under_way.items()):
        yield server, Session(tuple(left))
