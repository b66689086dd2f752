"""How a lab that stands is reached."""

from pathlib import Path

from lab.hosts.containers.ground.provision import Ground, GroundLink
from lab.planning.resolve import resolve
from lab.standing.reach import how_to_reach
from tests.lab.scenario.sample_scenario import checked

PROXY = "workload--par-mbx1--smtp"
SERVERS = ("par-mbx1", "par-mbx2", "lyo-mbx1", "ext1")


def test_every_server_and_every_proxy_is_told_with_what_to_type(tmp_path: Path) -> None:
    [sound] = checked(tmp_path).scenarios
    ground = Ground(
        run_id="r1",
        state_dir=Path(".shadowlab/r1"),
        toxiproxy_api="http://127.0.0.1:7777",
        toxiproxy_host="10.0.0.2",
        agent=("127.0.0.1", 7778),
        containers={name: f"r1-{name}" for name in SERVERS},
        toxiproxy_container="r1-toxiproxy",
        workload_container="r1-workload",
        links={
            ("workload", "par-mbx1", "smtp"): GroundLink(PROXY, 20001, "10.0.1.3:2525"),
            ("par-mbx1", "par-mbx2", "smtp"): GroundLink("a--b", 20002, "10.0.2.3:2525"),
        },
    )
    lines = list(how_to_reach(resolve(sound.scenario, sound.topology, 7), ground))
    told = "\n".join(lines)
    assert lines[0] == "the lab stands: r1"
    for server in SERVERS:
        assert f"docker exec -it r1-{server} sh" in told
    assert "SMTP from workload: 10.0.0.2:20001" in told
    assert f"  {PROXY}  :20001 -> 10.0.1.3:2525" in told
    assert "  a--b                      :20002 -> 10.0.2.3:2525" in told
    for command in ("do r1 'kill: par-mbx1, for: 5m'", "status r1", "down r1"):
        assert f"shadowlab {command}" in told
