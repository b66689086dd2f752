"""Whatever a client says, with and without TLS and a peer's certificate: the node lives, answers,
and keeps what it has acknowledged.

SHADOWLAB_FUZZ says how many sessions are held (`make fuzz`: 10,000).
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.nodes.shell.fuzz.fuzzed_node import FuzzedNode
from tests.nodes.shell.fuzz.fuzzed_sessions import (
    ANYBODY,
    PEER,
    TLS,
    WHOLE,
    FuzzedSession,
    sessions,
)
from tests.nodes.shell.organisation import Organisation

AT_ONCE = 20
SESSIONS = int(os.environ.get("SHADOWLAB_FUZZ", "300"))
UNKNOWN = b"".join(b"X%d\r\n" % number for number in range(6))
EHLO = b"EHLO client\r\n"


@pytest.fixture
def organisation(tmp_path: Path) -> Organisation:
    """Lab time runs, so that silent clients are cut; no message gets too old meanwhile."""
    organisation = Organisation(tmp_path, speed=300.0, managers=("am1",))
    organisation.sections["TransportService"] = {"MessageExpirationTimeout": "90d"}
    organisation.sections["TransportConfig"] = {"SafetyNetHoldTime": "90d"}
    organisation.start_lab_time(time.monotonic_ns())
    return organisation


@pytest.mark.fuzz
@pytest.mark.timeout(3600)
# the client's own connections, which it drops as rudely as it can
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("server", "module", "share"),
    [("par-mbx1", "runner", 1), ("am1", "active_manager", 5), ("ext1", "external", 5)],
)
def test_no_session_does_harm_to_a_node(
    server: str, module: str, share: int, organisation: Organisation, loop: asyncio.Runner
) -> None:
    node = FuzzedNode(organisation, server, module)

    @settings(
        max_examples=max(SESSIONS // share // AT_ONCE, 1),
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],  # a node that is hurt cannot be asked again
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(sessions(), min_size=AT_ONCE, max_size=AT_ONCE))
    @example([FuzzedSession(ANYBODY, (EHLO, TLS, EHLO + UNKNOWN), "silence")])
    @example([FuzzedSession(PEER, (EHLO, TLS, EHLO + b"XDELIVER DB1 net-1\r\n" + WHOLE), "quit")])
    @example([FuzzedSession(ANYBODY, (EHLO, WHOLE), "quit")])
    @example([FuzzedSession(ANYBODY, (EHLO, WHOLE.replace(b"<fuzz", b"<" + b"i" * 900)), "quit")])
    def hold(held: list[FuzzedSession]) -> None:
        loop.run(node.hold(held))
        loop.run(node.is_well())

    try:
        hold()
        node.stop()
    finally:
        node.kill()
    assert node.lost() == set()
    assert node.acknowledged or module == "active_manager", "nothing was acknowledged"
