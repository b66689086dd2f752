"""Front ends in a plan: who calls them, whom they call, and what may happen to them (TP-7)."""

from __future__ import annotations

from lab.plan.faults import Kill, MachineFault
from tests.lab.hosts.simulator.plans import plan

CHAOS = "front-ends-and-faults"


def test_clients_call_them_they_call_mailbox_servers_of_any_site_and_nobody_else_does() -> None:
    links = {(link.source, link.target) for link in plan(CHAOS, 1).links}
    mailbox = {f"{site}-mbx{number}" for site in ("par", "lyo") for number in (1, 2, 3)}
    assert {source for source, target in links if target == "par-fe1"} == {"workload"}
    assert {target for source, target in links if source == "par-fe1"} == mailbox


def test_whatever_is_drawn_happens_to_them_but_for_what_needs_a_disk() -> None:
    drawn = [fault for seed in range(20) for fault in plan(CHAOS, seed).faults]
    theirs = [fault for fault in drawn if getattr(fault, "server", "") in ("par-fe1", "lyo-fe1")]
    assert {fault.kind for fault in theirs} >= {"kill", "pause", "stop", "restart"}
    assert not any(isinstance(fault, MachineFault) for fault in theirs)
    kills = {fault.returns_with for fault in theirs if isinstance(fault, Kill)}
    assert kills == {"same-queue-database"}


def test_they_end_sessions_by_settings_of_their_own() -> None:
    settings = plan("refused-behind-a-front-end", 1).settings.servers
    assert settings["par-fe1"]["ReceiveConnector"]["ConnectionTimeout"] == 8 * 60_000
    assert settings["lyo-fe1"]["ReceiveConnector"]["ConnectionTimeout"] == 10 * 60_000


def test_strangers_call_them_too_in_the_name_of_mailbox_servers() -> None:
    called = [each for each in plan(CHAOS, 1).strangers if each.kind == "other-server"]
    assert {each.server for each in called} == {"par-fe1", "lyo-fe1"}
    assert {each.certificate for each in called} == {"par-mbx1"}
