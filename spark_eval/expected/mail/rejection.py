"""How a server says that it could not make a message redundant, and takes it not (SR-5)."""

from __future__ import annotations

from spark_eval.read.rows import TrackingRow

REJECTION = "451 4.4.0 Message failed to be made redundant"


def is_rejection(row: TrackingRow) -> bool:
    return row.event == "HAREDIRECTFAIL" and row.outcome == "rejected"
