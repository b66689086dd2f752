"""Where everything stands: a /24 for the run, an eighth-sized network in it for each server.

The first /29 is the lab's own network, the others are the servers' in the order of the plan. In
each the engine's gateway is .1, Toxiproxy .2, and who lives there .3. Which /24 a run takes is
chosen among those that neither the engine's networks nor the machine's routes touch.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import docker

from lab.program.errors import GroundError

SPACE = IPv4Network("10.64.0.0/10")
RUN_PREFIX, PREFIX = 24, 29
MOST_NETWORKS = 2 ** (PREFIX - RUN_PREFIX)


@dataclass(frozen=True, slots=True)
class TenantNetwork:
    """One network: its subnet, and the fixed addresses in it."""

    subnet: IPv4Network

    @property
    def gateway(self) -> IPv4Address:
        """The engine's end."""
        return self.subnet[1]

    @property
    def toxiproxy(self) -> IPv4Address:
        """Toxiproxy's address in this network."""
        return self.subnet[2]

    @property
    def tenant(self) -> IPv4Address:
        """The server's, or the traffic source's."""
        return self.subnet[3]


def tenant_networks(block: IPv4Network, tenants: Sequence[str]) -> dict[str, TenantNetwork]:
    """A network for each tenant, the first one first. GroundError when the block has too few."""
    if len(tenants) > MOST_NETWORKS:
        rule = f"a lab has room for {MOST_NETWORKS - 1} servers"
        raise GroundError(f"{len(tenants) - 1} servers are too many: {rule}")
    subnets = block.subnets(new_prefix=PREFIX)
    return {tenant: TenantNetwork(subnet) for tenant, subnet in zip(tenants, subnets, strict=False)}


def free_blocks(run_id: str, taken: Collection[IPv4Network]) -> Iterator[IPv4Network]:
    """Every /24 that overlaps nothing taken, starting somewhere that depends on the run."""
    count = 2 ** (RUN_PREFIX - SPACE.prefixlen)
    start = int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:4], "big")
    for step in range(count):
        offset = (start + step) % count << (32 - RUN_PREFIX)
        block = IPv4Network((int(SPACE.network_address) + offset, RUN_PREFIX))
        if not any(block.overlaps(other) for other in taken):
            yield block


def taken_networks(client: docker.DockerClient) -> list[IPv4Network]:
    """What the engine's networks and this machine's routes use already."""
    pools = [
        pool["Subnet"]
        for network in client.networks.list()
        for pool in (network.attrs.get("IPAM") or {}).get("Config") or []
        if ":" not in pool.get("Subnet", ":")
    ]
    return [IPv4Network(subnet, strict=False) for subnet in pools] + list(routes())


def routes(table: Path = Path("/proc/net/route")) -> Iterator[IPv4Network]:
    """Destinations of the routing table, but the default one; none where there is no table."""
    lines = table.read_text().splitlines()[1:] if table.exists() else []
    for line in lines:
        _, destination, _, _, _, _, _, mask, *_ = line.split()
        network = IPv4Address(int.from_bytes(bytes.fromhex(destination), "little"))
        width = int.from_bytes(bytes.fromhex(mask), "little").bit_count()
        if width:
            yield IPv4Network((network, width), strict=False)
