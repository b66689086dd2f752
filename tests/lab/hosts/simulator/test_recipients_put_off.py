"""Where a server outside puts off some recipients of a message, the others get one copy all the
same, and those put off get theirs later.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.planning.resolve import resolve
from tests.lab.hosts.simulator.greylisting import greylist, to_three_outside


def rows(record: RecordInMemory, name: str) -> list[Any]:
    return [json.loads(line) for line in record.file(name)]


def test_nobody_outside_gets_a_second_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    greylist(monkeypatch)
    checked = to_three_outside("one-server-at-a-time")
    calm = replace(resolve(checked.scenario, checked.topology, 1), faults=())
    received = rows(simulate(calm), "external/ext1.jsonl")
    copies = Counter((row["message_id"], r) for row in received for r in row["recipients"])
    promised = {
        (message.message_id, recipient)
        for message in calm.messages
        for recipient in message.recipients
        if recipient.endswith("@partner.example")
    }
    assert copies == Counter(dict.fromkeys(promised, 1))
    parts = Counter(row["message_id"] for row in received)
    assert max(parts.values()) == 2  # at once, and what was put off
