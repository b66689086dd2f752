"""What the lab's client has made of the real Toxiproxy, seen by a client that is not ours.

What a client reads back of itself may be wrong in the same way as what it wrote, so every kind of
fault is looked at with `toxiproxy-python`, and the words expected are written out here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import pytest
import toxiproxy as other_client

from lab.hosts.containers.toxiproxy import Toxiproxy
from lab.plan.effects import Effect, by_toxic
from lab.plan.faults import DIRECTED_KINDS, LINK_KINDS
from lab.plan.link_faults import (
    CUTS,
    Directed,
    Drip,
    ResetAfter,
    Slow,
    SlowClose,
    Throttle,
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


DRIPPING = {
    stream: {("latency", stream): {"latency": 300, "jitter": 0}, ("bandwidth", stream): {"rate": 2}}
    for stream in (UP, DOWN)
}
EXPECTED = {
    "refuse": View(enabled=False),
    "blackhole": both("timeout", timeout=0),
    "stall": both("bandwidth", rate=0),
    "reset": View(toxics={("reset_peer", DOWN): {"timeout": 0}}),
    "ack-lost": View(toxics={("timeout", DOWN): {"timeout": 0}}),
    "slow": both("latency", latency=300, jitter=60),  # milliseconds of the host's clock
    "slow-replies": View(toxics={("latency", DOWN): {"latency": 300, "jitter": 60}}),
    "slow-requests": View(toxics={("latency", UP): {"latency": 300, "jitter": 60}}),
    "throttle": both("bandwidth", rate=2),  # KB in a second of it
    "throttle-replies": View(toxics={("bandwidth", DOWN): {"rate": 2}}),
    "throttle-requests": View(toxics={("bandwidth", UP): {"rate": 2}}),
    "limit_data": both("limit_data", bytes=16_384),
    # microseconds of the host's clock
    "slice": both("slicer", average_size=256, size_variation=0, delay=1000),
    "drip": View(toxics={**DRIPPING[UP], **DRIPPING[DOWN]}),
    "drip-replies": View(toxics=DRIPPING[DOWN]),
    "drip-requests": View(toxics=DRIPPING[UP]),
    # milliseconds of the host's clock
    "reset_after": View(toxics={("reset_peer", DOWN): {"timeout": 500}}),
    "slow_close": both("slow_close", delay=500),
}
DIRECTED: Mapping[str, Directed] = {
    "slow": Slow("f1", "slow", 0, 1, 3000, 600, ()),
    "throttle": Throttle("f1", "throttle", 0, 1, 200, ()),
    "drip": Drip("f1", "drip", 0, 1, 3000, 200, ()),
}
EFFECTS: Mapping[str, Effect] = {
    **{str(kind): effect for kind, effect in CUTS.items()},
    **{kind: fault.effect for kind, fault in DIRECTED.items()},
    **{
        f"{kind}-requests": replace(fault, direction="requests").effect
        for kind, fault in DIRECTED.items()
    },
    **{
        f"{kind}-replies": replace(fault, direction="replies").effect
        for kind, fault in DIRECTED.items()
    },
    "limit_data": by_toxic("limit_data", bytes=16_384),
    "slice": by_toxic("slicer", average_size=256, size_variation=0, delay=10),
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
    one_way = {f"{kind}-{way}" for kind in DIRECTED_KINDS for way in ("requests", "replies")}
    kinds = {*CUTS, *LINK_KINDS, *one_way} - {"cut"}
    assert EXPECTED.keys() == EFFECTS.keys() == kinds


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
