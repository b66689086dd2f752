"""From the files of a record to histories, and to what each claim found in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from spark_eval.claims.catalogue import ALL
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals, count
from spark_eval.histories.log_sums import asked_outside, no_log_sums
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.judging.evidence import shown
from spark_eval.judging.parts import Whole, part_of
from spark_eval.judging.run import run_of_parts
from spark_eval.judging.tally import Tally
from spark_eval.read.folder.file_list import departures
from spark_eval.read.folder.files import Files
from spark_eval.read.mail import mail_of
from spark_eval.read.record import read_record


class Histories(NamedTuple):
    """What a whole record says: of each message, in the order of ids, and of the run."""

    messages: list[Message]
    run: Run


Also = Callable[[Message, Run], None]
"""What else is made of each message while all that is derived of it is at hand."""


def nothing(_message: Message, _run: Run) -> None:
    pass


def histories_of(files: Files) -> Histories:
    """Raises `NoPlanError`, `OSError`."""
    record = read_record(files)
    sums = no_log_sums(record.heading)
    sums.take(record, asked_outside(record.heading))
    part = part_of(mail_of(record), record.heading)
    departed = departures(files, record.heading.manifest)
    return Histories(part.messages, run_of_parts(record, departed, sums, Whole(part)))


def tallies(
    histories: Histories, claims: Sequence[Claim] = ALL, also: Also = nothing
) -> dict[str, Tally]:
    """Of one whole record, by the name of each claim."""
    messages, run = histories
    found, totals = of_messages(messages, run, claims, also)
    add_tallies(found, beside_messages(run, totals, claims))
    return found


def beside_messages(run: Run, totals: Totals, claims: Sequence[Claim]) -> dict[str, Tally]:
    """Cases of servers and of the run."""
    found = of_servers(run, claims)
    add_tallies(found, of_run(run, totals, claims))
    return found


def of_messages(
    messages: Iterable[Message], run: Run, claims: Sequence[Claim], also: Also = nothing
) -> tuple[dict[str, Tally], Totals]:
    """A part of a run's messages, or all of them."""
    found, totals = {claim.name: Tally() for claim in claims}, Totals()
    asked = [
        (found[claim.name], cases)
        for claim in claims
        if (cases := shown(claim.of_message, claim, run)) is not None
    ]
    for message in messages:
        for tally, cases in asked:
            tally.ask(cases, message, run)
        count(totals, message, run)
        also(message, run)
    return found, totals


def of_servers(run: Run, claims: Sequence[Claim]) -> dict[str, Tally]:
    found = {claim.name: Tally() for claim in claims}
    for claim in claims:
        if claim.of_server is not None:
            for server in run.servers.values():
                if claim.needs <= server.evidence:
                    found[claim.name].ask(claim.of_server, server, run)
    return found


def of_run(run: Run, totals: Totals, claims: Sequence[Claim]) -> dict[str, Tally]:
    found = {claim.name: Tally() for claim in claims}
    for claim in claims:
        if (cases := shown(claim.of_run, claim, run)) is not None:
            found[claim.name].ask(cases, run, totals)
    return found


def add_tallies(found: dict[str, Tally], more: dict[str, Tally]) -> None:
    """Parts add up to the whole."""
    for name, tally in more.items():
        found[name].add(tally)
