"""The timeline of faults: order, journal, and healing whatever happens."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.clock import LabClock, parse_origin
from lab.faults.fault import Fault
from lab.faults.observer.evidence import Evidence
from lab.faults.server_down import Away
from lab.plan.faults import Kill, ReturnsWith
from lab.program.errors import GroundError
from lab.record.folder import JsonLines
from lab.schedule.journal import Journal
from lab.schedule.schedule import Schedule
from tests.lab.faults.fake_target import FakeGround
from tests.lab.plan.small_plan import small_plan

PHASES = ("intended", "applied", "evidence", "heal-intended", "healed", "evidence-healed")
CLOCK = LabClock(parse_origin("2026-01-05T08:00:00Z"), 60.0, 0)


class NotedFault:
    """Notes what is asked of it; `bad` names the method that raises."""

    def __init__(
        self, name: str, start_ms: int, end_ms: int, notes: list[str], bad: str = ""
    ) -> None:
        self.id, self.start_ms, self.end_ms = name, start_ms, end_ms
        self._notes, self._bad = notes, bad

    def describe(self) -> str:
        return f"fault {self.id}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "noted"}

    def start(self) -> Mapping[str, object]:
        self._note("start")
        return {"exit_code": 137}

    def evidence(self) -> Evidence:
        self._note("evidence")
        return Evidence(True, ())

    def confirmed(self) -> Evidence:
        return Evidence(None, (), "nobody said so")

    def stop(self) -> None:
        self._note("stop")

    def healed(self) -> Mapping[str, object]:
        self._note("healed")
        return {"banner_ms": 1}

    def evidence_healed(self) -> Evidence:
        self._note("evidence healed")
        return Evidence(True, ())

    def _note(self, what: str) -> None:
        self._notes.append(f"{self.id} {what}")
        if what == self._bad:
            raise GroundError(f"{self.id} cannot {what}")


class SlowlyWitnessed(NotedFault):
    """Its evidence comes after its stop."""

    stopped = threading.Event()

    def evidence(self) -> Evidence:
        assert self.stopped.wait(5)
        return super().evidence()

    def stop(self) -> None:
        super().stop()
        self.stopped.set()


def schedule(folder: Path, *faults: NotedFault) -> Schedule:
    journal = Journal(JsonLines(folder / "faults.jsonl"), CLOCK)
    return Schedule(faults, journal, CLOCK, lambda _: None)


def journal_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "faults.jsonl").read_text().splitlines()]


def acts(notes: list[str]) -> list[str]:
    return [note for note in notes if note.endswith((" start", " stop"))]


def test_starts_and_stops_happen_in_the_order_of_lab_time(tmp_path: Path) -> None:
    notes: list[str] = []
    waited: list[float] = []
    one, two = NotedFault("f1", 100, 400, notes), NotedFault("f2", 200, 300, notes)
    plan = schedule(tmp_path, one, two)
    plan.run(waited.append)
    plan.finish()
    assert acts(notes) == ["f1 start", "f2 start", "f2 stop", "f1 stop"]
    assert waited == [100, 200, 300, 400]


def test_at_the_same_time_a_stop_comes_before_a_start(tmp_path: Path) -> None:
    notes: list[str] = []
    plan = schedule(tmp_path, NotedFault("f1", 200, 300, notes), NotedFault("f2", 100, 200, notes))
    plan.run(lambda _: None)
    plan.finish()
    assert acts(notes) == ["f2 start", "f2 stop", "f1 start", "f1 stop"]


def test_an_instant_starts_before_it_stops_and_after_what_ends_then(tmp_path: Path) -> None:
    notes: list[str] = []
    instant, before = NotedFault("f1", 2, 2, notes), NotedFault("f2", 1, 2, notes)
    schedule(tmp_path, instant, before).run(lambda _: None)
    assert acts(notes) == ["f2 start", "f2 stop", "f1 start", "f1 stop"]


def test_the_evidence_of_an_instant_is_not_too_late(tmp_path: Path) -> None:
    instant = SlowlyWitnessed("f1", 2, 2, [])
    whole = schedule(tmp_path, instant)
    whole.run(lambda _: None)
    whole.finish()
    [evidence] = [row for row in journal_of(tmp_path) if row["phase"] == "evidence"]
    assert evidence["took_effect"] is True


@pytest.mark.parametrize("took_effect", [True, False, None])
def test_a_fault_healed_too_soon_is_known_by_what_was_said_when_it_was_applied(
    took_effect: bool | None, tmp_path: Path
) -> None:
    class Confirmed(SlowlyWitnessed):
        stopped = threading.Event()

        def confirmed(self) -> Evidence:
            return Evidence(took_effect, (), "so the engine said")

    whole = schedule(tmp_path, Confirmed("f1", 1, 2, []))
    whole.run(lambda _: None)
    whole.finish()
    [evidence] = [row for row in journal_of(tmp_path) if row["phase"] == "evidence"]
    assert evidence["took_effect"] is took_effect
    assert evidence["reason"].endswith("so the engine said")


def test_the_journal_is_ahead_of_every_act(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    class Peeking(NotedFault):
        def _note(self, what: str) -> None:
            super()._note(what)
            if what in ("start", "stop"):
                seen.append([row["phase"] for row in journal_of(tmp_path)])

    plan = schedule(tmp_path, Peeking("f1", 1, 2, []))
    plan.run(lambda at_ms: None if at_ms == 1 else _settled(plan))
    plan.finish()
    assert seen[0] == ["intended"]
    assert seen[1][-1] == "heal-intended"


def test_a_fault_goes_through_every_phase(tmp_path: Path) -> None:
    plan = schedule(tmp_path, NotedFault("f1", 1, 2, []))
    plan.run(lambda _: None)
    plan.finish()
    phases = [row["phase"] for row in journal_of(tmp_path)]
    assert sorted(phases) == sorted(
        ["intended", "applied", "evidence", "heal-intended", "healed", "evidence-healed"]
    )


def test_every_line_has_lab_time_and_monotonic_time(tmp_path: Path) -> None:
    plan = schedule(tmp_path, NotedFault("f1", 1, 2, []))
    plan.run(lambda _: None)
    plan.finish()
    for row in journal_of(tmp_path):
        assert row["at_ms"] == CLOCK.lab_ms(row["mono_ns"])


def test_what_a_fault_tells_is_in_the_journal(tmp_path: Path) -> None:
    plan = schedule(tmp_path, NotedFault("f1", 1, 2, []))
    plan.run(lambda _: None)
    plan.finish()
    rows = {row["phase"]: row for row in journal_of(tmp_path)}
    assert rows["intended"]["kind"] == "noted"
    assert rows["applied"]["exit_code"] == 137
    assert rows["healed"]["banner_ms"] == 1


def test_a_run_that_ends_early_is_healed_last_fault_first(tmp_path: Path) -> None:
    notes: list[str] = []
    plan = schedule(tmp_path, NotedFault("f1", 1, 9, notes), NotedFault("f2", 2, 8, notes))
    with pytest.raises(InterruptedError):
        plan.run(_ends_at(8))
    plan.heal()
    plan.finish()
    assert acts(notes) == ["f1 start", "f2 start", "f2 stop", "f1 stop"]


def test_a_fault_that_failed_to_start_is_healed_too(tmp_path: Path) -> None:
    notes: list[str] = []
    plan = schedule(tmp_path, NotedFault("f1", 1, 9, notes, bad="start"))
    with pytest.raises(GroundError):
        plan.run(lambda _: None)
    plan.heal()
    plan.finish()
    assert acts(notes) == ["f1 start", "f1 stop"]


def test_a_fault_that_was_never_begun_is_not_touched(tmp_path: Path) -> None:
    notes: list[str] = []
    plan = schedule(tmp_path, NotedFault("f1", 5, 9, notes))
    with pytest.raises(InterruptedError):
        plan.run(_ends_at(5))
    plan.heal()
    plan.finish()
    assert notes == []


class EndsSlowly(Away):
    """A server that has ended when `has_ended` is set."""

    def __init__(
        self,
        fault_id: str,
        start_ms: int,
        end_ms: int,
        error: str = "",
        returns_with: ReturnsWith = "same-queue-database",
    ) -> None:
        planned = Kill(fault_id, "kill", start_ms, end_ms, "a", returns_with)
        super().__init__(planned, FakeGround(small_plan()).running_lab())
        self.has_ended = threading.Event()
        self._error = error

    def describe(self) -> str:
        return f"end {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "kill", "server": self._server}

    def _end(self) -> int:
        assert self.has_ended.wait(10)
        if self._error:
            raise GroundError(self._error)
        return self._lab.servers.kill(self._server)

    def evidence(self) -> Evidence:
        return self.confirmed()

    def confirmed(self) -> Evidence:
        return self._ended_with(137)


def whole_of(folder: Path, *faults: Fault) -> Schedule:
    journal = Journal(JsonLines(folder / "faults.jsonl"), CLOCK)
    return Schedule(faults, journal, CLOCK, lambda _: None)


def test_a_server_that_takes_long_to_end_delays_no_other_fault(tmp_path: Path) -> None:
    ends = EndsSlowly("f1", 1, 9)
    notes: list[str] = []

    class LetsItEnd(NotedFault):
        def start(self) -> Mapping[str, object]:
            ends.has_ended.set()
            return super().start()

    whole = whole_of(tmp_path, ends, LetsItEnd("f2", 2, 8, notes))
    whole.run(lambda _: None)
    whole.heal()
    whole.finish()
    assert acts(notes) == ["f2 start", "f2 stop"]
    assert whole.complaints == []
    phases = [row["phase"] for row in journal_of(tmp_path) if row["fault"] == "f1"]
    assert sorted(phases) == sorted(PHASES)
    assert phases.index("applied") < phases.index("heal-intended") < phases.index("healed")


def test_a_fault_whose_time_is_over_before_its_server_has_ended_is_stopped_once(
    tmp_path: Path,
) -> None:
    ends = EndsSlowly("f1", 1, 2)
    whole = whole_of(tmp_path, ends, NotedFault("f2", 3, 4, []))
    whole.run(lambda at_ms: ends.has_ended.set() if at_ms == 4 else None)
    whole.heal()
    whole.finish()
    phases = [row["phase"] for row in journal_of(tmp_path) if row["fault"] == "f1"]
    assert phases.count("heal-intended") == 1
    assert sorted(phases) == sorted(PHASES)


def test_a_server_that_is_gone_for_good_is_started_neither_by_the_plan_nor_by_its_end(
    tmp_path: Path,
) -> None:
    ends = EndsSlowly("f1", 1, 9, returns_with="never")
    ends.has_ended.set()
    whole = whole_of(tmp_path, ends, NotedFault("f2", 2, 8, []))
    whole.run(lambda _: None)
    whole.heal()
    whole.finish()
    phases = [row["phase"] for row in journal_of(tmp_path) if row["fault"] == "f1"]
    assert sorted(phases) == ["applied", "evidence", "intended"]
    assert whole.complaints == []


def test_a_server_that_cannot_be_ended_ends_the_run(tmp_path: Path) -> None:
    ends = EndsSlowly("f1", 1, 9, error="cannot kill a")
    ends.has_ended.set()
    whole = whole_of(tmp_path, ends)
    with pytest.raises(GroundError, match="cannot kill a"):
        whole.run(lambda _: None)
    whole.heal()
    whole.finish()


def test_an_error_while_healing_one_heals_the_others(tmp_path: Path) -> None:
    notes: list[str] = []
    plan = schedule(
        tmp_path, NotedFault("f1", 1, 9, notes), NotedFault("f2", 2, 9, notes, bad="stop")
    )
    with pytest.raises(InterruptedError):
        plan.run(_ends_at(9))
    plan.heal()
    plan.finish()
    assert acts(notes)[2:] == ["f2 stop", "f1 stop"]
    assert plan.complaints == ["fault f2 is not healed: f2 cannot stop"]


def test_a_probe_that_fails_is_no_evidence_and_ends_nothing(tmp_path: Path) -> None:
    plan = schedule(tmp_path, NotedFault("f1", 1, 2, [], bad="evidence"))
    plan.run(lambda at_ms: None if at_ms == 1 else _settled(plan))
    plan.finish()
    row = next(row for row in journal_of(tmp_path) if row["phase"] == "evidence")
    assert row["took_effect"] is None
    assert "f1 cannot evidence" in row["reason"]


def test_a_server_that_does_not_come_back_is_in_the_journal(tmp_path: Path) -> None:
    plan = schedule(tmp_path, NotedFault("f1", 1, 2, [], bad="healed"))
    plan.run(lambda _: None)
    plan.finish()
    row = next(row for row in journal_of(tmp_path) if row["phase"] == "evidence-healed")
    assert row["took_effect"] is False
    assert plan.complaints == ["f1 cannot healed"]


def _ends_at(lab_ms: float) -> Any:
    def wait_until(at_ms: float) -> None:
        if at_ms >= lab_ms:
            raise InterruptedError

    return wait_until


def _settled(plan: Schedule) -> None:
    assert plan.settle(5) == 0


def test_an_operation_is_over_with_its_answer_and_has_a_record_of_its_own(tmp_path: Path) -> None:
    notes: list[str] = []
    said: list[str] = []
    journal = Journal(
        JsonLines(tmp_path / "faults.jsonl"),
        CLOCK,
        operations=["o1"],
        operation_lines=JsonLines(tmp_path / "operations.jsonl"),
    )
    faults = [NotedFault("f1", 0, 2000, notes), NotedFault("o1", 1000, 1000, notes)]
    running = Schedule(faults, journal, CLOCK, said.append)
    running.run(lambda at_ms: None)
    running.heal()
    running.finish()
    assert {row["fault"] for row in journal_of(tmp_path)} == {"f1"}
    text = (tmp_path / "operations.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in text]
    assert [(row["operation"], row["phase"]) for row in rows] == [
        ("o1", "intended"),
        ("o1", "applied"),
        ("o1", "evidence"),
    ]
    assert "o1 evidence" in notes
    assert "o1 healed" not in notes
    assert not any("o1 is healed" in line for line in said)


def at(clock_ms: list[int], folder: Path, *faults: NotedFault) -> Schedule:
    """Of a lab whose time is the last of `clock_ms`."""
    journal = Journal(JsonLines(folder / "faults.jsonl"), CLOCK)
    now_ns = lambda: round(clock_ms[-1] * 1e6 / 60)  # noqa: E731
    return Schedule(faults, journal, CLOCK, lambda _: None, now_ns)


def test_one_that_comes_later_begins_and_ends_in_its_time(tmp_path: Path) -> None:
    notes: list[str] = []
    clock_ms = [0]
    whole = at(clock_ms, tmp_path)
    whole.act_on_what_is_due()
    whole.add(NotedFault("f1", 6_000, 12_000, notes))
    whole.add(NotedFault("f2", 3_000, 9_000, notes))
    seen = []
    for now_ms in (1_000, 4_000, 8_000, 10_000, 20_000):
        clock_ms.append(now_ms)
        whole.act_on_what_is_due()
        seen.append(list(whole.standing))
    whole.finish()
    assert acts(notes) == ["f2 start", "f1 start", "f2 stop", "f1 stop"]
    assert seen == [[], ["f2"], ["f2", "f1"], ["f1"], []]


def test_one_is_ended_before_its_time_and_once(tmp_path: Path) -> None:
    notes: list[str] = []
    clock_ms = [0]
    whole = at(clock_ms, tmp_path, NotedFault("f1", 1_000, 60_000, notes))
    assert not whole.stop_now("f1")
    clock_ms.append(2_000)
    whole.act_on_what_is_due()
    assert whole.stop_now("f1")
    assert not whole.stop_now("f1")
    clock_ms.append(70_000)
    whole.act_on_what_is_due()
    whole.heal()
    whole.finish()
    assert acts(notes) == ["f1 start", "f1 stop"]
    assert sorted(row["phase"] for row in journal_of(tmp_path)) == sorted(PHASES)


def test_what_cannot_begin_ends_it(tmp_path: Path) -> None:
    whole = at([0, 5_000], tmp_path)
    whole.add(NotedFault("f1", 1_000, 2_000, [], bad="start"))
    with pytest.raises(GroundError, match="f1 cannot start"):
        whole.act_on_what_is_due()
