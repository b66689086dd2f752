"""What people reported in public of their own mail servers, as scenarios: what is said of each.

Valid where the lab can ask it; refused with what there is where it cannot.
"""

from pathlib import Path

import pytest

from lab.plan.plan import Plan
from lab.planning.moments import moments
from lab.planning.resolve import resolve
from lab.validation.validate import check
from tests.lab.scenario.sample_scenario import said

SCENARIO = """\
version: 1
scenario: reported
summary: What somebody reported.
topology: {topology}
settings:
  TransportConfig: {{ShadowHeartbeatFrequency: 1m}}
  SendConnector: {{ConnectionInactivityTimeOut: 1m}}
workload:
  - {{mail: inbound, at: 1m, for: 60m, rate: 6/m, via: par-mbx1, recipients: 1..3}}
faults:
{faults}
settle: 40m
expect: {{lost: 0, unprotected_loss: 0..300}}
"""
ALONE = """\
version: 1
topology: alone
sites: {paris: {}, internet: {outside: true}}
servers:
  par-mbx1: {role: mailbox, site: paris}
  ext1: {role: external, site: internet, domain: partner.example}
databases: {DB1: {copies: [par-mbx1]}}
mailboxes: {DB1: 5}
"""
LAGGED = """\
version: 1
topology: lagged
sites: {paris: {}, lyon: {}, internet: {outside: true}}
site_links: [{between: [paris, lyon], cost: 10}]
servers:
  par-mbx1: {role: mailbox, site: paris, dag: DAG1}
  lyo-mbx1: {role: mailbox, site: lyon, dag: DAG1}
  am1: {role: active_manager, site: lyon}
dags: {DAG1: {}}
databases: {DB1: {copies: [par-mbx1, {server: lyo-mbx1, ReplayLagTime: 7d}]}}
mailboxes: {DB1: 5}
"""
DAG = "two-site-dag"
# topology, faults, and what happens by the plan
ASKED = {
    "a queue database lost thrice while no shadow server is reached": (
        DAG,
        [
            "{at: 8m, for: 50m, cut: {from: par-mbx1, to: [par-mbx2, site lyon], kind: refuse}}",
            "{at: 10m, for: 2m, every: 12m, times: 3, kill: par-mbx1,"
            " returns_with: new-queue-database}",
        ],
        [f"f{number}: start par-mbx1 with its new queue database" for number in (2, 3, 4)],
    ),
    "a container recreated, its queue in no volume": (
        "alone",
        [
            "{at: 8m, for: 20m, cut: {from: par-mbx1, to: ext1, kind: refuse}}",
            "{at: 20m, for: 1m, kill: par-mbx1, returns_with: new-queue-database}",
        ],
        ["f2: start par-mbx1 with its new queue database"],
    ),
    "a 250 that is lost": (
        DAG,
        ["{at: 8m, for: 5m, cut: {from: workload, to: par-mbx1, kind: ack-lost}}"],
        [],
    ),
    "every disk of a site full": (
        DAG,
        ["{at: 8m, for: 10m, fill_disk: site paris}"],
        [
            "f1: the disk of par-mbx1 is full",
            "f2: the disk of par-mbx2 is full",
            "f1: par-mbx1 has room again",
            "f2: par-mbx2 has room again",
        ],
    ),
    "a server drained for maintenance": (
        DAG,
        ["{at: 20m, for: 30m, stop: par-mbx1}"],
        ["f1: stop par-mbx1", "f1: start par-mbx1"],
    ),
}
REFUSED = {
    "a lagged copy, and its Active Manager a server": (
        "lagged",
        ["{at: 8m, for: 5m, kill: par-mbx1}"],
        [
            "8:15: servers.am1.role, 'active_manager', is not one of its words | Active Manager is"
            " its DAG's: leave the server out, and write"
            " dags: {DAG1: {active_manager: {name: am1, site: lyon}}}",
        ],
    ),
    "a chosen reply": (
        DAG,
        ['{at: 8m, for: 20m, answer: {server: ext1, command: RCPT, reply: "451 4.7.1"}}'],
        [
            "11:24: faults[0], answer, is an unknown key | no fault chooses what a server answers;"
            " one refuses for now with fill_disk, and cannot be reached with cut, stop or kill"
        ],
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "topologies").mkdir()
    for name, text in (("alone", ALONE), ("lagged", LAGGED)):
        (tmp_path / "topologies" / f"{name}.yaml").write_text(text)
    return tmp_path


def written(folder: Path, topology: str, faults: list[str]) -> Path:
    path = folder / "reported.yaml"
    lines = "\n".join(f"  - {fault}" for fault in faults)
    path.write_text(SCENARIO.format(topology=topology, faults=lines))
    return path


@pytest.mark.parametrize(("topology", "faults", "happens"), ASKED.values(), ids=ASKED)
def test_what_the_lab_can_ask_is_planned(
    folder: Path, topology: str, faults: list[str], happens: list[str]
) -> None:
    found = check([written(folder, topology, faults)])
    assert said(found) == []
    [scenario] = found.scenarios
    plan: Plan = resolve(scenario.scenario, scenario.topology, 1)
    told = [moment.what for moment in moments(plan)]
    assert [words for words in happens if words not in told] == []


@pytest.mark.parametrize(("topology", "faults", "mistakes"), REFUSED.values(), ids=REFUSED)
def test_what_it_cannot_ask_is_refused_with_what_there_is(
    folder: Path, topology: str, faults: list[str], mistakes: list[str]
) -> None:
    assert said(check([written(folder, topology, faults)])) == mistakes
