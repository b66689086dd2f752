"""Every table that comes from histories alone: those of claims and of their stories come from
cases.

Rows of a message are made message by message; what a run says is made once, out of the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.results.damage import log_damage_rows
from spark_eval.results.exposure import exposure_rows
from spark_eval.results.failovers import (
    asks_safety_nets,
    operation_rows,
    resubmission_rows,
    transition_rows,
)
from spark_eval.results.faults import fault_window_rows
from spark_eval.results.messages import attempt_rows, delay_rows, delivery_rows, message_rows
from spark_eval.results.row import Row
from spark_eval.results.shadows import (
    discard_rows,
    promotion_delay_rows,
    promotion_rows,
    shadow_rows,
)
from spark_eval.results.sums import Sums
from spark_eval.results.timeline import timeline_rows

OF_MESSAGE: Mapping[str, Callable[[Message, Run], Iterable[Row]]] = {
    "messages": message_rows,
    "attempts": attempt_rows,
    "deliveries": delivery_rows,
    "shadows": shadow_rows,
    "promotions": promotion_rows,
    "discards": discard_rows,
    "delays": delay_rows,
    "promotion_delays": promotion_delay_rows,
    "redundancy_exposure": exposure_rows,
    "resubmissions": resubmission_rows,
}
OF_RUN: Mapping[str, Callable[[Run, Sums], Iterable[Row]]] = {
    "fault_windows": lambda run, sums: fault_window_rows(run),
    "timeline_events": lambda run, sums: timeline_rows(sums.timeline, run),
    "log_damage": lambda run, sums: log_damage_rows(run),
    "transitions": lambda run, sums: transition_rows(sums.returns, run),
    "operations": lambda run, sums: operation_rows(run),
}
# of runs whose plan makes somebody ask a Safety Net
OF_SAFETY_NETS = ("transitions", "resubmissions", "operations")


def names(run: Run) -> list[str]:
    """The tables that a run has."""
    asks = asks_safety_nets(run)
    return [each for each in (*OF_MESSAGE, *OF_RUN) if asks or each not in OF_SAFETY_NETS]


def rows_of_message(message: Message, run: Run) -> Iterator[tuple[str, Row]]:
    """Table and row, of a message and of the DSNs about it."""
    wanted = [name for name in names(run) if name in OF_MESSAGE]
    for each in message.with_dsns:
        for name in wanted:
            for row in OF_MESSAGE[name](each, run):
                yield name, row


class OfMessages:
    """Rows of some of a run's messages, by table, and their `sums`."""

    def __init__(self, run: Run) -> None:
        self.rows: dict[str, list[Row]] = {name: [] for name in names(run) if name in OF_MESSAGE}
        self.sums = Sums()

    def take(self, message: Message, run: Run) -> None:
        for name, row in rows_of_message(message, run):
            self.rows[name].append(row)
        self.sums.count(message, run)


def tables_of_run(run: Run, sums: Sums) -> dict[str, list[Row]]:
    """What is no message's; `sums` of all messages, and of the run."""
    return {name: list(OF_RUN[name](run, sums)) for name in names(run) if name in OF_RUN}


def tables_of(messages: Iterable[Message], run: Run) -> tuple[dict[str, list[Row]], Sums]:
    """Of a whole run; and its sums."""
    found = OfMessages(run)
    for message in messages:
        found.take(message, run)
    return with_those_of_run(found, run)


def with_those_of_run(found: OfMessages, run: Run) -> tuple[dict[str, list[Row]], Sums]:
    """`found`: of all messages."""
    found.sums.count_run(run)
    return found.rows | tables_of_run(run, found.sums), found.sums
