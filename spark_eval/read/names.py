"""How records name things, in one place: Message-Ids, servers, addresses; and what is a probe.

The lab sends probes over every link before the first fault and while faults last. They carry a mark
and are no part of what is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

PROBE_MARK = "<probe."
_HOST = re.compile(r"\[(?:InternalId|ItemId)=[^,\]\s]+, Hostname=([^,\]\s]+)")


class Ref(NamedTuple):
    """`file` within the run folder, `line` from 1."""

    file: str
    line: int


def message_id(text: str | None) -> str | None:
    """With its angle brackets, whether or not the record wrote them; None where there is none."""
    bare = (text or "").strip("<> ")
    return f"<{bare}>" if bare else None


def short_name(text: str | None) -> str | None:
    """A server's name without its domain, lower case."""
    return None if text is None else text.partition(".")[0].lower()


def host_in(reply: str | None) -> str | None:
    """The server that a 250 names: behind a front end it is not the one that was called."""
    found = _HOST.search(reply or "")
    return short_name(found[1]) if found else None


def addresses(texts: Iterable[str]) -> tuple[str, ...]:
    """Addresses compare without regard to case."""
    return tuple(each.lower() for each in texts)


def is_probe(message_id: str | None) -> bool:
    return message_id is not None and message_id.startswith(PROBE_MARK)


def server_of(file: str) -> str:
    """The server whose log `logs/<server>/…` is; empty of any other file."""
    parts = file.split("/")
    return parts[1].lower() if len(parts) == 3 and parts[0] == "logs" else ""


def stem_of(file: str) -> str:
    """`DB1` of `mailboxes/DB1.jsonl`."""
    return file.rpartition("/")[2].removesuffix(".jsonl")
