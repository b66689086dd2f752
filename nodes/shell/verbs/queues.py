"""The grammar of XQUEUES, by which an administrator sees the queues of a server while it runs, as
Get-Queue shows them (F§5.3). All of it is this project's own:

    XQUEUES
        250-queue <kind> <name|-> <length> <next retry|-> <asked|-> <last error> |     a line each
        250-figure <name> <value> |
        250 Done <number of queues>

The next retry is epoch ms; asked, how many ms ago a shadow server asked last. Each line ends in a
bar, by which they are known where a reply has become one line; an error has none.
"""

from __future__ import annotations

from nodes.core.interface.inputs import QueuesAsked
from nodes.core.interface.replies import QueueShown, QueuesReply

VERB = "XQUEUES"
NONE, END = "-", "|"
ERROR_SHOWN = 200


def parse_request(session: str, arguments: str) -> QueuesAsked | None:
    """None for arguments that are not of the grammar."""
    return None if arguments else QueuesAsked(session)


def format_reply(reply: QueuesReply) -> tuple[str, ...]:
    figures = (f"figure {name} {value} {END}" for name, value in reply.figures)
    return (*map(_shown, reply.queues), *figures, f"Done {len(reply.queues)}")


def _shown(queue: QueueShown) -> str:
    retry = NONE if queue.next_retry_ms is None else queue.next_retry_ms
    error = queue.last_error.replace(END, "/")[:ERROR_SHOWN].encode("ascii", "replace").decode()
    asked = NONE if queue.asked_ago_ms is None else queue.asked_ago_ms
    words = ("queue", queue.kind, queue.name or NONE, queue.length, retry, asked, error, END)
    return " ".join(str(word) for word in words if word != "")


def read_reply(text: str) -> tuple[tuple[QueueShown, ...], tuple[tuple[str, str], ...]]:
    """Queues and figures of a reply, with or without its code, in one line or in several. Raises
    ValueError for what no server says.
    """
    queues, figures = [], []
    for part in " ".join(text.split()).split(END)[:-1]:
        words = part.strip().removeprefix("250").removeprefix("-").split()
        if words[:1] == ["queue"]:
            queues.append(_read(words[1:]))
        elif words[:1] == ["figure"] and len(words) == 3:
            figures.append((words[1], words[2]))
        else:
            raise ValueError(f"{part!r} is no line of {VERB}")
    return tuple(queues), tuple(figures)


def _read(words: list[str]) -> QueueShown:
    kind, name, length, retry, asked, *error = words
    return QueueShown(
        kind,
        "" if name == NONE else name,
        int(length),
        _number(retry),
        " ".join(error),
        _number(asked),
    )


def _number(word: str) -> int | None:
    return None if word == NONE else int(word)
