"""What a plan asks of a run beyond the claims, with the evidence of its faults and operations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from spark_eval.claims.mail import no_loss, no_phantom
from spark_eval.claims.safety_net import resubmission_bounded
from spark_eval.claims.shadow import no_early_promotion, promotion_on_time
from spark_eval.expected.safety_net.operations import operations
from spark_eval.histories.run import Run
from spark_eval.judging.verdict import PASS, Asked
from spark_eval.read.clocks_off import FAR_ABOVE
from spark_eval.read.damage import NO_TRACKING, Damage
from spark_eval.read.folder.file_list import DEPARTURES


def asked_of(run: Run) -> Asked:
    faults = sorted(run.faults, key=lambda each: each.id)
    asked = sorted(operations(run), key=lambda each: each.id)
    return Asked(
        proves=run.proves,
        faults={each.id: each.took_effect for each in faults},
        operations={each.id: each.took_effect for each in asked},
        needs=tuple(_needed(run)),
        unseen={each.id: each.reason or "" for each in faults}
        | {each.id: each.reason or "" for each in asked},
        too_coarse=_too_coarse(run),
        expected=run.expect.verdict or PASS,
        damage=tuple(_in_words(unexplained(run))),
    )


def _needed(run: Run) -> Iterator[str]:
    """The claims that compare what `expect` says with what came; [] says something too. Where the
    lab did not make the record, whether anything was lost or made up has to be known.
    """
    expect = run.expect
    if expect.lost is not None or expect.unprotected_loss is not None or not run.is_of_lab:
        yield no_loss.CLAIM.name
    if not run.is_of_lab:
        yield no_phantom.CLAIM.name
    if expect.promotions is not None:
        yield no_early_promotion.CLAIM.name
    if expect.promotions:
        yield promotion_on_time.CLAIM.name
    if expect.resubmissions is not None:
        yield resubmission_bounded.CLAIM.name


def unexplained(run: Run) -> list[Damage]:
    """Damage that no fault explains.

    Every line was whole when the lab left the record, but for what a server was writing when a
    fault took it away. A server of the lab that nobody asked anything has no tracking log; one of
    somebody else's always has, and what it says was not read.
    """
    return [each for each in run.damage if not _is_explained(each, run)]


def _is_explained(damage: Damage, run: Run) -> bool:
    if damage.damage in DEPARTURES:
        return False
    if damage.damage == NO_TRACKING:
        return run.is_of_lab
    server = run.servers.get(damage.server)
    away = list(server.away()) if server is not None else []
    if damage.file.endswith("/lifecycle.jsonl"):
        return sum(each.file == damage.file for each in run.damage) <= len(away)
    is_log = "/MSGTRK" in damage.file or "/CONNECTLOG" in damage.file
    return is_log and any(
        (each.lo if damage.from_ms is None else damage.from_ms) <= each.hi
        and (each.hi if damage.to_ms is None else damage.to_ms) >= each.lo
        for each in away
    )


def _in_words(damage: list[Damage]) -> Iterator[str]:
    """One sentence for all of a kind in a file."""

    def kind(each: Damage) -> tuple[str, str]:
        return each.file, each.damage

    for (file, what), rows in groupby(sorted(damage, key=kind), key=kind):
        numbers = [each.line for each in rows]
        first = min((number for number in numbers if number is not None), default=None)
        where = f", {len(numbers)}, first line {first}" if first else ""
        yield f"{file} is damaged: {what}{where}"


def _too_coarse(run: Run) -> str:
    if run.resolution_ms is None:
        return "host.json states no clock resolution, so no duration can be judged"
    shortest_ms = min(run.config.heartbeat_ms, run.config.span_ms)
    if shortest_ms >= FAR_ABOVE * run.resolution_ms:
        return ""
    return (
        f"the lab's clock resolves {run.resolution_ms:g} ms, too coarse to judge a duration of "
        f"{shortest_ms} ms: {FAR_ABOVE} times the resolution is needed"
    )
