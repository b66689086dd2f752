"""What could not be read, by file, line and kind; for a log with its place in time.

What is missing from a log between the sound rows beside the damage proves nothing. Files of a
server follow each other in time unless its clock was off: such a server may write on in an earlier
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from spark_eval.read.lines import TORN
from spark_eval.read.names import Ref, server_of
from spark_eval.read.rows import grouped

MALFORMED = "malformed line"
NO_FIELDS = "no #Fields line"
NO_SHAPE = "not what it should hold"
NO_TRACKING = "no message tracking log"
NOT_READ = "not read: logs are logs/<server>/MSGTRK*.LOG, or .LOG.gz"
NOT_UNPACKED = "no whole file of gzip"
NO_SUCH_SERVER = "of a server that plan.json does not have"
_ORDER = re.compile(r"(\d{8,10})[^/]*$"), re.compile(r"-(\d+)[.][^/]*$")
_FAMILY = re.compile(r"/([A-Za-z]+)[^/]*$")

__all__ = ["MALFORMED", "NO_FIELDS", "NO_SHAPE", "TORN", "Damage", "Span", "placed"]


class Damage(NamedTuple):
    """`server` whose log it is, or ''; `line` None where the whole file is meant. `from_ms` is None
    where nothing sound is known to come before, `to_ms` where nothing follows.
    """

    server: str
    file: str
    line: int | None
    damage: str
    from_ms: int | None = None
    to_ms: int | None = None


class Span(NamedTuple):
    """Rows of a log that could be read one after another, from the first on: when the earliest and
    the latest was, in lab time, and whether the clock of their server was off.
    """

    first: Ref
    least_ms: int
    most_ms: int
    is_off: bool

    def and_row(self, at_ms: int, off_ms: int) -> Span:
        is_off = self.is_off or off_ms != 0
        return Span(self.first, min(self.least_ms, at_ms), max(self.most_ms, at_ms), is_off)


def damaged(file: str, line: int | None, damage: str) -> Damage:
    return Damage(server_of(file), file, line, damage)


def placed(found: Iterable[Damage], sound: Iterable[Span]) -> list[Damage]:
    """Damage of logs with its place between the sound rows of the same server and kind of log. No
    span has damage in its middle.
    """
    wanted = list(found)
    if not wanted:
        return []
    of_server = grouped(sound, lambda it: (server_of(it.first.file), _family(it.first.file)))
    return [_placed(each, of_server.get((each.server, _family(each.file)), ())) for each in wanted]


def _placed(damage: Damage, sound: Sequence[Span]) -> Damage:
    place = _order(Ref(damage.file, damage.line or 0))
    before = [span for span in sound if _order(span.first) < place]
    after = [span for span in sound if _order(span.first) > place]
    return damage._replace(
        from_ms=_nearest(damage.file, before, latest=True),
        to_ms=_nearest(damage.file, after, latest=False),
    )


def _nearest(file: str, spans: Sequence[Span], *, latest: bool) -> int | None:
    """In the same file if a sound row there is on that side, else in the files beside it."""
    near = [span for span in spans if span.first.file == file]
    if not near and any(span.is_off for span in spans):
        return None
    if latest:
        return max((span.most_ms for span in near or spans), default=None)
    return min((span.least_ms for span in near or spans), default=None)


def _order(ref: Ref) -> tuple[str, int, int]:
    day, instance = (pattern.search(ref.file) for pattern in _ORDER)
    return (day[1] if day else "", int(instance[1]) if instance else -1, ref.line)


def _family(file: str) -> str:
    found = _FAMILY.search(file)
    return found[1] if found else ""
