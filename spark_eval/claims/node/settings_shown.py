"""settings_shown: a server shows the settings that it has, those too that only Exchange 2010 goes
by (SN-18), and none of them contradicts another (SR-13).

Asks each row by which a server said that it has read its configuration: each parameter that the
plan has for it is shown, with the value of the plan; and what is shown, whatever the plan says,
could have been set. That nothing goes by MaxDumpsterTime and MaxDumpsterSizePerDatabase is
`held_long_enough`'s. Not asked: where no server shows any, as in records of before.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.node.contradictions import Settings, contradictions
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE


def _cases(server: Server, run: Run) -> Iterator[Case]:
    begun = run.said("configured")
    if not any(row.settings for row in begun):
        return
    planned = {"TransportConfig": run.config.given, **server.config.given}
    for row in begun:
        if row.server != server.name:
            continue
        shown = row.settings or {}
        mistakes = (
            ("SN-18", _other_than(planned, shown)),
            ("SR-13", next(contradictions(shown), "")),
        )
        for requirement, wrong in mistakes:
            status, detail = fits(wrong and f"{server.name} at {stamp(row.at_ms)}: {wrong}")
            yield from asked(
                status, server.name, (requirement,), detail, row.at_ms, row, server=server.name
            )


def _other_than(planned: Settings, shown: Settings) -> str:
    for section, parameters in planned.items():
        for name, value in parameters.items():
            told = shown.get(section, {}).get(name)
            if told != value:
                says = "does not show it" if told is None else f"shows {told}"
                return f"{section} {name} is {value or 'empty'}, and it {says}"
    return ""


CLAIM = Claim("settings_shown", ("SR-13", "SN-18"), needs=frozenset({LIFECYCLE}), of_server=_cases)
