"""settings_shown: a mailbox server shows the settings that it has for Exchange 2010 alone (SN-18).

Asks each row by which a mailbox server said that it has read its configuration: MaxDumpsterTime and
MaxDumpsterSizePerDatabase are in it, as the plan has them. That nothing goes by them is
`held_long_enough`'s. Not asked: where the plan has neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE


def _cases(server: Server, run: Run) -> Iterator[Case]:
    planned = run.config.dumpster
    if not server.is_mailbox or None in planned:
        return
    for row in run.said("configured"):
        shown = (row.max_dumpster_bytes, row.max_dumpster_ms)
        if row.server == server.name:
            wrong = (
                f"{server.name} showed MaxDumpsterSizePerDatabase {shown[0]} bytes and "
                f"MaxDumpsterTime {shown[1]} ms at {stamp(row.at_ms)}; they are {planned[0]} and "
                f"{planned[1]}"
            )
            status, detail = fits("" if shown == planned else wrong)
            yield from asked(
                status, server.name, ("SN-18",), detail, row.at_ms, row, server=server.name
            )


CLAIM = Claim("settings_shown", ("SN-18",), needs=frozenset({LIFECYCLE}), of_server=_cases)
