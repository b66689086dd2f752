"""What a server learns of the others (F§3.3)."""

from __future__ import annotations

import pytest

from lab.hosts.node_config import node_config
from tests.lab.hosts.simulator.test_duplicate_windows import plan

MINUTE_MS = 60_000
SETTINGS = """
ReceiveConnector: {ConnectionTimeout: 8m}
servers:
  lyo-mbx1: {ReceiveConnector: {ConnectionTimeout: 2m, ConnectionInactivityTimeout: 30s}}
"""


@pytest.mark.parametrize("reader", ["par-mbx1", "lyo-mbx1"])
def test_every_server_knows_when_each_ends_sessions(reader: str) -> None:
    made = plan(SETTINGS)
    me = next(server for server in made.topology.servers if server.name == reader)
    known = {
        server.name: (
            server.receive_connector.connection_timeout_ms,
            server.receive_connector.inactivity_timeout_ms,
        )
        for server in node_config(made, me).servers
    }
    assert known["par-mbx1"] == (8 * MINUTE_MS, 5 * MINUTE_MS)
    assert known["lyo-mbx1"] == (2 * MINUTE_MS, MINUTE_MS // 2)
    assert known["ext1"] == (10 * MINUTE_MS, 5 * MINUTE_MS)
