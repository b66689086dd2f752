"""Who may hold a shadow, in which order they are tried (SR-2 to SR-4); the small pure parts of the
core.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.core.config.config import Server
from nodes.core.config.error import ConfigurationError
from nodes.core.config.retry import retry_interval_ms
from nodes.core.model.identity import Identity
from nodes.core.model.lab_time import iso, rfc5322
from nodes.core.routing.boundary import members, shadow_attempts
from nodes.core.routing.categorizer import forks_of
from tests.nodes.core.world import OUTSIDE, USER1, USER2, config
from tests.nodes.next_hops import DB1, DB2, EXT1

LOCAL_ONLY = {"ShadowMessagePreferenceSetting": "LocalOnly", "MaxRetriesForRemoteSiteShadow": 0}
REMOTE_ONLY = {"ShadowMessagePreferenceSetting": "RemoteOnly"}


@pytest.mark.parametrize("turn", range(6))
def test_prefer_remote_makes_four_remote_attempts_then_two_local_ones(turn: int) -> None:
    attempts = shadow_attempts(config("par1"), turn)
    assert len(attempts) == 6
    assert set(attempts[:4]) == {"lyo1", "lyo2"}
    assert attempts[4:] == ("par2", "par2")


def test_local_only_never_leaves_the_site() -> None:
    attempts = shadow_attempts(config("par1", TransportConfig=LOCAL_ONLY), 0)
    assert attempts == ("par2", "par2")


def test_remote_only_does_not_fall_back_to_local() -> None:
    attempts = shadow_attempts(config("par1", TransportConfig=REMOTE_ONLY), 0)
    assert set(attempts) == {"lyo1", "lyo2"}
    assert len(attempts) == 4


def test_a_preference_of_its_own_wins_over_that_of_the_organisation() -> None:
    own = {"ShadowMessagePreference": "RemoteOnly"}
    assert len(shadow_attempts(config("par1", TransportService=own), 0)) == 4
    own = {"ShadowMessagePreference": "PreferRemote"}
    settings = config("par1", TransportConfig=REMOTE_ONLY, TransportService=own)
    assert len(shadow_attempts(settings, 0)) == 6


@given(turn=st.integers(0, 10_000), avoid=st.sampled_from(["lyo1", "lyo2", "par2", None]))
def test_successive_attempts_go_to_different_servers_while_untried_ones_remain(
    turn: int, avoid: str | None
) -> None:
    attempts = shadow_attempts(config("par1"), turn, avoid)
    assert len(set(attempts[:2])) == 2
    assert "par1" not in attempts
    if avoid in ("lyo1", "lyo2"):
        assert attempts[0] != avoid


def test_a_dag_in_one_site_uses_the_local_count_and_ignores_the_preference() -> None:
    base = config("par1", TransportConfig=REMOTE_ONLY)
    one_site = replace(base, servers=tuple(_in_paris(s) for s in base.servers))
    attempts = shadow_attempts(one_site, 0)
    assert len(attempts) == 2
    assert len(set(attempts)) == 2


def test_outside_a_dag_only_servers_of_the_site_that_are_in_no_dag_either() -> None:
    base = config("par1")
    without = tuple(replace(s, dag=None) if s.name in ("par1", "lyo1") else s for s in base.servers)
    alone = replace(base, servers=without, me=replace(base.me, dag=None))
    assert members(alone) == ()
    assert shadow_attempts(alone, 0) == ()


def _in_paris(server: Server) -> Server:
    return replace(server, site="paris") if server.role == "mailbox" else server


def test_recipients_bifurcate_by_next_hop_each_once() -> None:
    forks = forks_of(
        config("par1"), (USER1, OUTSIDE, USER2, USER1.upper(), "nobody@nowhere.example")
    )
    assert [(f.next_hop, f.recipients) for f in forks] == [
        (DB1, (USER1,)),
        (EXT1, (OUTSIDE,)),
        (DB2, (USER2,)),
    ]


def test_the_retry_ladder_is_glitch_then_transient_then_outage() -> None:
    server = config("par1").server
    minutes = [retry_interval_ms(server, n) // 60_000 for n in range(1, 13)]
    assert minutes == [1] * 4 + [5] * 6 + [10] * 2


def test_ids_never_come_again_after_a_start() -> None:
    first, second = Identity(), Identity()
    first.opened("db", 1, 0)
    used = {first.next_internal_id() for _ in range(3)}
    second.opened("db", 2, 0)
    assert second.next_internal_id() > max(used)


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2400, 1, 1)))  # noqa: DTZ001
def test_lab_time_is_written_as_iso(moment: datetime) -> None:
    moment = moment.replace(tzinfo=UTC, microsecond=moment.microsecond // 1000 * 1000)
    epoch_ms = round(moment.timestamp() * 1000)
    assert iso(epoch_ms) == moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{epoch_ms % 1000:03}Z"


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2400, 1, 1)))  # noqa: DTZ001
def test_a_date_header_says_the_moment_in_whole_seconds(moment: datetime) -> None:
    moment = moment.replace(tzinfo=UTC, microsecond=0)
    assert parsedate_to_datetime(rfc5322(round(moment.timestamp() * 1000) + 999)) == moment


@pytest.mark.parametrize(
    ("sections", "names"),
    [
        (
            {"TransportConfig": {"ShadowMessagePreferenceSetting": "LocalOnly"}},
            "MaxRetriesForRemote",
        ),
        ({"TransportConfig": {"ShadowHeartbeatFrequenzy": "00:02:00"}}, "ShadowHeartbeatFrequenzy"),
        ({"TransportConfig": {"ShadowHeartbeatFrequency": "soon"}}, "ShadowHeartbeatFrequency"),
        ({"ReceiveConnector": {"ConnectionInactivityTimeout": "00:10:00"}}, "ConnectionTimeout"),
    ],
)
def test_a_wrong_configuration_is_refused_by_name(sections: dict[str, Any], names: str) -> None:
    with pytest.raises(ConfigurationError, match=names):
        config("par1", **sections)
