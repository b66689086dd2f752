"""Servers that ask others about the shadow messages that they hold for them, and how many those
were at each moment that they asked or heard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from spark_eval.histories.mail_of_pairs import HeldOfPair
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.pairs import Pair, last_by
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was asked or heard: how many shadow messages were surely held, were ever had,
    and were gone by then.
    """

    holding: int
    had: int
    gone: int


@dataclass(frozen=True)
class Asker:
    """`server` asks `peer`, of whose messages it held shadow messages at some time."""

    server: Server
    peer: str
    pair: Pair
    held: HeldOfPair
    run: Run

    def is_clear(self, at_ms: int, waited_ms: int = 0) -> bool:
        """Whether nothing was in the way, for as long before as an exchange may hang."""
        return not touches(self.pair.any_possible, at_ms - self.held.longest_ms, at_ms + waited_ms)

    def has_just_begun(self, at_ms: int) -> bool:
        """Whether something was begun with shadow messages shortly before: their promotion, or with
        an answer that names them their end. On a full disk either ends where it began, and is begun
        anew.
        """
        begun_ms = last_by(self._begun_ms, at_ms)
        return begun_ms is not None and at_ms <= begun_ms + self.held.prompt_ms

    @cached_property
    def _begun_ms(self) -> list[int]:
        promoting = [
            row.at_ms
            for row in self.run.said("promotion-begun")
            if row.server == self.server.name
            and (row.primary or "").lower() == self.peer
            and row.at_ms is not None
        ]
        told = (each.at_ms for each in self.pair.answers if each.notifications)
        return sorted([*promoting, *told])

    @cached_property
    def moments(self) -> dict[int, Moment]:
        """By time. An answer just before a kill may have let messages go with no row that says so;
        probes are in no question, and an answer names them beside all others.
        """
        times, held, server = self.pair.moments, self.held, self.server
        holding, had, gone = held.holding.copy(), held.had.copy(), held.gone.copy()
        for answer in self.pair.answers:
            if answer.notifications and not server.shows(answer.at_ms, answer.at_ms):
                holding[_place(times, answer.at_ms)] -= answer.notifications
        is_first_store = all(era.lost_ms is None for era in server.eras)
        for row in self.run.probes:
            if (row.server, row.primary_server) == (server.name, self.peer):
                if row.event == "HARECEIVE":
                    had[_place(times, row.at_ms)] += 1
                elif row.event == "HADISCARD" and is_first_store:
                    gone[_place(times, row.at_ms + held.prompt_ms)] += 1
        sums = (_running(each, len(times)) for each in (holding, had, gone))
        return {at_ms: Moment(*counts) for at_ms, *counts in zip(times, *sums, strict=True)}


def askers(run: Run) -> Iterator[Asker]:
    """By the names of both."""
    for (name, peer), held in sorted(run.mail_of_pairs.held.items(), key=lambda each: each[0]):
        if (server := run.servers.get(name)) is not None:
            yield Asker(server, peer, run.pairs.between(name, peer), held, run)


def _running(changes: Counter[int], length: int) -> list[int]:
    return list(accumulate(changes[place] for place in range(length)))


def _place(times: list[int], at_ms: int) -> int:
    return next((place for place, time_ms in enumerate(times) if time_ms >= at_ms), len(times))
