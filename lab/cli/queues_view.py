"""Queues and resubmit requests of servers, as tables for a person: of a lab that stands as its
servers show them, of a run that is over as they were collected at its end.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rich.table import Table

from lab.program.errors import ScenarioError
from nodes.core.interface.replies import QueueShown
from nodes.core.model.lab_time import iso
from nodes.shell.verbs.queues import read_reply

QUEUES = "queues.jsonl"
REQUEST_COLUMNS = (
    "server",
    "request",
    "safety net",
    "database",
    "start",
    "end",
    "state",
    "given back",
)


def queues_table(replies: Mapping[str, str]) -> Table:
    """Of what servers answered to XQUEUES."""
    table = _table("server", "queue", "name", "length", "next retry", "last error")
    for server, said in replies.items():
        try:
            queues, figures = read_reply(said)
        except ValueError as error:
            table.add_row(server, "", "", "", "", str(error))
            continue
        for queue in queues:
            table.add_row(server, *_row(queue))
        for name, value in figures:
            table.add_row(server, "figure", name, value, "", "")
    return table


def _row(queue: QueueShown) -> tuple[str, ...]:
    retry = "" if queue.next_retry_ms is None else iso(queue.next_retry_ms)
    return queue.kind, queue.name, str(queue.length), retry, queue.last_error


def recorded_table(folder: Path, server: str | None) -> Table:
    """Of a run folder: what was left in the queues. Raises ScenarioError."""
    table = _table("server", "queue", "name", "length")
    for path in _recorded(folder, server):
        lengths = Counter(_queue_of(line) for line in path.read_text("utf-8").splitlines())
        for (kind, name), length in sorted(lengths.items()):
            table.add_row(path.parent.name, kind, name, str(length))
    return table


def _recorded(folder: Path, server: str | None) -> list[Path]:
    found = sorted((folder / "logs").glob(f"*/{QUEUES}"))
    names = [path.parent.name for path in found]
    if server is not None and server not in names:
        raise ScenarioError(f"{folder} has no queues of {server}", f"it has {', '.join(names)}")
    return [path for path in found if server in (None, path.parent.name)]


def _queue_of(line: str) -> tuple[str, str]:
    row = json.loads(line)
    return str(row.get("queue")), str(row.get("primary") or row.get("shadow_server") or "")


def requests_table(replies: Mapping[str, str]) -> Table:
    """Of what servers answered to XRESUBMIT LIST."""
    table = _table(*REQUEST_COLUMNS)
    for server, said in replies.items():
        for words in _requests(said.splitlines()):
            request, net, database, start, end, _created, _by, state, count, *_ = words
            table.add_row(
                server, request, net, database, iso(int(start)), iso(int(end)), state, count
            )
    return table


def _requests(lines: Iterable[str]) -> Iterator[list[str]]:
    """The last line says that it is done."""
    for line in lines:
        words = line.removeprefix("250").removeprefix("-").split()
        if len(words) == 11:
            yield words


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in ("length", "given back") else "left")
    return table
