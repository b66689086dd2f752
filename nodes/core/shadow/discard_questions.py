"""The questions (XQDISCARD) of one shadow queue, in the order in which they were asked, and what a
late answer is still worth.

An answer was given after its question was asked, by a process that was there when it was asked;
nothing more is known of its moment. So it says nothing of a message that came later than the
question, and it is outdated where a later question has brought another database id: a database id
never comes back. It refuses to go by the moment at which an answer arrives.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.engine.work import Then
from nodes.core.interface.inputs import DiscardAnswered
from nodes.core.sessions.outbound_session import Lease


@dataclass(frozen=True, slots=True)
class Question:
    """`number` in the order of asking. `held_up_to`: this server's own id of the youngest shadow
    message that was held when it was asked, at `asked_ms`; 0 where none was.
    """

    number: int
    asked_ms: int
    held_up_to: int


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer that waits until it is taken in; `then` is called after that."""

    question: Question
    answer: DiscardAnswered
    heard_ms: int
    lease: Lease
    is_outdated: bool
    then: Then


class DiscardQuestions:
    """`database_id`: the newest that the primary is known by."""

    def __init__(self) -> None:
        self.database_id = ""
        self._asked = 0
        self._known_by = 0

    def ask(self, now_ms: int, held_up_to: int) -> Question:
        self._asked += 1
        return Question(self._asked, now_ms, held_up_to)

    def hear(self, question: Question, database_id: str) -> bool:
        """Whether the answer is outdated; any other one is the newest knowledge from here on."""
        if database_id != self.database_id and question.number < self._known_by:
            return True
        self.database_id = database_id
        self._known_by = max(self._known_by, question.number)
        return False
