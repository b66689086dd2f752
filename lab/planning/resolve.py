"""The plan: a scenario with every default written out, every link named, every message drawn.

`resolve` is pure: the same scenario, topology and seed give the same plan and the same bytes of
plan.json, on every machine. It expects a scenario that `lab.validation.validate` found no mistake
in, and decides nothing that a person did not write or a default does not say.
"""

from typing import Literal

from lab.clock import parse_origin
from lab.plan.links import mesh
from lab.plan.parts import Clock, Expect, ExpectedPromotion, ExpectedResubmission
from lab.plan.plan import Plan
from lab.plan.topology import PlanTopology
from lab.planning.faults import ended_with, last_heal_ms, resolve_faults
from lab.planning.messages import resolve_messages
from lab.planning.random_fault import ScheduleContext
from lab.planning.random_schedule import plain_faults
from lab.planning.random_settings import with_drawn_settings
from lab.planning.recovery import recovery_of
from lab.planning.seeds import seed_for
from lab.planning.strangers import resolve_strangers, strangers_end_ms
from lab.planning.volumes import with_volumes
from lab.scenario.operations import resolve_operations
from lab.scenario.scenario import ExpectModel, MailModel, ScenarioModel
from lab.scenario.settings import delivered_to, resolve_settings
from lab.scenario.topology import TopologyModel, resolve_topology

# t = 0; a plan fixes the date, so that dates are the same in every run
ORIGIN = "2026-01-05T08:00:00Z"


def default_seed(scenario: str) -> int:
    """The seed of a scenario that is run without one: always the same for the same name."""
    return seed_for(0, "scenario", scenario) % 1_000_000


def resolve(
    scenario: ScenarioModel,
    topology: TopologyModel,
    seed: int,
    seed_from: Literal["scenario", "argument"] = "argument",
) -> Plan:
    """Resolve a valid scenario and its topology under a seed. Pure; touches no file."""
    scenario = with_drawn_settings(scenario, seed)
    parts = resolve_topology(topology, delivered_to(scenario.settings))
    context = schedule_context(scenario, parts)
    end_ms = workload_end_ms(scenario.workload)
    plain = plain_faults(scenario.faults, context, seed)
    faults = resolve_faults(plain, parts, context.links, end_ms)
    healed_ms = last_heal_ms(faults)
    operations = resolve_operations(scenario.operations)
    last_asked_ms = max((operation.at_ms for operation in operations), default=0)
    last_called_ms = strangers_end_ms(scenario.strangers)
    settings = with_volumes(resolve_settings(scenario.settings, parts.servers), faults)
    origin_ms = round(parse_origin(ORIGIN).timestamp() * 1000)
    over_ms = max(end_ms, healed_ms or 0, last_asked_ms, last_called_ms)
    duration_ms = over_ms + scenario.settle
    return Plan(
        version=1,
        scenario=scenario.scenario,
        summary=scenario.summary,
        proves=tuple(scenario.proves),
        tags=tuple(scenario.tags),
        seed=seed,
        seed_from=seed_from,
        clock=Clock(ORIGIN, float(scenario.clock.speed)),
        duration_ms=duration_ms,
        workload_end_ms=end_ms,
        last_heal_ms=healed_ms,
        settle_ms=scenario.settle,
        topology=parts,
        settings=settings,
        links=context.links,
        messages=resolve_messages(scenario.scenario, scenario.workload, parts, seed),
        faults=ended_with(faults, duration_ms),
        operations=operations,
        expect=_expect(scenario.expect),
        strangers=resolve_strangers(scenario.strangers, parts, settings, origin_ms, seed),
    )


def schedule_context(scenario: ScenarioModel, topology: PlanTopology) -> ScheduleContext:
    """What random schedules of the scenario are drawn over; nothing of its settings is random."""
    settings = resolve_settings(scenario.settings, topology.servers)
    speed = float(scenario.clock.speed)
    end_ms = workload_end_ms(scenario.workload)
    return ScheduleContext(topology, mesh(topology), recovery_of(settings, topology, speed), end_ms)


def workload_end_ms(workload: list[MailModel]) -> int:
    """When the last stream ends."""
    return max((stream.at + stream.for_ms for stream in workload), default=0)


def _expect(expect: ExpectModel) -> Expect:
    loss, promotions = expect.unprotected_loss, expect.promotions
    resubmissions = expect.resubmissions
    return Expect(
        lost=expect.lost,
        unprotected_loss=None if loss is None else (loss.low, loss.high),
        promotions=None
        if promotions is None
        else tuple(ExpectedPromotion(p.of, p.cause, p.after, p.within) for p in promotions),
        verdict=expect.verdict,
        resubmissions=None
        if resubmissions is None
        else tuple(ExpectedResubmission(r.database, r.source) for r in resubmissions),
    )
