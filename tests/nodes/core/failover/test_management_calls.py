"""What Active Manager says to a server: an idle session that is lost is no answer (TP-6)."""

from __future__ import annotations

from nodes.core.engine.work import Work
from nodes.core.failover.management_calls import ANSWER_MS, ManagementCalls
from nodes.core.interface import inputs as on
from nodes.core.interface.copy_commands import AskCopyStatus
from nodes.core.model.database_copy import CopyState, CopyStatus
from nodes.core.sessions.outbound import Sessions
from tests.nodes.core.world import config

CLOSED = "connection closed by the peer"
STATUS = CopyStatus(CopyState.PASSIVE, 0, 7, 0, 0)


class Manager:
    """It asks par2; `heard`, what it hears: answers, and reasons why there is none."""

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.work = Work(lambda event: None)
        self.sessions = Sessions(config("par1"), self.work)
        self.calls = ManagementCalls(self.work, self.sessions)

    def ask(self) -> None:
        self.calls.say("par2", AskCopyStatus("DB1"), self.heard.append, self.heard.append)

    def opened(self, session: str) -> None:
        self.sessions.opened(on.SessionOpened(session, offers_shadow=False))

    def answered(self, session: str) -> on.CopyStatusAnswered:
        answer = on.CopyStatusAnswered(session, STATUS)
        self.sessions.answered(answer)
        return answer

    def with_an_idle_session(self) -> Manager:
        self.ask()
        self.opened("out-1")
        self.answered("out-1")
        self.heard.clear()
        return self


def test_what_is_said_on_an_idle_session_that_is_lost_is_said_on_a_new_one() -> None:
    manager = Manager().with_an_idle_session()
    manager.ask()
    manager.sessions.failed("out-1", CLOSED)
    assert manager.heard == []
    manager.opened("out-2")
    assert manager.heard == [manager.answered("out-2")]


def test_the_loss_of_a_new_session_is_the_answer() -> None:
    manager = Manager().with_an_idle_session()
    manager.ask()
    manager.sessions.failed("out-1", CLOSED)
    manager.opened("out-2")
    manager.sessions.failed("out-2", "reset")
    assert manager.heard == ["reset"]
    manager.ask()
    manager.sessions.failed("out-3", "refused")
    assert manager.heard == ["reset", "refused"]


def test_the_deadline_is_that_of_the_first_try() -> None:
    manager = Manager().with_an_idle_session()
    manager.ask()
    manager.work.now_ms += ANSWER_MS - 1
    manager.sessions.failed("out-1", CLOSED)
    manager.work.now_ms += 1
    manager.work.run_due()
    assert manager.heard == ["no answer in time"]
    manager.opened("out-2")
    assert manager.heard == ["no answer in time"]


def test_an_idle_session_that_hangs_is_not_asked_again() -> None:
    manager = Manager().with_an_idle_session()
    manager.ask()
    manager.work.now_ms += ANSWER_MS
    manager.work.run_due()
    assert manager.heard == ["no answer in time"]
    assert manager.sessions.begun == 1
