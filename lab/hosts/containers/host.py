"""Containers as a host: images, playbooks, Toxiproxy, servers and the agent of one run, together.

Everything that is made carries the run's label or lies in the run's state directory, so that `down`
finds all of it after any death of the lab. This module only puts the parts together.
"""

import platform
import time
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

import docker
import requests
from docker.errors import DockerException

from lab.clock import START_MARGIN_NS, start_text
from lab.faults.observer.target import Wire
from lab.hosts.containers import down, engine
from lab.hosts.containers.collect import Collection
from lab.hosts.containers.ground import provision, volumes
from lab.hosts.containers.ground.provision import Ground
from lab.hosts.containers.images import ensure as images
from lab.hosts.containers.nodes import ContainerNodes
from lab.hosts.containers.toxiproxy import Toxiproxy
from lab.hosts.host import Means, Say
from lab.plan.plan import Plan
from lab.plan.topology import LinkName
from lab.program.errors import GroundError
from lab.program.whole_file import write_whole
from lab.record.folder import RunFolder
from lab.workload.agent import Agent, AgentError

LIBRARIES = ("shadowlab", "aiosmtplib", "ansible-core", "docker")


class ContainerHost:
    """One run on containers; `state_root` is where its state directory is made. `defect` names what
    is wrong with its nodes, and stands in host.json; they are sound where it is empty.
    """

    name = "containers"

    def __init__(self, state_root: Path, defect: str = "") -> None:
        self._state_root = state_root
        self._defect = defect
        self._client: docker.DockerClient | None = None
        self._plan: Plan | None = None
        self._folder: RunFolder | None = None
        self._ground: Ground | None = None
        self._described: dict[str, object] = {}

    def up(self, plan: Plan, folder: RunFolder, say: Say) -> Means:
        self._plan, self._folder = plan, folder
        self._client = engine.connect()
        made = images.ensure(self._client, say)
        say(f"provisioning {len(plan.topology.servers)} servers")
        self._ground = provision.up(
            plan, folder.run_id, self._state_dir(folder), made, self._client, self._defect
        )
        provision.verify(self._ground)
        proxies = Toxiproxy(self._ground.toxiproxy_api, plan.clock.speed)
        self._described = _describe(self._client, made, proxies)
        if own := volumes.servers_with_one(self._ground.state_dir):
            self._described["volumes"] = own
        nodes = ContainerNodes(self._client, self._ground)
        return Means(_wires(self._ground), proxies, nodes, Agent(*self._ground.agent))

    def start_clock(self) -> int:
        zero_ns = time.monotonic_ns() + START_MARGIN_NS
        unread = self._up().state_dir / "start.json"
        write_whole(unread, start_text(zero_ns))
        unread.chmod(0o644)  # every container reads it, whatever the umask
        unread.replace(self._up().state_dir / "clock" / "start.json")
        return zero_ns

    def describe(self) -> Mapping[str, object]:
        return self._described | ({"defect": self._defect} if self._defect else {})

    def stop_workload(self) -> None:
        if self._ground is not None:
            try:
                Agent(*self._ground.agent).stop()
            except AgentError as error:
                raise GroundError(f"the workload did not stop: {error}") from error

    def stop_servers(self) -> Mapping[str, int]:
        if self._ground is None or self._client is None:
            return {}
        return ContainerNodes(self._client, self._ground).stop_all()

    def collect(self) -> Sequence[str]:
        complaints: list[str] = []
        if self._plan and self._client and self._folder:
            state_dir = self._state_dir(self._folder)
            Collection(self._plan, state_dir, self._client, self._folder, complaints).collect()
        return complaints

    def keep(self) -> str:
        if self._ground is not None and self._client is not None:
            nodes = ContainerNodes(self._client, self._ground)
            for server in nodes.left:
                nodes.start(server)
        return "shadowlab down removes it"

    def down(self) -> None:
        if self._client is not None and self._folder is not None:
            down.down(self._client, self._folder.run_id, self._state_root)

    @property
    def ground(self) -> Ground:
        """Where everything is. Raises GroundError before `up`."""
        return self._up()

    def _up(self) -> Ground:
        if self._ground is None:
            raise GroundError("the lab does not stand")
        return self._ground

    def _state_dir(self, folder: RunFolder) -> Path:
        return (self._state_root / folder.run_id).absolute()


def _wires(ground: Ground) -> dict[LinkName, Wire]:
    """Every link, with the address that its proxy has for the container of the workload."""
    return {
        LinkName(*name): Wire(link.proxy, ground.address(name))
        for name, link in ground.links.items()
    }


def _describe(
    client: docker.DockerClient, made: images.Images, proxies: Toxiproxy
) -> dict[str, object]:
    try:
        versions = {"engine": str(client.version()["Version"]), "toxiproxy": proxies.version()}
        ids = {name: str(client.images.get(name).id) for name in (made.node, made.toxiproxy)}
    except (DockerException, requests.RequestException) as error:
        raise GroundError(f"the engine reports no versions: {error}") from error
    versions |= {"python": platform.python_version(), "kernel": platform.release()}
    versions |= {name: metadata.version(name) for name in LIBRARIES if _is_installed(name)}
    return {"versions": versions, "images": ids}


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
