"""Faults that wait for a place in the protocol: when they begin, what they leave in the journal."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lab.clock import LabClock, parse_origin
from lab.faults import faults_of
from lab.plan.faults import Fault, Kill
from lab.plan.link_faults import Cut
from lab.plan.when import When
from lab.program.errors import GroundError
from lab.record.folder import JsonLines
from lab.schedule.journal import Journal
from lab.schedule.schedule import LOOK_EVERY_SECONDS, Schedule
from tests.lab.faults.fake_target import FakeGround
from tests.lab.plan.small_plan import WORKLOAD_TO_A, small_plan

CLOCK = LabClock(parse_origin("2026-01-05T08:00:00Z"), 60.0, 0)
REACHED = {"at_ms": 1490, "mono_ns": 7}


def cut_at_place(until_ms: int = 5000, for_ms: int = 900) -> Cut:
    when = When("a", "after-data-before-250", 1, until_ms, for_ms)
    links = (WORKLOAD_TO_A,)
    return Cut("f1", "cut", 1000, until_ms + for_ms, "ack-lost", links, when)


@dataclass
class Timeline:
    """A schedule in time of its own: `waited` in lab ms, `deeds` of the ground with their time."""

    folder: Path
    faults: tuple[Fault, ...]
    now_ms: float = 0
    deeds: list[tuple[str, int]] = field(default_factory=list)
    when: dict[int, Callable[[], None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ground = FakeGround(small_plan(self.faults))
        self.ground.when_done = lambda deed: self.deeds.append((deed, round(self.now_ms)))
        lab = self.ground.running_lab(0)
        lines = JsonLines(self.folder / "faults.jsonl")
        journal = Journal(lines, CLOCK, self._mono_ns)
        faults = faults_of(self.ground.plan, lab)
        self.schedule = Schedule(faults, journal, CLOCK, lambda _: None, self._mono_ns)

    def run(self) -> None:
        self.schedule.run(self._wait_until)
        assert self.schedule.settle(10) == 0
        self.schedule.finish()

    def rows(self, phase: str) -> list[dict[str, Any]]:
        lines = (self.folder / "faults.jsonl").read_text().splitlines()
        return [row for row in map(json.loads, lines) if row["phase"] == phase]

    def _mono_ns(self) -> int:
        return round(self.now_ms / 60 * 1_000_000)

    def _wait_until(self, at_ms: float) -> None:
        assert self.schedule.settle(10) == 0, "who looks has time to"
        self.now_ms = max(self.now_ms, at_ms)
        for due_ms in [due_ms for due_ms in sorted(self.when) if due_ms <= self.now_ms]:
            self.when.pop(due_ms)()


def reached_at(timeline: Timeline, at_ms: int) -> None:
    timeline.when[at_ms] = lambda: timeline.ground.places.update(f1=REACHED)


def test_the_fault_begins_when_its_place_is_reached_and_lasts_from_then(tmp_path: Path) -> None:
    timeline = Timeline(tmp_path, (cut_at_place(),))
    reached_at(timeline, 1500)
    timeline.run()
    [(_, began), (_, healed)] = [
        deed for deed in timeline.deeds if deed[0] in ("apply f1", "undo f1")
    ]
    assert 1500 <= began <= 1500 + LOOK_EVERY_SECONDS * 60_000
    assert healed == began + 900
    assert timeline.rows("evidence")[0]["took_effect"] is True


def test_the_server_is_held_until_the_fault_is_applied_and_read_back(tmp_path: Path) -> None:
    timeline = Timeline(tmp_path, (cut_at_place(),))
    reached_at(timeline, 1500)
    phases: list[str] = []

    def note(deed: str) -> None:
        lines = (tmp_path / "faults.jsonl").read_text().splitlines()
        if deed == "let a go for f1":
            phases.extend(json.loads(line)["phase"] for line in lines)

    timeline.ground.when_done = note
    timeline.run()
    assert phases == ["armed", "reached", "intended", "applied"]


def test_the_moment_at_which_the_place_was_reached_is_in_the_record(tmp_path: Path) -> None:
    timeline = Timeline(tmp_path, (cut_at_place(),))
    reached_at(timeline, 1500)
    timeline.run()
    [row] = timeline.rows("reached")
    assert (row["reached_at_ms"], row["reached_mono_ns"]) == (1490, 7)
    assert (row["server"], row["place"], row["nth"]) == ("a", "after-data-before-250", 1)


def test_a_place_that_is_never_reached_leaves_no_evidence_and_nothing_to_heal(
    tmp_path: Path,
) -> None:
    timeline = Timeline(tmp_path, (cut_at_place(),))
    timeline.run()
    assert "apply f1" not in [deed for deed, _ in timeline.deeds]
    [evidence] = timeline.rows("evidence")
    assert evidence["took_effect"] is None
    assert evidence["reason"] == (
        "its place was never reached: a is at after-data-before-250 for the 1st time"
    )
    assert evidence["at_ms"] > 5000
    assert len(timeline.rows("healed")) == 1
    assert timeline.rows("intended") == []
    assert ("let a go for f1", evidence["at_ms"]) in timeline.deeds


def test_a_server_that_did_not_wait_leaves_the_fault_without_evidence(tmp_path: Path) -> None:
    timeline = Timeline(tmp_path, (cut_at_place(),))
    reached_at(timeline, 1500)
    timeline.ground.lapsed.add("f1")
    timeline.run()
    [evidence] = timeline.rows("evidence")
    assert evidence["took_effect"] is None
    assert "had gone on" in evidence["reason"]


def test_faults_at_their_times_go_on_while_another_waits(tmp_path: Path) -> None:
    kill = Kill("f2", "kill", 1200, 4000, "b", "same-queue-database")
    timeline = Timeline(tmp_path, (cut_at_place(), kill))
    reached_at(timeline, 1500)
    timeline.run()
    acts = ("kill b", "apply f1", "undo f1", "start b")
    assert [deed for deed, _ in timeline.deeds if deed in acts] == list(acts)
    assert dict(timeline.deeds)["start b"] == 4000


def test_a_run_that_ends_early_lets_go_of_who_waits_and_heals_what_began(tmp_path: Path) -> None:
    when = When("b", "before-shadow-250", 1, 5000, 100)
    kill = Kill("f2", "kill", 0, 5100, "b", "same-queue-database", when)
    timeline = Timeline(tmp_path, (cut_at_place(), kill))
    reached_at(timeline, 1500)

    def ends() -> None:
        raise InterruptedError

    timeline.when[2000] = ends
    with pytest.raises(InterruptedError):
        timeline.run()
    timeline.schedule.heal()
    timeline.schedule.finish()
    done = [deed for deed, _ in timeline.deeds]
    assert "let b go for f2" in done
    assert "undo f1" in done
    assert "kill b" not in done


def test_a_server_is_let_go_when_the_fault_cannot_be_applied(tmp_path: Path) -> None:
    timeline = Timeline(tmp_path, (cut_at_place(),))
    reached_at(timeline, 1500)
    timeline.ground.fails.add("apply f1")
    with pytest.raises(GroundError):
        timeline.run()
    timeline.schedule.finish()
    assert timeline.deeds[-1][0] == "let a go for f1"
