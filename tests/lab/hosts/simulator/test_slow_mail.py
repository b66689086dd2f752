"""A message that takes longer than the time-outs over a link that is slow (SR-6)."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from tests.lab.hosts.simulator.plans import plan

SLOW = plan("large-mail-is-slow", 1)
LARGE = [message for message in SLOW.messages if message.size_bytes > 1024 * 1024]
A_TWENTIETH_MS = {"TransmissionActive": 30_000, "SessionActive": 15_000}


@pytest.fixture(scope="module")
def sent() -> RecordInMemory:
    return simulate(with_one_message(SLOW))


def with_one_message(slow: Plan) -> Plan:
    """Of 8 MiB, through Paris to mailboxes in Lyon."""
    addresses = sorted({r for m in slow.messages for r in m.recipients if r.startswith("db2-")})
    message = replace(LARGE[0], via=("par-mbx1",), recipients=tuple(addresses[:2]))
    return replace(slow, messages=(message,))


def lines_of(record: RecordInMemory, part: str) -> list[str]:
    return [line for name, lines in record.files.items() if part in name for line in lines]


def test_it_is_sent_at_the_first_attempt_and_neither_side_cuts_it_off(sent: RecordInMemory) -> None:
    said = lines_of(sent, "CONNECTLOG")
    assert not [line for line in said if "InactivityTimeO" in line]
    rows = lines_of(sent, "MSGTRK")
    assert [line for line in rows if ",DELIVER," in line]
    assert not [line for line in rows if ",DEFER," in line or ",HAREDIRECTFAIL," in line]


@pytest.mark.parametrize("kind", A_TWENTIETH_MS)
def test_its_activity_is_an_input_once_in_a_twentieth_of_the_time_out(
    sent: RecordInMemory, kind: str
) -> None:
    given: dict[tuple[str, str], list[int]] = {}
    for name, lines in sent.files.items():
        for read in map(json.loads, lines if name.endswith("inputs.jsonl") else ()):
            if read["input"] == kind:
                given.setdefault((name, read["session"]), []).append(read["now_ms"])
    assert given
    apart = [b - a for times in given.values() for a, b in pairwise(times)]
    assert A_TWENTIETH_MS[kind] <= min(apart)
    assert max(apart) < 2 * A_TWENTIETH_MS[kind]
