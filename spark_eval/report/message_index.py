"""Every message in a few bytes, so that a person finds one by its id: whom it reached, and when.

Bounded: what does not fit is left out, delivered messages first, and the page says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_BYTES = 700_000
TAIL = re.compile(r"[.@].*", re.DOTALL)


@dataclass
class NameTable:
    """Names that repeat, each written once; `size` in bytes."""

    numbers: dict[str, int] = field(default_factory=dict)
    size: int = 0

    def number(self, name: str) -> int:
        if name not in self.numbers:
            self.numbers[name] = len(self.numbers)
            self.size += len(_text(name).encode()) + 1
        return self.numbers[name]


def message_index(
    messages: Sequence[Mapping[str, Any]], stories: Mapping[str, str], *, whole: bool = True
) -> str:
    """JSON: `messages` as [head, number of its tail, submitted ms, recipient and fate, …], where a
    fate is the delay in ms or a word; `stories` are anchors by message id. `whole` is false where
    `messages` are not all. `<` is escaped, so that nothing in it can end a script element.
    """
    tails, recipients = NameTable(), NameTable()
    entries: list[str] = []
    size = 0
    for row in messages:
        entry = _text(_entry(row, tails, recipients))
        size += len(entry.encode()) + 1
        if size + tails.size + recipients.size > MOST_BYTES:
            break
        entries.append(entry)
    named = {
        "tails": list(tails.numbers),
        "recipients": list(recipients.numbers),
        "stories": dict(stories),
        "whole": whole and len(entries) == len(messages),
    }
    return f'{_text(named)[:-1]},"messages":[{",".join(entries)}]}}'


def _entry(row: Mapping[str, Any], tails: NameTable, recipients: NameTable) -> list[Any]:
    name = row["message_id"]
    tail = TAIL.search(name)
    head, rest = (name[: tail.start()], tail[0]) if tail else (name, "")
    entry: list[Any] = [head, tails.number(rest), row["submitted_ms"]]
    for fate in row["recipients"]:
        made = fate["outcome"] == "delivered" and fate["at_ms"] is not None
        entry.append(recipients.number(fate["recipient"]))
        entry.append(fate["at_ms"] - row["submitted_ms"] if made else fate["outcome"])
    return entry


def _text(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")
