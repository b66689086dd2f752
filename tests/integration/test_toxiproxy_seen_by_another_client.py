"""What the lab's client has made of the real Toxiproxy, seen by a client that is not ours.

What a client reads back of itself may be wrong in the same way as what it wrote, so every kind of
fault is looked at with `toxiproxy-python`, and the words expected are written out here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
import toxiproxy as other_client

from lab.hosts.containers.toxiproxy import Toxiproxy
from lab.plan.effects import Effect, both_ways
from lab.plan.faults import LINK_KINDS
from lab.plan.link_faults import (
    CUTS,
    Drip,
    DripReplies,
    ResetAfter,
    SlowClose,
    SlowReplies,
    SlowRequests,
    ThrottleReplies,
    ThrottleRequests,
)
from tests.integration.conftest import OTHER, PROXY

pytestmark = pytest.mark.engine

UP, DOWN = "upstream", "downstream"
FAULT = "f1"


@dataclass(frozen=True, slots=True)
class View:
    """A proxy: whether it listens, and (type, stream) of its toxics with what they are set to."""

    enabled: bool = True
    toxics: Mapping[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)


def both(kind: str, **attributes: int) -> View:
    return View(toxics={(kind, UP): attributes, (kind, DOWN): attributes})


EXPECTED = {
    "refuse": View(enabled=False),
    "blackhole": both("timeout", timeout=0),
    "stall": both("bandwidth", rate=0),
    "reset": View(toxics={("reset_peer", DOWN): {"timeout": 0}}),
    "ack-lost": View(toxics={("timeout", DOWN): {"timeout": 0}}),
    "slow": both("latency", latency=300, jitter=60),  # milliseconds of the host's clock
    "slow_replies": View(toxics={("latency", DOWN): {"latency": 300, "jitter": 0}}),
    "slow_requests": View(toxics={("latency", UP): {"latency": 300, "jitter": 0}}),
    "throttle": both("bandwidth", rate=2),  # KB in a second of it
    "throttle_replies": View(toxics={("bandwidth", DOWN): {"rate": 2}}),
    "throttle_requests": View(toxics={("bandwidth", UP): {"rate": 2}}),
    "limit_data": both("limit_data", bytes=16_384),
    # microseconds of the host's clock
    "slice": both("slicer", average_size=256, size_variation=0, delay=1000),
    "drip": View(
        toxics={
            (kind, stream): attributes
            for stream in (UP, DOWN)
            for kind, attributes in (
                ("latency", {"latency": 300, "jitter": 0}),
                ("bandwidth", {"rate": 2}),
            )
        }
    ),
    "drip_replies": View(
        toxics={
            ("latency", DOWN): {"latency": 300, "jitter": 0},
            ("bandwidth", DOWN): {"rate": 2},
        }
    ),
    # milliseconds of the host's clock
    "reset_after": View(toxics={("reset_peer", DOWN): {"timeout": 500}}),
    "slow_close": both("slow_close", delay=500),
}
EFFECTS: Mapping[str, Effect] = {
    **{str(kind): effect for kind, effect in CUTS.items()},
    "slow": both_ways("latency", latency=3000, jitter=600),
    "slow_replies": SlowReplies("f1", "slow_replies", 0, 1, 3000, ()).effect,
    "slow_requests": SlowRequests("f1", "slow_requests", 0, 1, 3000, ()).effect,
    "throttle": both_ways("bandwidth", rate=200),
    "throttle_replies": ThrottleReplies("f1", "throttle_replies", 0, 1, 200, ()).effect,
    "throttle_requests": ThrottleRequests("f1", "throttle_requests", 0, 1, 200, ()).effect,
    "limit_data": both_ways("limit_data", bytes=16_384),
    "slice": both_ways("slicer", average_size=256, size_variation=0, delay=10),
    "drip": Drip("f1", "drip", 0, 1, 3000, 200, ()).effect,
    "drip_replies": DripReplies("f1", "drip_replies", 0, 1, 3000, 200, ()).effect,
    "reset_after": ResetAfter("f1", "reset_after", 0, 1, 5000, ()).effect,
    "slow_close": SlowClose("f1", "slow_close", 0, 1, 5000, ()).effect,
}


@pytest.fixture
def theirs(toxiproxy: Toxiproxy) -> other_client.Toxiproxy:
    """The other client, at the same server; it keeps one address for the whole process."""
    url, client = urlsplit(toxiproxy.url), other_client.Toxiproxy()
    client.update_api_consumer(url.hostname, url.port)
    return client


def test_every_kind_of_link_fault_is_looked_at() -> None:
    assert EXPECTED.keys() == EFFECTS.keys() == {*CUTS, *LINK_KINDS} - {"cut"}


@pytest.mark.parametrize("kind", EXPECTED)
@pytest.mark.usefixtures("ports")
def test_a_fault_is_what_another_client_sees_and_nothing_of_it_is_left(
    kind: str, toxiproxy: Toxiproxy, theirs: other_client.Toxiproxy
) -> None:
    assert view(theirs, PROXY) == View()
    toxiproxy.apply(FAULT, EFFECTS[kind], [PROXY])
    assert view(theirs, PROXY) == EXPECTED[kind]
    assert view(theirs, OTHER) == View()
    toxiproxy.undo(FAULT, EFFECTS[kind], [PROXY])
    assert view(theirs, PROXY) == View()


@pytest.mark.parametrize("kind", [kind for kind, view in EXPECTED.items() if view.toxics])
@pytest.mark.usefixtures("ports")
def test_every_toxic_acts_on_every_connection_and_bears_its_faults_name(
    kind: str, toxiproxy: Toxiproxy, theirs: other_client.Toxiproxy
) -> None:
    toxiproxy.apply(FAULT, EFFECTS[kind], [PROXY])
    toxics = theirs.get_proxy(PROXY).toxics()
    assert toxics
    assert all(name.startswith(f"{FAULT}-") for name in toxics)
    assert {toxic.toxicity for toxic in toxics.values()} == {1}
    toxiproxy.undo(FAULT, EFFECTS[kind], [PROXY])


def test_both_clients_see_the_same_proxies(
    toxiproxy: Toxiproxy, theirs: other_client.Toxiproxy, ports: dict[str, int]
) -> None:
    ours = {name: (each.listen, each.upstream) for name, each in toxiproxy.proxies().items()}
    assert ours == {name: (each.listen, each.upstream) for name, each in theirs.proxies().items()}
    assert ours.keys() == ports.keys()


def view(client: other_client.Toxiproxy, proxy: str) -> View:
    """The other client's own words for a proxy."""
    seen = client.get_proxy(proxy)
    toxics = seen.toxics().values()
    return View(seen.enabled, {(each.type, each.stream): each.attributes for each in toxics})
