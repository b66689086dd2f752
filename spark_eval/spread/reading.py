"""A record that is too large for one task, read by many: each file by one, a stretch of lines at a
time, and what is said of a message goes to the partition that has all of it.

Two passes: which DSN or journal report is about which message has to be known before rows are sent
anywhere.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple, TypeAlias

from pyspark import RDD, StorageLevel

from spark_eval.histories.log_sums import LogSums, asked_outside, no_log_sums
from spark_eval.histories.primary import is_made_here
from spark_eval.judging.parts import Part, part_of
from spark_eval.judging.uncollected import uncollected
from spark_eval.read.clocks import Life
from spark_eval.read.csv_rows import Header
from spark_eval.read.damage import NOT_UNPACKED, damaged
from spark_eval.read.folder.files import Files, open_lines
from spark_eval.read.heading import Heading
from spark_eval.read.lines import Line, lines
from spark_eval.read.mail import Mail, taken_out
from spark_eval.read.names import Ref, message_id
from spark_eval.read.record import PACKED_BADLY, Lines, Record, no_lines, record_of

_MADE_HERE = re.compile("dsn|agent", re.IGNORECASE)

AT_ONCE = 20_000
"""Lines of a file, or messages of a plan, that a task holds at once."""

File: TypeAlias = tuple[str, Files]
"""One name, and where its bytes come from."""


class Beside(NamedTuple):
    """What a stretch of lines says beside mail; `first`, where it begins."""

    first: Ref
    read: Lines
    sums: LogSums


@dataclass(frozen=True, slots=True)
class Places:
    """In which of `parts` a message is; a DSN is where the message is that it is about, as
    `homes` has it.
    """

    parts: int
    homes: Mapping[str, str]

    def __call__(self, name: str) -> int:
        home = self.homes.get(name, name)
        return zlib.crc32(home.encode(errors="surrogatepass")) % self.parts


class Spread(NamedTuple):
    """A record without its mail, what its logs show together, and its mail, in parts."""

    record: Record
    sums: LogSums
    parts: RDD[Part]


def read_spread(files: RDD[File], heading: Heading, parts: int) -> Spread:
    """Raises what Spark raises."""
    context = files.context
    told = context.broadcast(heading.without_messages())
    found = files.flatMap(lambda file: dsns_in(file, told.value)).collect()
    places = context.broadcast(Places(parts, homes_of(found)))
    planned = context.parallelize(list(planned_in(heading, places.value)))
    rows = files.flatMap(lambda file: rows_in(file, told.value, places.value))
    # the last partition is of what is beside mail
    sent = rows.union(planned).partitionBy(parts + 1, _itself)
    record, sums = beside_mail(heading, context.runJob(sent, _all_beside, [parts]))
    lives = context.broadcast(record.lives)
    mail = sent.mapPartitionsWithIndex(
        lambda place, pairs: (
            _one_part(pairs, told.value, lives.value) if place < parts else iter(())
        )
    )
    return Spread(record, sums, mail.persist(StorageLevel.DISK_ONLY))


def _itself(place: int) -> int:
    return place


def _all_mail(pairs: Iterable[tuple[int, Mail | Beside]]) -> Iterator[Mail]:
    return (value for _, value in pairs if isinstance(value, Mail))


def _all_beside(pairs: Iterable[tuple[int, Mail | Beside]]) -> list[Beside]:
    return [value for _, value in pairs if isinstance(value, Beside)]


# which DSN is about which message


class Dsn(NamedTuple):
    """A row of one; `subject`, the message that it is about."""

    message_id: str
    ref: Ref
    subject: str | None


def homes_of(dsns: Iterable[Dsn]) -> dict[str, str]:
    """By Message-Id of a DSN, as its first row has it; in memory, as many as there are."""
    first: dict[str, Dsn] = {}
    for dsn in dsns:
        first[dsn.message_id] = min(first.get(dsn.message_id, dsn), dsn, key=lambda x: x.ref)
    return {name: dsn.subject for name, dsn in first.items() if dsn.subject is not None}


def dsns_in(file: File, heading: Heading) -> Iterator[Dsn]:
    if "/MSGTRK" in file[0]:
        for _, read in _stretches(file, heading, _may_be_of_a_dsn):
            for row in read.tracking:
                if is_made_here(row) and row.message_id is not None:
                    yield Dsn(row.message_id, row.ref, message_id(row.reference))


def _may_be_of_a_dsn(line: Line) -> bool:
    return line.number == 1 or line.text.startswith("#") or _MADE_HERE.search(line.text) is not None


# what is sent where


def rows_in(file: File, heading: Heading, places: Places) -> Iterator[tuple[int, Mail | Beside]]:
    """With the partition of each."""
    directory = asked_outside(heading)
    with uncollected():
        for first, read in _stretches(file, heading):
            sums = no_log_sums(heading)
            sums.take(read, directory)
            yield from taken_out(read, places).items()
            yield places.parts, Beside(first, read, sums)


def _any_line(_line: Line) -> bool:
    return True


def _stretches(
    file: File, heading: Heading, wanted: Callable[[Line], bool] = _any_line
) -> Iterator[tuple[Ref, Lines]]:
    """Of the lines that are wanted; of a packed file that is not whole, of what comes before.
    Raises `OSError`.
    """
    name, files = file
    header, is_over = Header(), False
    with open_lines(files, name) as opened:
        source = filter(wanted, lines(opened))
        while not is_over:
            read, first = no_lines(heading), Ref(name, 0)
            try:
                line = next(source, None)
                is_over = line is None
                if line is not None:
                    first = Ref(name, line.number)
                    stretch = chain([line], islice(source, AT_ONCE - 1))
                    read.read(name, stretch, heading, header)
            except PACKED_BADLY:
                read.damage.append(damaged(name, None, NOT_UNPACKED))
                is_over = True
            yield first, read


def planned_in(heading: Heading, places: Places) -> Iterator[tuple[int, Mail]]:
    messages = iter(heading.plan.messages)
    while some := list(islice(messages, AT_ONCE)):
        found: dict[int, Mail] = {}
        for each in some:
            place = places(message_id(each.message_id) or "")
            found.setdefault(place, Mail()).planned.append(each)
        yield from found.items()


# what comes together


def beside_mail(heading: Heading, found: Iterable[Beside]) -> tuple[Record, LogSums]:
    read, sums = no_lines(heading), no_log_sums(heading)
    for each in sorted(found, key=lambda each: each.first):
        read.add(each.read)
        sums.add(each.sums)
    return record_of(heading.without_messages(), read), sums


def _one_part(
    pairs: Iterable[tuple[int, Mail | Beside]],
    heading: Heading,
    lives: Mapping[str, tuple[Life, ...]],
) -> Iterator[Part]:
    with uncollected():  # while it is written down, too
        yield part_of_rows(_all_mail(pairs), heading, lives)


def part_of_rows(
    rows: Iterable[Mail], heading: Heading, lives: Mapping[str, tuple[Life, ...]]
) -> Part:
    mail = Mail()
    for some in rows:
        mail.add(some)
    mail.sort()
    mail.go_by(lives)
    return part_of(mail, heading)
