"""What tracking rows show together of stores, queues and servers outside. Sums: what parts of a
record show adds up to the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spark_eval.histories.organisation.directory import Directory, directory_of
from spark_eval.histories.queues import OutsideSaid, Queues, said_outside
from spark_eval.read.heading import Heading
from spark_eval.read.logs import Logs, no_logs
from spark_eval.read.record import Lines, Record


@dataclass(slots=True)
class LogSums:
    """`queues` by server; `outside`: what servers outside said."""

    logs: Logs
    queues: dict[str, Queues] = field(default_factory=dict)
    outside: OutsideSaid = field(default_factory=dict)

    def take(self, read: Lines | Record, directory: Directory | None) -> None:
        """`directory` says who is outside, where that is asked."""
        self.logs.take(read)
        for row in read.tracking:
            self.queues.setdefault(row.server, Queues()).take(row)
        if directory is not None:
            self._hear(said_outside(read.tracking, directory.outside_of))

    def add(self, other: LogSums) -> None:
        self.logs.add(other.logs)
        for server, queues in other.queues.items():
            self.queues.setdefault(server, Queues()).add(queues)
        self._hear(other.outside)

    def _hear(self, outside: OutsideSaid) -> None:
        for queue, said in outside.items():
            self.outside.setdefault(queue, set()).update(said)


def no_log_sums(heading: Heading) -> LogSums:
    return LogSums(no_logs(heading))


def asked_outside(heading: Heading) -> Directory | None:
    """Servers outside that are the lab's put nothing off by themselves."""
    return None if heading.is_made else directory_of(heading.plan.topology, {})
