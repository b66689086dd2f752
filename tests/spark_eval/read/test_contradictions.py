"""A record is held against itself: what one file of it says, another one, or the plan, may deny.

None of these records has a list of files that could tell. Each is one line away from one that
denies nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import pytest

from lab.hosts.simulator.record_in_memory import file_bytes
from spark_eval.judging.judge import histories_of
from spark_eval.read.contradictions import clocks, journals, messages, servers, whole_files
from spark_eval.read.folder.files import MemoryFiles
from tests.lab.hosts.simulator.plans import plan
from tests.scenarios.recorded import Files, recorded_of

OUT, LOST, MOVED = "one-message-out", "queue-lost-with-two-messages", "lossless-switchover"
ASKEW = "clocks-wrong"
SEED, MAIL = 7, 10
LEDGER, FAULTS, OPERATIONS = "ledger.jsonl", "faults.jsonl", "operations.jsonl"
MANIFEST, HOST = "manifest.json", "host.json"
PRIMARY, SHADOW, STORE = (f"logs/{name}" for name in ("par-mbx1", "lyo-mbx1", "lyo-mbx2"))
TRACKING = "MSGTRK2026010508-1.LOG"

Edit = Callable[[list[str]], list[str]]
Found = set[tuple[str, str]]
"""Files, each with its damage."""


def changed(number: int, **values: object) -> Edit:
    """Other values in a line of JSON, counted from 0."""

    def edit(lines: list[str]) -> list[str]:
        line = json.dumps(json.loads(lines[number]) | values)
        return [*lines[:number], line, *lines[number + 1 :]]

    return edit


def without(number: int) -> Edit:
    return lambda lines: lines[:number] + lines[number + 1 :]


def twice(number: int) -> Edit:
    return lambda lines: [*lines, lines[number]]


def renamed(old: str, new: str) -> Edit:
    return lambda lines: [line.replace(old, new) for line in lines]


def refused(lines: list[str]) -> list[str]:
    """The first answer was no."""
    place = next(n for n, line in enumerate(lines) if '"outcome":"ok"' in line)
    return changed(place, outcome="failed")(lines)


def only_without(word: str) -> Edit:
    return lambda lines: [line for line in lines if word not in line]


def added(number: int, **values: object) -> Edit:
    """A line of JSON once more at the end, with other values."""
    return lambda lines: [*lines, json.dumps(json.loads(lines[number]) | values)]


def emptied(_: list[str]) -> list[str]:
    return []


@dataclass(frozen=True)
class Spoilt:
    scenario: str
    file: str
    edit: Edit
    damage: str
    told_of: str = ""
    """The file that is named, if another."""


SPOILT = {
    # three lines of one message
    "a message of another run": Spoilt(
        OUT, LEDGER, renamed(".one-message-out.7@", ".one-message-out.8@"), messages.UNPLANNED),
    "other recipients": Spoilt(
        OUT, LEDGER, changed(0, recipients=["nobody@partner.example"]), messages.OTHERWISE),
    "another sender": Spoilt(OUT, LEDGER, changed(0, sender="x@y.example"), messages.OTHERWISE),
    "another size": Spoilt(OUT, LEDGER, changed(0, size_bytes=1), messages.OTHERWISE),
    "sent before its time": Spoilt(
        OUT, LEDGER, changed(0, submitted_ms=1, mono_ns=1_000_000), messages.EARLY),
    "a message twice": Spoilt(OUT, LEDGER, twice(0), messages.TWICE),
    "no line of a message": Spoilt(OUT, LEDGER, without(0), messages.UNWRITTEN),
    "nothing of a message": Spoilt(LOST, LEDGER, lambda lines: lines[3:], messages.MISSING),
    "no attempt at all": Spoilt(LOST, LEDGER, lambda lines: lines[:4], messages.UNTRIED),
    "no attempt": Spoilt(OUT, LEDGER, without(1), messages.OUT_OF_TURN),
    "a gap": Spoilt(OUT, LEDGER, changed(2, attempt=3), messages.OUT_OF_TURN),
    "no outcome": Spoilt(OUT, LEDGER, without(2), messages.OPEN),
    "another server": Spoilt(OUT, LEDGER, changed(1, server="lyo-mbx1"), messages.ELSEWHERE),
    "acknowledged, and tried again": Spoilt(LOST, LEDGER, added(1, attempt=2), messages.AFTER_OK),
    "refused, and left": Spoilt(MOVED, LEDGER, refused, messages.GIVEN_UP),
    "a time that is none": Spoilt(OUT, LEDGER, changed(1, mono_ns=5), clocks.TWO_TIMES),
    # six lines of each of two faults
    "a fault of nobody's": Spoilt(LOST, FAULTS, changed(0, fault="f7"), journals.UNPLANNED),
    "another kind": Spoilt(LOST, FAULTS, changed(3, kind="pause"), journals.OTHERWISE),
    "at another server": Spoilt(LOST, FAULTS, changed(3, server="lyo-mbx1"), journals.OTHERWISE),
    "at other links": Spoilt(LOST, FAULTS, renamed('"par-mbx2"', '"lyo-mbx1"'), journals.OTHERWISE),
    "a phase of nobody's": Spoilt(LOST, FAULTS, changed(1, phase="apllied"), journals.NO_PHASE),
    "a phase twice": Spoilt(LOST, FAULTS, twice(2), journals.TWICE),
    "before its time": Spoilt(
        LOST, FAULTS, changed(0, at_ms=20_000, mono_ns=20_000_000_000), journals.EARLY),
    "seen, and not applied": Spoilt(LOST, FAULTS, without(1), journals.OUT_OF_ORDER),
    "healed before it began": Spoilt(
        LOST, FAULTS, changed(7, at_ms=1, mono_ns=1_000_000), journals.OUT_OF_ORDER),
    "never healed": Spoilt(LOST, FAULTS, lambda lines: lines[:9], journals.UNHEALED),
    "an operation of nobody's": Spoilt(
        MOVED, OPERATIONS, changed(0, operation="o7"), journals.UNPLANNED),
    "of another database": Spoilt(
        MOVED, OPERATIONS, changed(0, database="DB2"), journals.OTHERWISE),
    "answered, and not asked": Spoilt(MOVED, OPERATIONS, without(1), journals.OUT_OF_ORDER),
    # what servers wrote
    "logged, and of another run": Spoilt(
        OUT, f"{SHADOW}/{TRACKING}", renamed(".one-message-out.7@", ".one-message-out.8@"),
        messages.NOBODYS),
    "listed, and of another run": Spoilt(
        OUT, f"{SHADOW}/queues.jsonl", renamed(".one-message-out.7@", ".one-message-out.8@"),
        messages.NOBODYS),
    "a copy that nobody delivered": Spoilt(
        MOVED, f"{STORE}/{TRACKING}", only_without(",DELIVER,"), messages.UNTOLD,
        "mailboxes/DB2.jsonl"),
    "a log without rows": Spoilt(
        OUT, f"{SHADOW}/{TRACKING}", emptied, servers.SILENT, f"{SHADOW}/"),
    "a date that is none": Spoilt(
        OUT, f"{SHADOW}/{TRACKING}", renamed("2026-01-05T08:01", "2026-01-05T09:01"),
        clocks.TWO_TIMES),
    "a life without a start": Spoilt(
        OUT, f"{SHADOW}/lifecycle.jsonl", emptied, servers.UNOPENED, f"{SHADOW}/{TRACKING}"),
    "a copy that is not listed": Spoilt(
        MOVED, f"{STORE}/copies.jsonl", without(0), servers.UNLISTED),
    "a server of nobody's": Spoilt(
        OUT, "logs/par-mbx9/lifecycle.jsonl", lambda _: ["{}"],
        "of a server that plan.json does not have"),
    # what the lab says of the run
    "the manifest of another run": Spoilt(OUT, MANIFEST, changed(0, seed=8), whole_files.OTHER_RUN),
    "another speed": Spoilt(OUT, MANIFEST, changed(0, speed=1.5), whole_files.OTHER_RUN),
    "a clock that resolves the future": Spoilt(
        OUT, HOST, changed(0, clock_resolution_ms=-1), whole_files.NO_RESOLUTION),
    "a run that broke off": Spoilt(OUT, HOST, changed(0, exit=3), whole_files.NOT_ENDED),
}  # fmt: skip


@cache
def simulated(scenario: str) -> Files:
    """A run of the scenario's first few messages."""
    asked = plan(scenario, SEED)
    short = replace(asked, messages=asked.messages[:MAIL]) if scenario == MOVED else asked
    return recorded_of(short)


def spoilt(case: Spoilt) -> Files:
    sound = simulated(case.scenario)
    return sound | {case.file: case.edit(sound.get(case.file, []))}


def found(files: Files) -> Found:
    read = MemoryFiles({file: file_bytes(lines) for file, lines in files.items()})
    return {(each.file, each.damage) for each in histories_of(read).run.damage}


@pytest.mark.parametrize("name", SPOILT)
def test_what_contradicts_the_rest_of_a_record_is_named(name: str) -> None:
    case = SPOILT[name]
    assert (case.told_of or case.file, case.damage) in found(spoilt(case))


@pytest.mark.parametrize("scenario", [OUT, LOST, MOVED, ASKEW])
def test_a_record_as_the_lab_left_it_contradicts_nothing(scenario: str) -> None:
    assert {damage for _, damage in found(simulated(scenario))} <= {"no message tracking log"}
