"""A run's mail in parts: all of each message in one of them. What is said of a run is a sum of what
is said of its parts, so that it does not matter how many there are, or where.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from spark_eval.histories.message import Message, messages_of
from spark_eval.histories.stores import Stores, stores_of
from spark_eval.read.contradictions import of_mail
from spark_eval.read.damage import Damage
from spark_eval.read.heading import Heading
from spark_eval.read.mail import Mail


@dataclass(frozen=True, slots=True)
class Part:
    """`messages` in the order of ids; what `stores` held of them; `damage`: what the record says of
    them twice, and not alike.
    """

    messages: list[Message]
    stores: Stores
    damage: list[Damage]


class Adding(Protocol):
    """Sums of parts add up to the sum of the whole."""

    def add(self, other: Self, /) -> None: ...


Sum = TypeVar("Sum", bound=Adding)
Known = TypeVar("Known")


class Parts(Protocol):
    def sum(self, count: Callable[[Part, Known], Sum], known: Known) -> Sum:
        """What `count` makes of each part, added up; `known`: what all parts know."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All in one part."""

    part: Part

    def sum(self, count: Callable[[Part, Known], Sum], known: Known) -> Sum:
        return count(self.part, known)


def part_of(mail: Mail, heading: Heading) -> Part:
    return Part(
        messages_of(mail, heading.front_ends), stores_of(mail.queues), list(of_mail(mail, heading))
    )
