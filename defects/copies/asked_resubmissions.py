"""Defects of what Safety Nets give back on an administrator's request, with no failover (SN-8)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from defects.safety_nets import ReadsNothing
from nodes.core.interface.inputs import Input, ResubmitRequested, SafetyNetRead
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource

ON_REQUEST, WITHOUT_A_DAG = "resubmitted-on-request", "resubmitted-without-a-dag"
MINUTE_MS = 60_000


def is_by_an_administrator(demand: ResubmitDemand) -> bool:
    """Active Manager's say which change of a database they belong to: `DB1:1`."""
    return ":" not in demand.request_id


class OfAdministrators(Door):
    """`heard` says what the core is asked for instead, of all that no failover asks for."""

    @abstractmethod
    def heard(self, asked: ResubmitRequested) -> Iterable[Input]: ...

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ResubmitRequested) and is_by_an_administrator(happened.demand):
            return self.heard(happened)
        return (happened,)


class HearsNone(OfAdministrators):
    def heard(self, asked: ResubmitRequested) -> Iterable[Input]:
        return ()


class WorksOnAnotherInterval(OfAdministrators):
    from_ms = to_ms = 0

    def heard(self, asked: ResubmitRequested) -> Iterable[Input]:
        start_ms = asked.demand.start_ms + self.from_ms
        end_ms = asked.demand.end_ms + self.to_ms
        return (replace(asked, demand=replace(asked.demand, start_ms=start_ms, end_ms=end_ms)),)


class BeginsEarlier(WorksOnAnotherInterval):
    from_ms = -5 * MINUTE_MS


class GoesOn(WorksOnAnotherInterval):
    to_ms = 3 * MINUTE_MS


class EndsEarlier(WorksOnAnotherInterval):
    to_ms = -MINUTE_MS


class PassesOnNoHead(OfAdministrators):
    """What others ask of its Shadow Safety Net counts as nothing."""

    def heard(self, asked: ResubmitRequested) -> Iterable[Input]:
        return () if asked.demand.source is SafetyNetSource.SHADOW else (asked,)


class ReadsNothingWithoutADag(ReadsNothing):
    def read(self, page: SafetyNetRead) -> SafetyNetRead:
        return page if self.config.me.dag is not None else super().read(page)


COMPLETE, BOUNDED = ("resubmission_complete",), ("resubmission_bounded",)
DEFECTS = (
    Defect(
        "does-not-hear-an-administrator",
        "A server takes no request on that no failover asks for.",
        "SN-8", ON_REQUEST, COMPLETE, lambda: behind(HearsNone),
    ),
    Defect(
        "begins-earlier-on-request",
        "On an administrator's request a Safety Net begins five minutes before the interval.",
        "SN-8", ON_REQUEST, BOUNDED, lambda: behind(BeginsEarlier),
    ),
    Defect(
        "goes-on-on-request",
        "On an administrator's request a Safety Net goes on for three minutes after the interval.",
        "SN-8", ON_REQUEST, BOUNDED, lambda: behind(GoesOn),
    ),
    Defect(
        "ends-earlier-on-request",
        "On an administrator's request a Safety Net leaves out the last minute of the interval.",
        "SN-8", ON_REQUEST, COMPLETE, lambda: behind(EndsEarlier),
    ),
    Defect(
        "gives-nothing-back-without-a-dag",
        "A server in no DAG takes the request on, and gives nothing back.",
        "SN-3", WITHOUT_A_DAG, COMPLETE, lambda: behind(ReadsNothingWithoutADag),
    ),
    Defect(
        "answers-for-no-missing-head",
        "A Shadow Safety Net does not answer for a Primary Safety Net that is too young.",
        "SN-9", WITHOUT_A_DAG, BOUNDED, lambda: behind(PassesOnNoHead),
    ),
)  # fmt: skip
