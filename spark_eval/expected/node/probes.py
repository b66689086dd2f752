"""Probes that were delivered: no part of what is judged, but each of them is a log of its copy."""

from __future__ import annotations

from functools import lru_cache

from spark_eval.expected.mail.deliveries_by_copy import deliveries_by_copy
from spark_eval.histories.deliveries import DeliveriesByCopy
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run


@lru_cache(maxsize=1)
def probes_by_copy(run: Run) -> DeliveriesByCopy:
    probes = Message("", tracking=list(run.probes))
    return deliveries_by_copy([probes], run)
