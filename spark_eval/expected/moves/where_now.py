"""For whom of those to whom something was delivered a Safety Net answers: whose mailbox is now in
the database that was asked for, wherever it was delivered (SN-8).
"""

from __future__ import annotations

from collections.abc import Iterable

from spark_eval.histories.run import Run


def surely_in(
    database: str, delivered_into: str, recipients: Iterable[str], span: tuple[int, int], run: Run
) -> tuple[str, ...]:
    """Whose mailbox surely was in `database` all of the span, lab ms."""
    return tuple(
        who
        for who in recipients
        if (
            run.directory.places(who, *span) == (database,)
            if who in run.directory.moves
            else delivered_into == database
        )
    )


def possibly_in(database: str, recipient: str, span: tuple[int, int], run: Run) -> bool:
    """Whether a mailbox may have been there at some moment of the span."""
    return database in run.directory.places(recipient, *span)
