"""Queues and resubmit requests of servers, line by line for a person: of a lab that stands as its
servers show them, of a run that is over as they were collected at its end.

What servers say is text of theirs: it is shown as it is, in columns that nothing cuts.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab.plan.quantities import format_duration
from lab.program.errors import ScenarioError
from lab.program.printable import printable
from nodes.core.interface.replies import QueueShown
from nodes.core.model.lab_time import iso
from nodes.shell.verbs.queues import read_reply

QUEUES = "queues.jsonl"
OF_QUEUES = ("server", "queue", "name", "length", "next retry", "asked", "last error")
OF_REQUESTS = (
    "server", "request", "safety net", "database", "start", "end", "state", "given back",
)  # fmt: skip
NUMBERS = ("length", "given back")
# words of a request as XRESUBMIT LIST shows it
REQUEST_WORDS = 11
Row = tuple[str, ...]


def queue_lines(replies: Mapping[str, str]) -> list[str]:
    """Of what servers answered to XQUEUES; of one that said something else, what it said."""
    return _aligned(OF_QUEUES, [row for each in replies.items() for row in _of_queues(*each)])


def _of_queues(server: str, said: str) -> Iterator[Row]:
    try:
        queues, figures = read_reply(said) if said.startswith("250") else ((), ())
    except ValueError:
        queues, figures = (), ()
    if not figures:
        yield server, "", "", "", "", "", said
    for queue in queues:
        yield server, *_queue(queue)
    for name, value in figures:
        yield server, "figure", name, value, "", "", ""


def _queue(queue: QueueShown) -> Row:
    retry = "" if queue.next_retry_ms is None else _moment(queue.next_retry_ms)
    asked = (
        ""
        if queue.asked_ago_ms is None
        else f"{format_duration(queue.asked_ago_ms // 1000 * 1000)} ago"
    )
    return queue.kind, queue.name, str(queue.length), retry, asked, queue.last_error


def recorded_lines(folder: Path, server: str | None) -> list[str]:
    """Of a run folder: what was left in the queues. Raises ScenarioError."""
    rows = [
        (path.parent.name, kind, name, str(length))
        for path in _recorded(folder, server)
        for (kind, name), length in sorted(
            Counter(map(_queue_of, path.read_text("utf-8").splitlines())).items()
        )
    ]
    return _aligned(OF_QUEUES[:4], rows)


def _recorded(folder: Path, server: str | None) -> list[Path]:
    found = sorted((folder / "logs").glob(f"*/{QUEUES}"))
    names = [path.parent.name for path in found]
    if server is not None and server not in names:
        raise ScenarioError(f"{folder} has no queues of {server}", f"it has {', '.join(names)}")
    return [path for path in found if server in (None, path.parent.name)]


def _queue_of(line: str) -> tuple[str, str]:
    row = json.loads(line)
    return str(row.get("queue")), str(row.get("primary") or row.get("shadow_server") or "")


def request_lines(replies: Mapping[str, str]) -> list[str]:
    """Of what servers answered to XRESUBMIT LIST."""
    return _aligned(OF_REQUESTS, [row for each in replies.items() for row in _requests(*each)])


def _requests(server: str, said: str) -> Iterator[Row]:
    """The last line says that it is done."""
    for line in said.splitlines():
        words = line.removeprefix("250").removeprefix("-").split()
        if len(words) == REQUEST_WORDS:
            request, net, database, start, end, _created, _by, state, count, *_ = words
            times = (_moment(int(start)), _moment(int(end)))
            yield server, request, net, database, *times, state, count


def _moment(at_ms: int) -> str:
    """By the clock of the lab, without its year: `01-05 08:21:04`."""
    return iso(at_ms)[5:19].replace("T", " ")


def _aligned(columns: Row, rows: Sequence[Row]) -> list[str]:
    shown = [columns, *(tuple(map(printable, row)) for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if name in NUMBERS else cell.ljust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        ).rstrip()
        for row in shown
    ]
