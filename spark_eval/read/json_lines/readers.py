"""The reader of each file of JSON Lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spark_eval.read.clocks import LabClock
from spark_eval.read.json_lines import at_the_end, while_it_ran
from spark_eval.read.json_lines.rows_by_kind import Rows
from spark_eval.read.names import Ref, stem_of


def kind_of(file: str) -> str | None:
    """Which reader a file is for; None of a log."""
    if not file.endswith(".jsonl"):
        return None
    folder = file.partition("/")[0]
    return {"mailboxes": "mailbox", "external": "external"}.get(folder) or stem_of(file)


READERS: Mapping[str, Callable[[Rows, Any, Ref, LabClock], None]] = {
    "ledger": while_it_ran.ledger,
    "faults": while_it_ran.faults,
    "operations": while_it_ran.operations,
    "strangers": while_it_ran.strangers,
    "lifecycle": while_it_ran.lifecycle,
    "queues": at_the_end.queues,
    "copies": at_the_end.copies,
    "mailbox": at_the_end.mailbox,
    "external": at_the_end.external,
}
