"""The measurement of how late faults are: its timeline, its arithmetic, and its Toxiproxy."""

from collections.abc import Mapping
from typing import Any

import docker
import pytest

from bench.rows import fault_applied_minus_intended as measurement
from bench.toxiproxy import standing
from lab.clock import LabClock, parse_origin
from lab.hosts.containers.images.ensure import Images
from lab.plan.link_faults import Cut, Slow, Throttle
from lab.plan.plan import Plan
from lab.program.errors import GroundError

ZERO_NS = 5_000_000_000


@pytest.fixture(scope="module")
def plan() -> Plan:
    return measurement.timeline()


def test_the_timeline_has_two_hundred_faults_of_links_of_every_kind_on_every_place(
    plan: Plan,
) -> None:
    assert len(plan.faults) == measurement.FAULTS == 200
    met = set()
    for fault in plan.faults:
        assert isinstance(fault, Cut | Slow | Throttle)
        met.add((fault.cut_kind if isinstance(fault, Cut) else fault.kind, fault.links))
    assert len(met) == 7 * len(measurement.WHERE)


def test_lateness_is_wall_time_from_the_planned_moment_to_the_applied_row(plan: Plan) -> None:
    late = measurement.lateness_ms(plan, _clock(plan), _rows(plan, late_ns=12_500_000))
    assert len(late) == 200
    assert set(late) == {12.5}


def test_a_fault_that_was_never_applied_is_no_measurement(plan: Plan) -> None:
    rows = _rows(plan, late_ns=0)[1:]
    with pytest.raises(GroundError, match=f"1 faults were never applied.*{plan.faults[0].id}"):
        measurement.lateness_ms(plan, _clock(plan), rows)


def test_the_median_of_p99s_is_told_with_their_spread_and_the_lateness_of_the_machine() -> None:
    rounds = [[1.0] * 197 + [at_p99, 900.0, 900.0] for at_p99 in (30.0, 10.0, 20.0)]
    row = measurement.result_of(rounds, jitter_ms=7.0)
    assert (row.ours, row.theirs, row.ratio) == (20.0, None, 20.0)
    assert row.against.startswith("p99 of 200 link faults, aim 25; 10 to 30 in 3 rounds")
    assert "up to 7 ms late" in row.against


@pytest.mark.engine
def test_its_toxiproxy_has_a_proxy_for_each_link_and_is_gone_afterwards(
    plan: Plan, docker_engine: docker.DockerClient, lab_images: Images
) -> None:
    with standing(docker_engine, lab_images.toxiproxy, plan.links, 60.0) as (proxies, links):
        names = [link.proxy for link in plan.links]
        assert sorted(proxies.proxies()) == sorted(names)
        assert len(links) == len(plan.links)
        seen = measurement.Prober().probe(links[next(iter(links))].address, 5.0)
        assert seen.seen == "banner"
        port = proxies.url.rpartition(":")[2]
        assert port in _published(docker_engine)
    assert port not in _published(docker_engine)


def _published(client: docker.DockerClient) -> set[str]:
    """The ports of this machine behind which a container listens; other tests' come and go."""
    listed = client.containers.list(ignore_removed=True)
    ports = [port for each in listed for port in each.ports.values()]
    return {binding["HostPort"] for bindings in ports for binding in bindings or ()}


def _clock(plan: Plan) -> LabClock:
    return LabClock(parse_origin(plan.clock.origin), plan.clock.speed, ZERO_NS)


def _rows(plan: Plan, late_ns: int) -> list[Mapping[str, Any]]:
    """A journal in which every fault is intended on time and applied so late."""
    planned = {fault.id: _clock(plan).mono_ns_at(fault.start_ms) for fault in plan.faults}
    intended = [{"fault": k, "phase": "intended", "mono_ns": v} for k, v in planned.items()]
    applied = [{"fault": k, "phase": "applied", "mono_ns": v + late_ns} for k, v in planned.items()]
    return [*applied, *intended]
