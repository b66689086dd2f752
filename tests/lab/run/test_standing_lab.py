"""A lab left standing: no faults, its clock going, and everything needed to break it by hand."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab.hosts.containers.ground.provision import Ground, GroundLink
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.program.errors import GroundError
from lab.run.standing_lab import stand
from tests.lab.scenario.sample_scenario import checked

PROXY = "workload--par-mbx1--smtp"


@dataclass
class FakeHost:
    """Remembers what was asked of it; `fails` is where it breaks."""

    fails: str = ""
    asked: list[str] = field(default_factory=list)
    plan: Plan | None = None

    def up(self, plan: Plan, folder: object, say: object) -> None:
        self.plan = plan
        self._note("up")

    def start_clock(self) -> int:
        self._note("start_clock")
        return 0

    def down(self) -> None:
        self._note("down")

    @property
    def ground(self) -> Ground:
        assert self.plan is not None
        servers = [server.name for server in self.plan.topology.servers]
        return Ground(
            run_id="r1",
            state_dir=Path(".shadowlab/r1"),
            toxiproxy_api="http://127.0.0.1:7777",
            toxiproxy_host="10.0.0.2",
            agent=("127.0.0.1", 7778),
            containers={name: f"r1-{name}" for name in servers},
            toxiproxy_container="r1-toxiproxy",
            workload_container="r1-workload",
            links={
                ("workload", "par-mbx1", "smtp"): GroundLink(PROXY, 20001, "10.0.1.3:2525"),
                ("par-mbx1", "par-mbx2", "smtp"): GroundLink("a--b", 20002, "10.0.2.3:2525"),
            },
        )

    def _note(self, name: str) -> None:
        self.asked.append(name)
        if self.fails == name:
            raise GroundError(f"{name} broke", "mend it")


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    [sound] = checked(tmp_path).scenarios
    return resolve(sound.scenario, sound.topology, 7)


def stood(plan: Plan, host: FakeHost, tmp_path: Path) -> int:
    return stand(plan, tmp_path, host, lambda _: None).exit_code  # type: ignore[arg-type]


def test_the_lab_stands_with_its_clock_going_and_none_of_its_faults(
    plan: Plan, tmp_path: Path
) -> None:
    host = FakeHost()
    assert plan.faults
    assert stood(plan, host, tmp_path) == 0
    assert host.asked == ["up", "start_clock"]
    assert host.plan is not None
    assert host.plan.faults == ()
    assert host.plan.messages == plan.messages


def test_every_server_and_every_proxy_is_told_with_what_to_type(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stood(plan, FakeHost(), tmp_path)
    out = capsys.readouterr().out
    for server in ("par-mbx1", "par-mbx2", "lyo-mbx1", "ext1"):
        assert f"docker exec -it r1-{server} sh" in out
    assert "SMTP from workload: 10.0.0.2:20001" in out
    assert f"  {PROXY}  :20001 -> 10.0.1.3:2525" in out
    assert "a--b" in out
    assert (
        f"curl -s -X POST http://127.0.0.1:7777/proxies/{PROXY} -d '{{\"enabled\": false}}'" in out
    )
    assert "shadowlab down r1" in out


@pytest.mark.parametrize("fails", ["up", "start_clock"])
def test_what_does_not_come_up_is_removed_again(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str], fails: str
) -> None:
    host = FakeHost(fails)
    assert stood(plan, host, tmp_path) == 3
    assert host.asked[-1] == "down"
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"shadowlab: {fails} broke\nhint: mend it\n")
