"""What is written by the grammar of XOUTBOX is read back by it, and nothing else is."""

from __future__ import annotations

import pytest

from nodes.core.interface.inputs import OutboxRequested
from nodes.core.model.outbox import IntoOutbox
from nodes.shell.verbs.submission import VERB, format_prologue, parse_request


def test_what_is_written_is_read_back() -> None:
    verb, *words = format_prologue(IntoOutbox("DB1"))
    assert (verb, parse_request("in-1", " ".join(words))) == (VERB, OutboxRequested("in-1", "DB1"))


@pytest.mark.parametrize("arguments", ["", "DB1 DB2", " DB1", "DB1 ", "D\u00e41"])
def test_nothing_else_is(arguments: str) -> None:
    assert parse_request("in-1", arguments) is None
