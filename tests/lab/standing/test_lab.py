"""A lab at which somebody works, on a fake host: what is done by hand is done, recorded, judged."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lab.hosts.containers.ground.provision import Ground
from lab.hosts.host import Means, Say
from lab.plan.plan import Plan
from lab.program.errors import INTERRUPTED, LabError
from lab.record.folder import RunFolder
from lab.run.outcome import RunOptions
from lab.standing.control import ask
from lab.standing.hand_scenario import HandScenario
from lab.standing.lab import stand
from lab.workload.agent import Hushed
from tests.lab.faults.fake_target import FakeGround
from tests.lab.scenario.sample_scenario import SCENARIO, changed, checked

QUICK = changed(SCENARIO, "settle: 10m", "settle: 10s")


@dataclass
class Timed(FakeGround):
    """Its workload is hushed at the moment that it is."""

    zero_ns: int = 0

    def hush(self) -> Hushed:
        self._do("hush")
        lab_ms = (time.monotonic_ns() - self.zero_ns) * self.plan.clock.speed / 1e6
        return Hushed(round(lab_ms), frozenset())


@dataclass
class StandingFake:
    """A fake host: `means` does what it is told, and `state` is where its lab can be spoken to."""

    means: Timed
    state: Path
    name: str = "fake"

    @property
    def ground(self) -> Ground:
        return Ground("sound-7", self.state, "", "", ("", 0), {}, "", "", {})

    def up(self, plan: Plan, folder: RunFolder, say: Say) -> Means:
        self.means._do("up")
        return Means(self.means.links(), self.means, self.means, self.means)

    def start_clock(self) -> int:
        self.means.zero_ns = time.monotonic_ns()
        return self.means.zero_ns

    def describe(self) -> Mapping[str, object]:
        return {"versions": {"engine": "1"}, "images": {}}

    def stop_workload(self) -> None:
        self.means._do("stop the workload")

    def stop_servers(self) -> Mapping[str, int]:
        self.means._do("stop the servers")
        return {"par-mbx1": 0}

    def collect(self) -> Sequence[str]:
        self.means._do("collect")
        return []

    def keep(self) -> str:
        raise AssertionError("a lab by hand is taken down")

    def down(self) -> None:
        self.means._do("down")


class Judge:
    """Holds every folder that it judged."""

    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.judged: list[Path] = []

    def __call__(self, folder: Path) -> Judge:
        self.judged.append(folder)
        return self

    def judge(self) -> int:
        return self.code

    def abandon(self) -> None:
        self.judged.clear()


@dataclass
class Worker:
    """What a person does, in the order of `requests`; each answer, or what was refused."""

    requests: Sequence[Mapping[str, Any]]
    state: Path
    answers: list[Any] = field(default_factory=list)
    thread: threading.Thread | None = None

    def work(self, folder: Path, plan: Plan, ground: Ground) -> None:
        self.thread = threading.Thread(target=self._ask)
        self.thread.start()

    def _ask(self) -> None:
        for request in self.requests:
            try:
                self.answers.append(self._answer(dict(request)))
            except LabError as error:
                self.answers.append(error.cause)

    def _answer(self, request: dict[str, Any]) -> Any:
        """As often as it takes until what it waits for is so."""
        until = request.pop("until", lambda answer: True)
        while True:
            answer = ask(self.state, request, lambda line: None)
            if until(answer):
                return answer
            time.sleep(0.02)


@dataclass
class Session:
    """A lab that stands, and what became of it."""

    folder: Path
    means: Timed
    hand: HandScenario
    judge: Judge = field(default_factory=Judge)
    answers: list[Any] = field(default_factory=list)

    def work(self, *requests: Mapping[str, Any]) -> int:
        state = self.folder / "state"
        state.mkdir()
        worker = Worker(requests, state)
        options = RunOptions(self.folder / "runs", state, self.hand.checked.text)
        host = StandingFake(self.means, state)
        code = stand(self.hand, options, host, worker.work, lambda line: None, self.judge)
        if worker.thread is not None:
            worker.thread.join(20)
        self.answers = worker.answers
        return code

    @property
    def record(self) -> Path:
        (folder,) = (self.folder / "runs" / "sound-by-hand").glob("2*")
        return folder

    @property
    def plan(self) -> Plan:
        return Plan.from_json((self.record / "plan.json").read_text())

    def rows(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.record / name).read_text().splitlines()]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    [sound] = checked(tmp_path, QUICK).scenarios
    hand = HandScenario(sound, 7)
    return Session(tmp_path, Timed(hand.plan), hand)


END = {"op": "end"}
ACTS = {"op": "status", "until": lambda answer: answer["faults"]}


def test_what_is_done_is_done_recorded_and_judged(session: Session) -> None:
    kill = {"op": "do", "entry": "kill: par-mbx1, returns_with: new-queue-database"}
    heal = {"op": "heal", "fault": "f1"}
    ask = {"op": "do", "entry": "show_queues: par-mbx2"}
    assert session.work(kill, ACTS, heal, ask, minutes(2), END) == 0
    killed, told, healed, asked, _, ended = session.answers
    assert killed == {"ids": ["f1"], "words": ["f1: kill par-mbx1"]}
    assert told["faults"] == [["f1", "kill par-mbx1, returns with the new queue database"]]
    assert (healed, asked["ids"]) == ({}, ["o1"])
    phases = [each["phase"] for each in session.rows("faults.jsonl")]
    assert phases[:2] == ["intended", "applied"]
    assert {"heal-intended", "healed"} <= set(phases)
    assert session.rows("operations.jsonl")[0]["operation"] == "o1"
    plan = session.plan
    assert ([each.id for each in plan.faults], plan.operations[0].id) == (["f1"], "o1")
    assert plan.faults[0].end_ms <= healed_ms(session) < plan.operations[0].at_ms
    assert session.judge.judged == [session.record]
    assert session.means.deeds[-4:] == ["stop the workload", "stop the servers", "collect", "down"]
    assert ended == {"code": 0, "folder": str(session.record), "cause": "", "hint": ""}


def test_what_stands_is_told_and_healed_at_the_end(session: Session) -> None:
    pause = {"op": "do", "entry": "pause: lyo-mbx1"}
    session.judge.code = 1
    assert session.work(pause, ACTS, END) == 1
    told = session.answers[1]
    assert told["faults"] == [["f1", "pause lyo-mbx1"]]
    assert told["done"] == 1
    deeds = session.means.deeds
    hushed, resumed = deeds.index("hush"), deeds.index("resume lyo-mbx1")
    assert hushed < resumed < deeds.index("stop the workload")
    [fault] = session.plan.faults
    assert fault.start_ms < fault.end_ms == session.plan.workload_end_ms


def test_mail_goes_on_and_some_is_sent_by_hand(session: Session) -> None:
    send = {"op": "send", "entry": "to: {database: DB1}", "count": 4}
    assert session.work(send, minutes(2), END) == 0
    assert len(session.answers[0]["ids"]) == 4
    assert "add 4 messages" in session.means.deeds
    assert session.means.deeds.count("add 200 messages") > 1
    assert session.plan.messages
    assert max(each.at_ms for each in session.plan.messages) <= session.plan.workload_end_ms


def test_what_is_refused_is_said_and_the_lab_stands_on(session: Session) -> None:
    wrong = [
        {"op": "do", "entry": "kill: par-mbx9"},
        {"op": "heal", "fault": "f7"},
        {"op": "send", "entry": "to: {database: DB9}"},
        {"op": "dance"},
        {},
    ]
    assert session.work(*wrong, {"op": "status"}, END) == 0
    *refused, status, ended = session.answers
    assert [type(each) for each in refused] == [str] * len(wrong)
    assert "no fault f7 acts now" in refused[1]
    assert (status["done"], ended["code"]) == (0, 0)


def test_a_lab_that_does_not_come_up_is_removed_and_not_judged(session: Session) -> None:
    session.means.fails.add("up")
    assert session.work(END) == 3
    assert session.answers == []
    assert session.means.deeds[-1] == "down"
    assert session.judge.judged == []


def test_whoever_ends_it_at_once_keeps_what_was_done(session: Session) -> None:
    pause = {"op": "do", "entry": "pause: lyo-mbx1"}

    def end_it(answer: dict[str, Any]) -> bool:
        if answer["faults"]:
            os.kill(os.getpid(), signal.SIGTERM)
        return bool(answer["faults"])

    assert session.work(pause, {"op": "status", "until": end_it}) == INTERRUPTED
    assert session.judge.judged == []
    plan = session.plan
    assert (len(plan.faults), plan.duration_ms) == (1, plan.workload_end_ms)
    assert "resume lyo-mbx1" in session.means.deeds
    assert session.means.deeds[-1] == "down"


def minutes(number: int) -> dict[str, Any]:
    """Of lab time, since it stands."""
    return {"op": "status", "until": lambda answer: answer["lab_ms"] > number * 60_000}


def healed_ms(session: Session) -> int:
    rows = session.rows("faults.jsonl")
    return next(int(each["at_ms"]) for each in rows if each["phase"] == "heal-intended")
