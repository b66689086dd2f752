"""How long the six-server lab takes to come up by Ansible, and how long the same containers bare.

Ours: `provision.up` from an empty state directory to the first banner of each of the six mailbox
servers. Theirs: the very same networks and containers (six servers, an external one, Toxiproxy,
the traffic source), created and started one after the other through the engine's API, with
certificates and configurations lying there ready; to the same six banners. Both are done TIMES
times in turn, and the medians are compared.
"""

import secrets
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
from docker.types import IPAMConfig, IPAMPool

from bench.result import Result, beside
from lab.hosts.containers import down, engine
from lab.hosts.containers.ground import inventory, provision
from lab.hosts.containers.ground import verify as verification
from lab.hosts.containers.images import ensure as images
from lab.hosts.containers.images.ensure import Images
from lab.program.errors import GroundError
from tests.lab.hosts.containers.six_servers import MEMBERS, six_servers

TIMES = 3
BANNER_DEADLINE_S = 30.0
ANY_PORT: Any = ("127.0.0.1", None)
AGAINST = "the same containers through the engine's API"


def measure(made: Images | None = None) -> Result:
    """Seconds from nothing to the first banner of each of six servers; aim: a ratio of 4."""
    client = engine.connect()
    chosen = made or images.ensure(client, lambda line: print(line, file=sys.stderr))
    with tempfile.TemporaryDirectory(prefix="shadowlab-bench-") as root:
        pairs = [_pair(client, chosen, Path(root)) for _ in range(TIMES)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    return beside("lab_up_vs_bare", ours, theirs, "s", AGAINST)


def _pair(client: docker.DockerClient, made: Images, root: Path) -> tuple[float, float]:
    """Ours, then theirs, on what ours has left lying ready."""
    run_id = f"bench-{secrets.token_hex(4)}"
    state_dir = root / run_id
    try:
        plan = six_servers()
        ours = _timed(
            client, lambda: provision.up(plan, run_id, state_dir, made, client), state_dir
        )
        hosts = _hosts(state_dir)
        down.remove_from_engine(client, run_id)
        theirs = _timed(client, lambda: _bare(client, hosts), state_dir)
    finally:
        down.remove_from_engine(client, run_id)
        shutil.rmtree(state_dir, ignore_errors=True)
    return ours, theirs


def _timed(client: docker.DockerClient, act: Callable[[], object], state_dir: Path) -> float:
    """Seconds that the act takes, to the last of the six first banners."""
    start = time.monotonic()
    act()
    hosts = _hosts(state_dir)
    for name in MEMBERS:
        if not _greets(hosts[name]["address"], start + BANNER_DEADLINE_S):
            said = verification.last_words(client, hosts[name]["container"])
            raise GroundError(f"no banner from {name} in {BANNER_DEADLINE_S:.0f} s: {said}")
    return time.monotonic() - start


def _hosts(state_dir: Path) -> dict[str, dict[str, Any]]:
    return inventory.hosts(inventory.read(state_dir / inventory.FILE))


def _bare(client: docker.DockerClient, hosts: dict[str, dict[str, Any]]) -> None:
    """What the playbook does, as a program that knows the engine's API and nothing else."""
    for host in hosts.values():
        if "network" in host:
            _network(client, host["labels"], host["network"])
    for name, host in hosts.items():
        if name == "toxiproxy":
            _toxiproxy(client, host)
        elif "command" in host:
            _container(client, name, host)


def _network(client: docker.DockerClient, labels: dict[str, str], network: dict[str, Any]) -> None:
    pool = IPAMPool(subnet=network["subnet"], gateway=network["gateway"])
    client.networks.create(
        network["name"],
        internal=network["internal"],
        options=network["driver_options"],
        ipam=IPAMConfig(pool_configs=[pool]),
        labels=labels,
    )


def _toxiproxy(client: docker.DockerClient, host: dict[str, Any]) -> None:
    first, *others = host["networks"]
    container = client.containers.create(
        host["image_toxiproxy"],
        ["-host=0.0.0.0", "-config=/etc/toxiproxy/config.json"],
        name=host["container"],
        labels=host["labels"],
        user=host["user"],
        ports={"8474/tcp": ANY_PORT},
        volumes=[f"{host['state']}/toxiproxy:/etc/toxiproxy:ro"],
        network=first["name"],
        networking_config=_at(client, first["name"], first["ipv4_address"]),
    )
    for other in others:
        network = client.networks.get(other["name"])
        network.connect(container, ipv4_address=other["ipv4_address"])
    container.start()


def _container(client: docker.DockerClient, name: str, host: dict[str, Any]) -> None:
    state = host["state"]
    folder = f"{state}/servers/{name}"
    own = [
        f"{folder}/etc:/etc/shadowlab:ro",
        f"{folder}/data:/var/lib/shadowlab",
        f"{folder}/logs:/var/log/shadowlab",
    ]
    is_workload = name == "workload"
    network = host["network_of_lab"] if is_workload else host["network"]["name"]
    client.containers.create(
        host["image_node"],
        host["command"],
        name=host["container"],
        labels=host["labels"],
        user=host["user"],
        volumes=[
            f"{state}/clock:/etc/shadowlab-clock:ro",
            *([f"{state}/workload:/workload"] if is_workload else own),
        ],
        ports={"7700/tcp": ANY_PORT} if is_workload else {},
        network=network,
        networking_config=_at(client, network, host["address"]),
    ).start()


def _at(client: docker.DockerClient, network: str, address: str) -> dict[str, Any]:
    return {network: client.api.create_endpoint_config(ipv4_address=address)}


def _greets(address: str, deadline: float) -> bool:
    """Whether a banner is seen there before the deadline (of time.monotonic())."""
    while time.monotonic() < deadline:
        try:
            with socket.create_connection((address, inventory.SMTP_PORT), 1) as connection:
                if connection.recv(3) == b"220":
                    return True
        except OSError:
            time.sleep(0.01)
    return False
