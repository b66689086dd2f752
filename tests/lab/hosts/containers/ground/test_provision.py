"""A lab of six servers that stands: brought up once for all of these tests, and taken down."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import docker
import pytest
from docker.types import IPAMConfig, IPAMPool

from lab.hosts.containers import down
from lab.hosts.containers.engine import RUN_LABEL
from lab.hosts.containers.ground import addresses, confinement, inventory, playbook, provision
from lab.hosts.containers.ground import verify as verification
from lab.hosts.containers.ground.provision import Ground
from lab.hosts.containers.images.ensure import Images
from lab.hosts.containers.leftovers import Filters
from lab.program import processes
from lab.program.errors import GroundError
from lab.program.sources import ROOT
from tests.lab.hosts.containers.six_servers import MEMBERS, six_servers, two_servers
from tests.lab.hosts.containers.stand_in import stand_in

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

RUN = "six-servers-20260105T080000Z-7-test0"


@dataclass(frozen=True, slots=True)
class Lab:
    """What the tests have of the lab."""

    client: docker.DockerClient
    images: Images
    ground: Ground

    def hosts(self) -> dict[str, dict[str, Any]]:
        return inventory.hosts(inventory.read(self.ground.state_dir / inventory.FILE))

    def impatient(self) -> dict[str, dict[str, Any]]:
        """The same hosts, told to wait for banners no longer than half a second."""
        hosts = self.hosts()
        for host in hosts.values():
            if "look" in host:
                host["look"]["patience_s"] = 0.5
        return hosts


@pytest.fixture(scope="module")
def lab(
    docker_engine: docker.DockerClient,
    lab_images: Images,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Lab]:
    state_root = tmp_path_factory.mktemp("state")
    with stand_in(docker_engine, lab_images) as made:
        try:
            ground = provision.up(six_servers(), RUN, state_root / RUN, made, docker_engine)
            provision.verify(ground)
            yield Lab(docker_engine, made, ground)
        finally:
            removed = down.down(docker_engine, RUN, state_root)
    assert len(removed.containers) in (0, 9)
    assert docker_engine.containers.list(all=True, filters={"label": f"{RUN_LABEL}={RUN}"}) == []
    assert docker_engine.networks.list(filters={"label": f"{RUN_LABEL}={RUN}"}) == []
    assert not (state_root / RUN).exists()


def test_brought_up_a_second_time_it_changes_nothing(lab: Lab) -> None:
    log = lab.ground.state_dir / playbook.LOG
    start = len(log.read_text())
    again = provision.up(six_servers(), RUN, lab.ground.state_dir, lab.images, lab.client)
    said = log.read_text()[start:]
    changes = re.findall(r"^(\S+) .* changed=(\d+) ", said, re.M)
    assert dict(changes) == dict.fromkeys(lab.hosts(), "0")
    assert again == lab.ground


def test_the_ground_is_written_down_as_json(lab: Lab) -> None:
    written = json.loads((lab.ground.state_dir / "ground.json").read_text())
    assert written["run_id"] == RUN
    assert written["toxiproxy_api"] == lab.ground.toxiproxy_api
    assert len(written["links"]) == len(lab.ground.links) == 42
    first = written["links"][0]
    link = lab.ground.links[first["from"], first["to"], first["service"]]
    assert (first["proxy"], first["listen_port"], first["upstream"]) == (
        link.proxy,
        link.listen_port,
        link.upstream,
    )


def test_toxiproxy_has_a_proxy_for_each_link_and_no_toxic(lab: Lab) -> None:
    with urlopen(f"{lab.ground.toxiproxy_api}/proxies", timeout=10) as answer:
        proxies = json.load(answer)
    assert {
        name: (proxy["upstream"], proxy["enabled"], proxy["toxics"])
        for name, proxy in proxies.items()
    } == {link.proxy: (link.upstream, True, []) for link in lab.ground.links.values()}


def test_ports_are_published_on_the_loopback_address_alone(lab: Lab) -> None:
    bindings = [
        binding["HostIp"]
        for container in lab.client.containers.list(filters={"label": f"{RUN_LABEL}={RUN}"})
        for published in container.ports.values()
        for binding in published or []
    ]
    assert bindings == ["127.0.0.1", "127.0.0.1"]
    assert lab.ground.toxiproxy_api.startswith("http://127.0.0.1:")
    with socket.create_connection(lab.ground.agent, timeout=10):
        pass


def test_a_killed_server_comes_back_at_its_own_address(lab: Lab) -> None:
    container = lab.client.containers.get(lab.ground.containers["par-mbx2"])
    before = addresses_of(container)
    container.kill("SIGKILL")
    container.wait(timeout=30)
    wrong = verification.complaints(lab.client, lab.impatient())
    assert "par-mbx2 ended with exit code 137: it said nothing" in wrong
    assert any("no banner from par-mbx2" in complaint for complaint in wrong)
    container.start()
    container.reload()
    assert addresses_of(container) == before
    wait_until_well(lab)


def test_a_way_round_the_proxy_is_found(lab: Lab) -> None:
    neighbours = lab.client.networks.get(f"{RUN}-par-mbx2")
    neighbours.connect(lab.ground.containers["par-mbx1"])
    try:
        wrong = verification.complaints(lab.client, lab.impatient())
    finally:
        neighbours.disconnect(lab.ground.containers["par-mbx1"])
    address = lab.ground.links["par-mbx1", "par-mbx2", "smtp"].upstream
    assert f"par-mbx1: par-mbx2 is reached round the proxy, at {address}" in wrong


def test_the_verify_play_fails_with_what_is_wrong_in_one_line(lab: Lab) -> None:
    path = lab.ground.state_dir / inventory.FILE
    good = path.read_text()
    path.write_text(good.replace('"patience_s": 30', '"patience_s": 0.2').replace(":21000", ":9"))
    try:
        with pytest.raises(GroundError) as raised:
            provision.verify(lab.ground)
    finally:
        path.write_text(good)
    assert "par-mbx1: no banner from par-mbx2 (smtp) through" in raised.value.cause
    assert "\n" not in raised.value.cause


def test_every_container_runs_as_an_ordinary_user_who_can_write_nowhere_else(lab: Lab) -> None:
    ground = lab.ground
    every = [*ground.containers.values(), ground.toxiproxy_container, ground.workload_container]
    for name in every:
        attributes = lab.client.containers.get(name).attrs
        assert attributes["Config"]["User"].partition(":")[0] not in ("", "0")
        host = attributes["HostConfig"]
        assert host["ReadonlyRootfs"] is True
        assert host["CapDrop"] == ["ALL"]
        assert [each.partition(":")[0] for each in host["SecurityOpt"]] == ["no-new-privileges"]
        assert host["RestartPolicy"]["Name"] in ("", "no")
        assert host["Memory"] > 0
        assert host["PidsLimit"] > 0


def test_what_a_container_says_to_its_standard_streams_is_kept_to_a_bound(lab: Lab) -> None:
    ground = lab.ground
    every = [*ground.containers.values(), ground.toxiproxy_container, ground.workload_container]
    for name in every:
        logged = lab.client.containers.get(name).attrs["HostConfig"]["LogConfig"]
        assert logged == {"Type": "json-file", "Config": {"max-size": "8m", "max-file": "2"}}


def test_who_runs_the_lab_owns_nothing_less_than_before(lab: Lab) -> None:
    """What containers write can be read, and goes with the state directory."""
    for server in lab.ground.containers:
        data = lab.ground.state_dir / "servers" / server / "data"
        assert os.access(data, os.R_OK | os.W_OK | os.X_OK)
        key = lab.ground.state_dir / "servers" / server / "etc" / "tls" / "server.key"
        assert key.stat().st_mode & 0o077 == 0
        assert key.stat().st_uid == confinement.user()[0]
    assert lab.ground.state_dir.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("user", "0:0", "runs as"),
        ("memory_bytes", 1, "has the memory limit"),
        ("processes", 1, "has the process limit"),
        ("log_driver", "local", "is logged by"),
        ("log_options", {}, "has the log options"),
    ],
)
def test_a_container_that_is_confined_otherwise_is_found(
    lab: Lab, key: str, value: object, said: str
) -> None:
    hosts = lab.hosts()
    confined = hosts["ext1"]["confinement"]
    (confined if key in confined else hosts["ext1"])[key] = value
    [wrong, *_] = [each for each in verification.complaints(lab.client, hosts) if said in each]
    assert wrong.startswith(f"ext1 {said}")


def test_a_root_file_system_that_can_be_written_to_is_found_from_inside(lab: Lab) -> None:
    """Of a container that somebody else started, as root."""
    image, program = lab.images.node, verification.LOOK.read_text()
    words = json.dumps({"links": {}, "forbidden": {}, "patience_s": 0})
    said = lab.client.containers.run(image, ["python3", "-c", program, words], remove=True)
    assert b"it runs as root" in said
    assert b"it may gain rights" in said
    assert b"its root file system can be written to" in said


def test_the_real_programs_are_what_a_server_is_told_to_run(lab: Lab) -> None:
    commands = {name: host.get("command") for name, host in lab.hosts().items()}
    config = "/etc/shadowlab/config.json"
    assert commands["par-mbx1"] == ["python3", "-m", "nodes.shell.runner", config]
    assert commands["ext1"] == ["python3", "-m", "nodes.shell.external", config]
    assert commands["workload"] == ["python3", "-m", "lab.workload", "/workload"]


def test_a_second_lab_stands_beside_the_first_though_its_subnet_was_taken_just_now(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = RUN[:-1] + "2"
    first_choice = next(addresses.free_blocks(other, []))
    monkeypatch.setattr(addresses, "taken_networks", lambda _: [])
    pool = IPAMPool(subnet=str(next(first_choice.subnets(new_prefix=29))))
    squatter = lab.client.networks.create(
        f"{other}-squatter", ipam=IPAMConfig(pool_configs=[pool]), internal=True
    )
    try:
        ground = provision.up(two_servers(), other, tmp_path / other, lab.images, lab.client)
        provision.verify(ground)
        own = inventory.block_of(tmp_path / other / inventory.FILE)
        assert own is not None
        assert not own.overlaps(first_choice)
    finally:
        squatter.remove()
        down.down(lab.client, other, tmp_path)
    assert verification.complaints(lab.client, lab.impatient()) == []


def test_an_image_that_is_missing_is_said_in_one_line(lab: Lab, tmp_path: Path) -> None:
    other = RUN[:-1] + "3"
    wrong = Images("shadowlab-node:no-such-tag", lab.images.toxiproxy)
    try:
        with pytest.raises(GroundError, match="no-such-tag") as raised:
            provision.up(two_servers(), other, tmp_path / other, wrong, lab.client)
    finally:
        down.down(lab.client, other, tmp_path)
    assert "\n" not in raised.value.cause


def test_of_a_lab_killed_while_it_comes_up_nothing_is_left(lab: Lab, tmp_path: Path) -> None:
    other = RUN[:-1] + "4"
    program = (
        "import sys; from pathlib import Path; from lab.hosts.containers import engine\n"
        "from lab.hosts.containers.ground import provision\n"
        "from lab.hosts.containers.images.ensure import Images\n"
        "from tests.lab.hosts.containers.six_servers import six_servers\n"
        "provision.up(six_servers(), sys.argv[1], Path(sys.argv[2]), Images(*sys.argv[3:]), "
        "engine.connect())"
    )
    made = (lab.images.node, lab.images.toxiproxy)
    command = [sys.executable, "-c", program, other, str(tmp_path / other), *made]
    with subprocess.Popen(command, cwd=ROOT) as doomed:
        wait_for_containers(lab, other)
        doomed.send_signal(signal.SIGKILL)
        doomed.wait()
    removed = down.down(lab.client, other, tmp_path)
    assert removed.containers
    assert exists(lab, other) is False
    assert lab.client.networks.list(names=[f"{other}-"]) == []
    assert processes.marked_with(other) == []


def test_the_last_test_takes_it_down_with_the_playbook_and_twice_changes_nothing(lab: Lab) -> None:
    assert "changed=2" in playbook.run("down", RUN, lab.ground.state_dir)
    assert {name for name in MEMBERS if exists(lab, lab.ground.containers[name])} == set()
    assert "changed=1" not in playbook.run("down", RUN, lab.ground.state_dir)


def exists(lab: Lab, prefix: str) -> bool:
    """Whether the engine has a container whose name starts so, or is just making one: that is
    listed and cannot be inspected yet."""
    named: Filters = {"name": f"^{prefix}"}
    return bool(lab.client.containers.list(all=True, filters=named, sparse=True))


def wait_for_containers(lab: Lab, prefix: str, deadline_s: float = 60) -> None:
    """Until the first container whose name starts so is there."""
    end = time.monotonic() + deadline_s
    while not exists(lab, prefix):
        assert time.monotonic() < end, f"no container of {prefix} in {deadline_s} s"
        time.sleep(0.05)


def addresses_of(container: Any) -> dict[str, str]:
    """Network to address, of a container as the engine last said."""
    networks = container.attrs["NetworkSettings"]["Networks"]
    return {name: each["IPAddress"] for name, each in networks.items() if each["IPAddress"]}


def wait_until_well(lab: Lab, deadline_s: float = 30) -> None:
    """Until the verification finds nothing wrong."""
    end = time.monotonic() + deadline_s
    while wrong := verification.complaints(lab.client, lab.impatient()):
        assert time.monotonic() < end, wrong
