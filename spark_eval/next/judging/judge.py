"""From the files of a record to histories, and to what each claim found in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from spark_eval.next.claims.catalogue import ALL
from spark_eval.next.claims.claim import Claim
from spark_eval.next.expected.mail.deliveries_by_copy import deliveries_by_copy
from spark_eval.next.expected.mail.waiting import waits
from spark_eval.next.expected.safety_net.failover_limits import found_by, limits_of
from spark_eval.next.expected.shadow.mail_of_pairs import mail_of_pairs, oldest_of_pairs
from spark_eval.next.expected.totals import Totals, totals_of
from spark_eval.next.histories.message import Message, messages_of
from spark_eval.next.histories.run import Run, run_of
from spark_eval.next.histories.traffic import traffic_of
from spark_eval.next.judging.tally import Tally
from spark_eval.next.read.contradictions import contradictions
from spark_eval.next.read.file_list import departures
from spark_eval.next.read.files import Files
from spark_eval.next.read.misplaced import misplaced
from spark_eval.next.read.record import Record, read_record


class Histories(NamedTuple):
    """What a whole record says: of each message, in the order of ids, and of the run."""

    messages: list[Message]
    run: Run


def histories_of(files: Files) -> Histories:
    """Raises `NoPlanError`, `OSError`."""
    record = read_record(files)
    found = [*record.damage, *departures(files, record.manifest)]
    found += [*misplaced(record), *contradictions(record)]
    return of_record(replace(record, damage=found))


def of_record(record: Record) -> Histories:
    messages = messages_of(record)
    run = run_of(record, traffic_of(messages))
    run = replace(run, limits=limits_of(found_by(messages, run)))
    run = replace(
        run,
        mail_of_pairs=mail_of_pairs(messages, run),
        delivered=deliveries_by_copy(messages, run),
        waits=waits(messages, run),
    )
    run.mail_of_pairs.add(oldest_of_pairs(messages, run))
    return Histories(messages, run)


def tallies(histories: Histories, claims: Sequence[Claim] = ALL) -> dict[str, Tally]:
    """Of one whole record, by the name of each claim."""
    messages, run = histories
    found = of_messages(messages, run, claims)
    _add(found, of_servers(run, claims))
    _add(found, of_run(run, totals_of(messages, run), claims))
    return found


def of_messages(messages: Iterable[Message], run: Run, claims: Sequence[Claim]) -> dict[str, Tally]:
    """A part of a run's messages, or all of them."""
    found = {claim.name: Tally() for claim in claims}
    asked = [(found[claim.name], claim.of_message) for claim in claims if claim.of_message]
    for message in messages:
        for tally, cases in asked:
            tally.ask(cases, message, run)
    return found


def of_servers(run: Run, claims: Sequence[Claim]) -> dict[str, Tally]:
    found = {claim.name: Tally() for claim in claims}
    for claim in claims:
        if claim.of_server is not None:
            for server in run.servers.values():
                found[claim.name].ask(claim.of_server, server, run)
    return found


def of_run(run: Run, totals: Totals, claims: Sequence[Claim]) -> dict[str, Tally]:
    found = {claim.name: Tally() for claim in claims}
    for claim in claims:
        if claim.of_run is not None:
            found[claim.name].ask(claim.of_run, run, totals)
    return found


def _add(found: dict[str, Tally], more: dict[str, Tally]) -> None:
    for name, tally in more.items():
        found[name].add(tally)
