"""What Ansible learns of a lab: an inventory made from the plan, pure, and everything in it.

Hosts are the plan's servers, and beside them `toxiproxy`, `workload` (the traffic source) and
`authority` (who makes the certificates); all are containers or files of this machine, so every
connection is local and the interpreter is the lab's own.
"""

import json
import sys
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from lab.hosts.containers.engine import RUN_LABEL, STATE_LABEL
from lab.hosts.containers.ground import confinement
from lab.hosts.containers.ground.addresses import TenantNetwork, tenant_networks
from lab.hosts.containers.ground.certificates import STRANGERS
from lab.hosts.containers.ground.defect_file import BREAKABLE, command
from lab.hosts.containers.images.ensure import Images
from lab.hosts.node_config import as_settings, breakpoints, identity, node_settings, organisation
from lab.plan.links import WORKLOAD
from lab.plan.plan import Plan
from lab.plan.topology import Link, Server
from lab.program.sources import ROOT
from lab.workload.agent import AGENT_PORT

FILE = "inventory.json"
TOXIPROXY, AUTHORITY, LAB = "toxiproxy", "authority", "lab"
SMTP_PORT = 2525
CONFIG = "/etc/shadowlab/config.json"
PROGRAMS = {
    "mailbox": "nodes.shell.runner",
    "frontend": "nodes.shell.front_end",
    "external": "nodes.shell.external",
    "active_manager": "nodes.shell.active_manager",
}
NO_WAY_OUT = {"com.docker.network.bridge.enable_ip_masquerade": "false"}
BANNER_PATIENCE_S = 30
"""How long a server may take from its start to its first banner, before verify gives up."""

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Layout:
    """A plan laid out for one run: its names on the engine, its folder, its addresses. `defect`
    names what is wrong with its nodes; they are sound where it is empty.
    """

    plan: Plan
    run_id: str
    state_dir: Path
    images: Images
    block: IPv4Network
    defect: str = ""

    def name(self, part: str) -> str:
        """What a container or network is called on the engine."""
        return f"{self.run_id}-{part}"

    def networks(self) -> dict[str, TenantNetwork]:
        """The lab's network under `lab`, each server's under its name."""
        return tenant_networks(
            self.block, [LAB, *(server.name for server in self.plan.topology.servers)]
        )

    def listener(self, link: Link) -> str:
        """Where the source of a link reaches its proxy: `address:port`."""
        seen_from = LAB if link.source == WORKLOAD else link.source
        return f"{self.networks()[seen_from].toxiproxy}:{link.port}"

    def upstream(self, server: str) -> str:
        """Where a server itself listens: `address:port`, for Toxiproxy alone."""
        return f"{self.networks()[server].tenant}:{SMTP_PORT}"

    def command(self, server: Server) -> list[str]:
        """What the server's container runs."""
        if self.is_broken(server):
            return command(self.defect, PROGRAMS[server.role], CONFIG)
        return ["python3", "-m", PROGRAMS[server.role], CONFIG]

    def is_broken(self, server: Server) -> bool:
        """Whether it has the defect; external servers never have one."""
        return bool(self.defect) and server.role in BREAKABLE


def inventory(layout: Layout) -> Json:
    """The inventory, as plain JSON; the same for the same layout on the same machine."""
    servers = layout.plan.topology.servers
    groups: Json = {
        f"{role}_servers": {
            "hosts": {s.name: _server(layout, s) for s in servers if s.role == role}
        }
        for role in PROGRAMS
    }
    beside = {
        TOXIPROXY: _toxiproxy(layout),
        WORKLOAD: _workload(layout),
        AUTHORITY: {"certificates": _certificates(layout.plan)},
    }
    return {"all": {"vars": _everybody(layout), "children": groups, "hosts": beside}}


def to_text(layout: Layout) -> str:
    """The inventory file."""
    return json.dumps(inventory(layout), indent=1) + "\n"


def _certificates(plan: Plan) -> list[str]:
    """What the authority is asked for: of every server, and what strangers show."""
    own = [f"{server.name}={server.fqdn}" for server in plan.topology.servers]
    shown = {each.certificate for each in plan.strangers if each.certificate is not None}
    return [*own, STRANGERS, *sorted(shown)] if plan.strangers else own


def _everybody(layout: Layout) -> Json:
    return {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "run": layout.run_id,
        "state": str(layout.state_dir),
        "checkout": str(ROOT),
        "block": str(layout.block),
        "user": ":".join(map(str, confinement.user())),
        "image_node": layout.images.node,
        "image_toxiproxy": layout.images.toxiproxy,
        "labels": {RUN_LABEL: layout.run_id, STATE_LABEL: str(layout.state_dir)},
        "smtp_port": SMTP_PORT,
        "clock": {"origin": layout.plan.clock.origin, "speed": layout.plan.clock.speed},
        "organisation": organisation(layout.plan),
    }


def _server(layout: Layout, server: Server) -> Json:
    links = [link for link in layout.plan.links if link.source == server.name]
    return {
        "container": layout.name(server.name),
        "network": _network(layout, server.name, internal=True),
        "address": str(layout.networks()[server.name].tenant),
        "command": layout.command(server),
        "confinement": _confinement("server", tmpfs=True),
        "node": identity(server),
        "links": _by_target(layout, links),
        "settings": node_settings(layout.plan, server.name),
        "breakpoints": [as_settings(each) for each in breakpoints(layout.plan, server.name)],
        "look": _look(layout, links, server.name),
    }


def _by_target(layout: Layout, links: list[Link]) -> dict[str, dict[str, str]]:
    """Target -> service -> where its proxy listens."""
    found: dict[str, dict[str, str]] = {}
    for link in links:
        found.setdefault(link.target, {})[link.service] = layout.listener(link)
    return found


def _toxiproxy(layout: Layout) -> Json:
    attached = [
        {"name": layout.name(part), "ipv4_address": str(network.toxiproxy)}
        for part, network in layout.networks().items()
    ]
    return {
        "container": layout.name(TOXIPROXY),
        "network": _network(layout, LAB, internal=False),
        "networks": attached,
        "confinement": _confinement("toxiproxy", tmpfs=False),
        "proxies": [
            {
                "name": link.proxy,
                "listen": f"0.0.0.0:{link.port}",
                "upstream": layout.upstream(link.target),
            }
            for link in layout.plan.links
        ],
    }


def _workload(layout: Layout) -> Json:
    fqdns = {server.name: server.fqdn for server in layout.plan.topology.servers}
    links = [link for link in layout.plan.links if link.source == WORKLOAD]
    return {
        "container": layout.name(WORKLOAD),
        "network_of_lab": layout.name(LAB),
        "address": str(layout.networks()[LAB].tenant),
        "agent_port": AGENT_PORT,
        "command": ["python3", "-m", "lab.workload", "/workload"],
        "confinement": _confinement("workload", tmpfs=True),
        "targets": {
            link.target: {"address": layout.listener(link), "fqdn": fqdns[link.target]}
            for link in links
        },
        "look": _look(layout, links, WORKLOAD),
    }


def _confinement(kind: str, *, tmpfs: bool) -> Json:
    """What the engine is asked for, and the verify play looks for."""
    limits = confinement.LIMITS[kind]
    return {
        "memory_bytes": limits.memory_bytes,
        "processes": limits.processes,
        "log_driver": confinement.LOG_DRIVER,
        "log_options": dict(confinement.LOG_OPTIONS),
        "tmpfs": [confinement.TMP] if tmpfs else [],
    }


def _network(layout: Layout, part: str, *, internal: bool) -> Json:
    network = layout.networks()[part]
    return {
        "name": layout.name(part),
        "internal": internal,
        "subnet": str(network.subnet),
        "gateway": str(network.gateway),
        "driver_options": {} if internal else NO_WAY_OUT,
    }


def _look(layout: Layout, links: list[Link], seen_from: str) -> Json:
    """What the verify play asks for inside a container: what must answer and what must not."""
    others = [s.name for s in layout.plan.topology.servers if s.name != seen_from]
    return {
        "links": {f"{link.target} ({link.service})": layout.listener(link) for link in links},
        "forbidden": {server: layout.upstream(server) for server in others},
        "patience_s": BANNER_PATIENCE_S,
    }


def read(path: Path) -> Json:
    """The inventory in a file."""
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


def hosts(whole: Json) -> dict[str, dict[str, Any]]:
    """Inventory host to its variables, those of everybody included."""
    everybody: Any = whole["all"]
    found = dict(everybody["hosts"])
    for group in everybody["children"].values():
        found |= group["hosts"]
    return {name: everybody["vars"] | own for name, own in found.items()}


def block_of(path: Path) -> IPv4Network | None:
    """The block that an inventory file was made for; None without the file."""
    if not path.exists():
        return None
    everybody: Any = read(path)["all"]
    return IPv4Network(everybody["vars"]["block"])
