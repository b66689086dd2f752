"""Bringing a lab up: a plan becomes networks, certificates, configurations and containers.

What is done is in playbooks/; this module prepares the state directory and the inventory, runs
Ansible, and says where everything is. It may be called again for the same run and then changes
nothing. When it fails it leaves what it made, which `down` finds by its label.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import islice
from pathlib import Path

import docker
import requests
from docker.errors import DockerException, NotFound

from lab.hosts.containers import down
from lab.hosts.containers.ground import (
    addresses,
    confinement,
    defect_file,
    inventory,
    playbook,
    volumes,
)
from lab.hosts.containers.ground import verify as verification
from lab.hosts.containers.ground.inventory import LAB, TOXIPROXY, Layout
from lab.hosts.containers.images.ensure import Images
from lab.plan.links import WORKLOAD
from lab.plan.plan import Plan
from lab.program import json_record
from lab.program.errors import GroundError
from lab.program.sources import ROOT
from lab.workload.agent import AGENT_PORT

TOXIPROXY_PORT = 8474
SEEN_BY_CONTAINERS = ("servers", "clock", "workload", "toxiproxy")
TRIES = 5
OVERLAP = "Pool overlaps with other one"
"""What the engine says when somebody took the same subnet in the meantime."""


@dataclass(frozen=True, slots=True)
class GroundLink:
    """A link as it stands: its proxy, the port that listens, where it leads (`address:port`)."""

    proxy: str
    listen_port: int
    upstream: str


@dataclass(frozen=True, slots=True)
class Ground:
    """A lab that stands. `toxiproxy_host` is where the workload's container reaches the proxies.

    `containers` is server to container name; `links` has every link of the plan.
    """

    run_id: str
    state_dir: Path
    toxiproxy_api: str
    toxiproxy_host: str
    agent: tuple[str, int]
    containers: Mapping[str, str]
    toxiproxy_container: str
    workload_container: str
    links: Mapping[tuple[str, str, str], GroundLink]

    def address(self, link: tuple[str, str, str]) -> str:
        """Where the workload's container reaches the proxy of any link: `address:port`."""
        return f"{self.toxiproxy_host}:{self.links[link].listen_port}"


def up(
    plan: Plan,
    run_id: str,
    state_dir: Path,
    images: Images,
    client: docker.DockerClient,
    defect: str = "",
) -> Ground:
    """Bring the lab of a plan up; servers may still be starting when it returns. `defect` names
    what is wrong with its nodes.

    Raises GroundError. The state directory is made when it is missing.
    """
    state_dir = state_dir.absolute()
    _refuse_odd_path(state_dir)
    try:
        down.claim(state_dir)
        for block in _blocks(run_id, state_dir, client):
            layout = Layout(plan, run_id, state_dir, images, block, defect)
            _lay_out(layout)
            if _play(layout, client):
                return _ground(layout, client)
    except (DockerException, requests.RequestException, OSError) as error:
        raise GroundError(f"the lab does not come up: {str(error).splitlines()[0]}") from error
    raise GroundError(f"no free subnet in {addresses.SPACE} after {TRIES} tries", "make down")


def make_anew(ground: Ground, server: str) -> None:
    """A server whose container is gone gets a new one, by the play that made the first; it does not
    run yet. Raises GroundError.
    """
    only = ("--limit", server, "-e", "container_state=present")
    playbook.run("up", ground.run_id, ground.state_dir, arguments=only)


def verify(ground: Ground) -> None:
    """Prove that every link works and nothing goes round the proxy. Raises GroundError."""
    playbook.run("verify", ground.run_id, ground.state_dir)


def _blocks(run_id: str, state_dir: Path, client: docker.DockerClient) -> Iterator[IPv4Network]:
    """The run's own block, where it has one already, else free ones to try."""
    own = inventory.block_of(state_dir / inventory.FILE)
    if own is not None:
        yield own
        return
    taken = addresses.taken_networks(client)
    yield from islice(addresses.free_blocks(run_id, taken), TRIES)


def _refuse_odd_path(state_dir: Path) -> None:
    """The engine reads a colon as the end of a path, Ansible two braces as a template."""
    for mark in (":", "{{", "{%", "\n"):
        if mark in str(state_dir):
            cause = f"the state directory {str(state_dir)!r} has {mark!r} in its path"
            raise GroundError(cause, "run from a folder that is called otherwise")


def _lay_out(layout: Layout) -> None:
    """Folders that containers see, and files that are no configuration."""
    state = layout.state_dir
    for server in layout.plan.topology.servers:
        for folder in ("etc/tls", "data", "logs"):
            (state / "servers" / server.name / folder).mkdir(parents=True, exist_ok=True)
        if layout.is_broken(server):
            broken = state / "servers" / server.name / "etc" / defect_file.FILE
            broken.write_bytes(defect_file.archive(ROOT))
    volumes.mount_all(layout.plan, state / "servers")
    for folder in ("clock", "workload/tls", "toxiproxy"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "workload" / "plan.json").write_text(layout.plan.to_json(), encoding="utf-8")
    (state / inventory.FILE).write_text(inventory.to_text(layout), encoding="utf-8")
    for folder in SEEN_BY_CONTAINERS:
        confinement.hand_over(state / folder)


def _play(layout: Layout, client: docker.DockerClient) -> bool:
    """Whether the lab stands; False when its subnets were taken by somebody else just now."""
    try:
        playbook.run("up", layout.run_id, layout.state_dir)
    except GroundError as error:
        if OVERLAP not in error.cause:
            raise
        down.remove_from_engine(client, layout.run_id)
        (layout.state_dir / inventory.FILE).unlink()
        return False
    return True


def _ground(layout: Layout, client: docker.DockerClient) -> Ground:
    api_host, api_port = _published(client, layout.name(TOXIPROXY), TOXIPROXY_PORT)
    links = {
        (link.source, link.target, link.service): GroundLink(
            link.proxy, link.port, layout.upstream(link.target)
        )
        for link in layout.plan.links
    }
    ground = Ground(
        run_id=layout.run_id,
        state_dir=layout.state_dir,
        toxiproxy_api=f"http://{api_host}:{api_port}",
        toxiproxy_host=str(layout.networks()[LAB].toxiproxy),
        agent=_published(client, layout.name(WORKLOAD), AGENT_PORT),
        containers={s.name: layout.name(s.name) for s in layout.plan.topology.servers},
        toxiproxy_container=layout.name(TOXIPROXY),
        workload_container=layout.name(WORKLOAD),
        links=links,
    )
    (layout.state_dir / "ground.json").write_text(to_json(ground), encoding="utf-8")
    return ground


def to_json(ground: Ground) -> str:
    """ground.json: the fields of Ground, `links` as a list of from, to, service and the rest."""
    links = [
        {"from": source, "to": target, "service": service, **json_record.encode(link)}
        for (source, target, service), link in ground.links.items()
    ]
    fields = {name: getattr(ground, name) for name in Ground.__dataclass_fields__}
    return json_record.to_text(fields | {"state_dir": str(ground.state_dir), "links": links})


def _published(client: docker.DockerClient, container: str, port: int) -> tuple[str, int]:
    """Host and port on this machine of a port of a container. Raises GroundError."""
    try:
        bindings = client.containers.get(container).ports.get(f"{port}/tcp")
    except NotFound:
        bindings = None
    if not bindings:
        said = verification.last_words(client, container)
        raise GroundError(f"{container} does not run: {said}", f"docker logs {container}")
    return str(bindings[0]["HostIp"]), int(bindings[0]["HostPort"])
