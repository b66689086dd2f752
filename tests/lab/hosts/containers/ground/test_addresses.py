from ipaddress import IPv4Network
from pathlib import Path

import pytest

from lab.hosts.containers.ground import addresses
from lab.program.errors import GroundError

BLOCK = IPv4Network("10.70.3.0/24")


def test_every_tenant_has_a_network_of_its_own_with_toxiproxy_in_it() -> None:
    found = addresses.tenant_networks(BLOCK, ["lab", "par-mbx1", "par-mbx2"])
    assert [str(place.subnet) for place in found.values()] == [
        "10.70.3.0/29",
        "10.70.3.8/29",
        "10.70.3.16/29",
    ]
    own = found["par-mbx2"]
    assert [str(own.gateway), str(own.toxiproxy), str(own.tenant)] == [
        "10.70.3.17",
        "10.70.3.18",
        "10.70.3.19",
    ]


def test_thirty_one_servers_and_the_lab_fit_and_one_more_is_refused() -> None:
    tenants = ["lab", *(f"s{number}" for number in range(31))]
    assert len(addresses.tenant_networks(BLOCK, tenants)) == 32
    with pytest.raises(GroundError, match="32 servers are too many"):
        addresses.tenant_networks(BLOCK, [*tenants, "one-more"])


def test_a_run_takes_no_block_that_overlaps_what_is_taken() -> None:
    first = next(addresses.free_blocks("a-run", []))
    blocks = addresses.free_blocks("a-run", [IPv4Network((first.network_address, 30))])
    second = next(blocks)
    assert not second.overlaps(first)
    assert second.subnet_of(addresses.SPACE)
    assert second.prefixlen == 24


def test_the_same_run_starts_at_the_same_block_and_another_run_elsewhere() -> None:
    def start(run_id: str) -> IPv4Network:
        return next(addresses.free_blocks(run_id, []))

    assert start("a-run") == start("a-run") != start("another-run")


def test_no_block_is_left_where_everything_is_taken() -> None:
    assert list(addresses.free_blocks("a-run", [addresses.SPACE])) == []


def test_routes_are_read_from_the_kernels_table_without_the_default_one(tmp_path: Path) -> None:
    table = tmp_path / "route"
    table.write_text(
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        "eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        "eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
    )
    assert list(addresses.routes(table)) == [IPv4Network("10.0.2.0/24")]
    assert list(addresses.routes(tmp_path / "none")) == []
