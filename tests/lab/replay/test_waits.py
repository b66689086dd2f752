"""What a node waits for in the middle of a failover and of a delivery, from its record (TP-6)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.cli.__main__ import main
from lab.hosts.node_config import node_config
from lab.hosts.simulator.simulation import simulate
from lab.planning.resolve import default_seed
from lab.replay.node import replay_node
from lab.replay.node_record import read_lives
from lab.replay.recorded_plan import plan_of
from nodes.core.failover.management_calls import ANSWER_MS
from nodes.shell.core_loop import CORES
from tests.lab.hosts.simulator.plans import plan

MANAGER = "am1"
TYPED = (
    *("Failovers", "Announcements", "SafetyNetRequests", "Supervision", "CopyMonitor"),
    *("ManagementCall", "ManagerRecords", "Delivery.", "DeliveryQueue.", "LogShipping"),
    *("ShadowMaking", "ShadowServers", "ShadowQueue._ask", "ShadowRedundancy.accept"),
    *("Sessions", "Receiving", "Intake._commit"),
)
"""Parts whose continuations are values."""


def recorded(scenario: str, folder: Path) -> Path:
    resolved = plan(scenario, default_seed(scenario))
    simulate(resolved).write(folder)
    (folder / "plan.json").write_text(resolved.to_json(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def failover(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded("best-copy", tmp_path_factory.mktemp("failover"))


@pytest.fixture(scope="module")
def switchover(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded("lossless-switchover", tmp_path_factory.mktemp("switchover"))


def inputs(folder: Path, server: str) -> list[dict[str, Any]]:
    path = folder / "logs" / server / "inputs.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def line_before(folder: Path, server: str, kind: str) -> int:
    """The line of its inputs that comes before the first of that kind."""
    return [heard["input"] for heard in inputs(folder, server)].index(kind)


def waits(folder: Path, server: str, line: int) -> list[str]:
    replay = replay_node(folder, server, line)
    assert replay.divergence is None
    return [*map(str, replay.waits)]


class Again:
    """One server of a record, driven through its first life."""

    def __init__(self, folder: Path, server: str) -> None:
        resolved = plan_of(folder)
        (named,) = (each for each in resolved.topology.servers if each.name == server)
        self._core = CORES[named.role](node_config(resolved, named))
        self._life = read_lives(folder / "logs" / server)[0]

    def waits(self) -> Iterator[list[str]]:
        """After each of its inputs."""
        for heard in self._life.heard:
            self._core.handle(heard.happened, heard.now_ms)
            yield [*map(str, self._core.waits())]


def test_a_failover_waits_for_the_disk_and_then_for_the_mount(failover: Path) -> None:
    mount = line_before(failover, MANAGER, "MountAnswered")
    (wait,) = (w for w in replay_node(failover, MANAGER, mount).waits if "mount DB1" in w.awaited)
    assert wait.awaited == "the answer of par-mbx3 to the order to mount DB1 under epoch 1"
    assert wait.then == "writes down that DB1 is active on par-mbx3"
    assert wait.asked_ms is not None
    assert wait.until_ms == wait.asked_ms + ANSWER_MS
    said = "waits for the disk to write InsertFailover, asked at"
    (of_disk,) = (each for each in waits(failover, MANAGER, mount - 1) if said in each)
    assert of_disk.endswith(", then begins the failover of DB1 to par-mbx3")


def test_after_the_mount_servers_are_to_be_informed(failover: Path) -> None:
    mount = line_before(failover, MANAGER, "MountAnswered")
    said = "to the news that DB1 is active on par-mbx3"
    found = [each for each in waits(failover, MANAGER, mount + 2) if said in each]
    assert found
    assert all(", then writes down since when " in each for each in found)


def test_a_switchover_waits_for_the_dismount_and_then_for_the_logs(switchover: Path) -> None:
    line = line_before(switchover, MANAGER, "DismountAnswered")
    (dismount,) = (e for e in waits(switchover, MANAGER, line) if "the order to dismount" in e)
    assert ", then asks whether " in dismount
    later = [each for n in range(1, 4) for each in waits(switchover, MANAGER, line + n)]
    assert any(", then mounts " in each and " if that has its log " in each for each in later)


def test_a_delivery_waits_for_the_answer_of_the_next_hop(failover: Path) -> None:
    node = Again(failover, "par-mbx1")
    found = {each for waited in node.waits() for each in waited if "has done with" in each}
    by_peer = [each for each in found if "waits for the answer of " in each]
    assert by_peer
    assert all(" to message db:" in each for each in by_peer)
    assert all(each.endswith(", or tries it again") for each in by_peer)


def test_a_delivery_waits_for_a_mailbox_database_here(failover: Path) -> None:
    node = Again(failover, "par-mbx2")
    said = "waits for the delivery of <"
    found = {each for waited in node.waits() for each in waited if each.startswith(said)}
    assert found
    assert all(" of DB" in each for each in found)
    here = [each for each in found if ", then has done with message " in each]
    others = [each for each in found if ", then acknowledges its delivery to " in each]
    assert here
    assert others
    assert len(found) == len(here) + len(others)


@pytest.mark.parametrize("name", ["failover", "switchover"])
def test_nothing_of_failover_and_delivery_is_a_place_in_the_code(
    name: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(name)
    for server in sorted(path.name for path in (folder / "logs").iterdir()):
        for waited in Again(folder, server).waits():
            for each in waited:
                _, _, place = each.partition("goes on in ")
                assert not place.startswith(TYPED), each


def test_the_command_prints_them_with_the_input_that_they_follow(
    failover: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = line_before(failover, MANAGER, "MountAnswered")
    words = ["replay", str(failover), "--node", MANAGER, "--until", str(line), "--waits"]
    assert main(words) == 0
    head, *rest = capsys.readouterr().out.splitlines()[2:]
    assert head.startswith(f"am1 after inputs.jsonl:{line}, 2026-01-05T08:")
    assert rest == [f"  {each}" for each in waits(failover, MANAGER, line)]
    assert rest[0].startswith("  waits for the answer of par-mbx3 to the order to mount DB1")


def test_of_a_whole_run_nobody_says_what_it_waits_for(
    failover: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(failover), "--waits"]) == 4
    assert "--waits wants --node NAME" in capsys.readouterr().err
