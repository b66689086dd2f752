"""What is counted over the messages of a run: sums of parts add up to the sum of the whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.results.counts import Counts
from spark_eval.results.coverage import Coverage
from spark_eval.results.exposure import Exposure
from spark_eval.results.failovers import Returns
from spark_eval.results.timeline import Timeline


@dataclass(slots=True)
class Sums:
    counts: Counts = field(default_factory=Counts)
    exposure: Exposure = field(default_factory=Exposure)
    returns: Returns = field(default_factory=Returns)
    timeline: Timeline = field(default_factory=Timeline)
    coverage: Coverage = field(default_factory=Coverage)

    def count(self, message: Message, run: Run) -> None:
        """A message and the DSNs about it."""
        for each in message.with_dsns:
            self.counts.count(each, run)
            self.returns.count(each, run)
            self.timeline.count(each, run)
        self.exposure.count(message, run)
        self.coverage.count(message, run)

    def count_run(self, run: Run) -> None:
        """What is no message's: once a run, whatever parts it has."""
        self.returns.count_requests(run)
        self.timeline.count_lifecycle(run)

    def add(self, other: Sums) -> None:
        self.counts.add(other.counts)
        self.exposure.add(other.exposure)
        self.returns.add(other.returns)
        self.timeline.add(other.timeline)
        self.coverage.add(other.coverage)

    def numbers(self, run: Run) -> dict[str, dict[str, Any]]:
        """`delivery`, `promotion`, `safety_net` and `exposure` of verdict.json."""
        return {**self.counts.numbers(self.returns, run), "exposure": self.exposure.numbers()}


def sums_of(messages: Iterable[Message], run: Run) -> Sums:
    """Of a whole run."""
    sums = Sums()
    sums.count_run(run)
    for message in messages:
        sums.count(message, run)
    return sums
