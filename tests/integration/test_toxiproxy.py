"""What the Toxiproxy that the lab runs really does under each kind of cut.

The faults, their evidence and the evaluation rest on this table, so it is measured on the image
of the lab: a session open before the cut (old), a connection made during it (new), and where the
bytes go that were sent meanwhile. `reset_peer` resets new connections only: an old session is
closed when the next reply to it would pass, and an idle one lives on.
"""

import contextlib
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from lab.hosts.containers.toxiproxy import Toxiproxy
from lab.plan.effects import Direction, Effect, by_toxic
from lab.plan.link_faults import (
    CUTS,
    CutKind,
    Directed,
    Drip,
    ResetAfter,
    Slow,
    SlowClose,
    Throttle,
)
from lab.program.errors import GroundError
from tests.integration.conftest import OTHER, PROXY
from tests.integration.recording_server import ENDED, RecordingServer
from tests.parity.cut_table import EFFECTS, TABLE, Measured

pytestmark = pytest.mark.engine

SOON, LATER = 0.3, 3.0  # nothing should come; something should
AT_ONCE, TRIES = 0.5, 5


@pytest.mark.parametrize("kind", TABLE)
def test_a_cut_does_what_the_table_says(
    kind: str, toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    assert _measure(EFFECTS[kind], toxiproxy, server, ports[PROXY]) == TABLE[kind]


@pytest.mark.parametrize("kind", CUTS)
def test_a_cut_touches_no_other_proxy(
    kind: CutKind, toxiproxy: Toxiproxy, ports: dict[str, int]
) -> None:
    toxiproxy.apply("f1", CUTS[kind], [PROXY])
    with closing(_connect(ports[OTHER])) as session:
        assert _hear(session, LATER) == "220 recording"


@pytest.mark.parametrize("kind", CUTS)
def test_a_healed_proxy_is_as_new(
    kind: CutKind, toxiproxy: Toxiproxy, ports: dict[str, int]
) -> None:
    before = toxiproxy.read_back([PROXY, OTHER])
    toxiproxy.apply("f1", CUTS[kind], [PROXY, OTHER])
    toxiproxy.undo("f1", CUTS[kind], [PROXY, OTHER])
    assert toxiproxy.read_back([PROXY, OTHER]) == before
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"


def test_a_slow_proxy_is_late_in_both_directions(
    toxiproxy: Toxiproxy, ports: dict[str, int]
) -> None:
    toxiproxy.apply(
        "f1", by_toxic("latency", latency=3000, jitter=0), [PROXY]
    )  # 0.3 s of wall time
    began = time.monotonic()
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"
        banner = time.monotonic()
        _tell(session, "late")
        assert _hear(session, LATER) == "250 late"
        reply = time.monotonic()
    assert banner - began >= 0.29
    assert reply - banner >= 0.58


# a second of wall time, and 1000 bytes in a second of it
ONE_WAY: Mapping[str, tuple[Directed, float]] = {
    "slow": (Slow("f1", "slow", 0, 1, 10_000, 0, ()), 0.98),
    "throttle": (Throttle("f1", "throttle", 0, 1, 100, ()), 0.88),
    "drip": (Drip("f1", "drip", 0, 1, 10_000, 100, ()), 1.86),
}
"""By how many seconds 900 bytes are late at least."""


@pytest.mark.parametrize("direction", ["requests", "replies"])
@pytest.mark.parametrize("kind", ONE_WAY)
def test_a_proxy_is_late_in_its_direction_alone(
    kind: str,
    direction: Direction,
    toxiproxy: Toxiproxy,
    server: RecordingServer,
    ports: dict[str, int],
) -> None:
    fault, seconds = ONE_WAY[kind]
    effect = replace(fault, direction=direction).effect
    is_late = _requests_alone_are_late if direction == "requests" else _answers_alone_are_late
    with closing(_connect(ports[PROXY])) as old:
        assert _hear(old, LATER) == "220 recording"
        toxiproxy.apply("f1", effect, [PROXY])
        if direction == "requests":
            assert _at_once(_greeting(ports[PROXY]) for _ in range(TRIES))
        elif kind != "throttle":
            assert _greeting(ports[PROXY]) >= 0.98
        with closing(_connect(ports[PROXY])) as new:
            assert _hear(new, LATER) == "220 recording"
            for session, letter in ((old, "o"), (new, "n")):
                assert is_late(session, server, letter * 900, seconds)
        toxiproxy.undo("f1", effect, [PROXY])
        assert _at_once(each.in_all for each in _exchanges(old, server, "a" * 900))


def test_an_answer_that_is_late_at_the_heal_still_comes(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"
        effect = by_toxic("latency", "replies", latency=10_000, jitter=0)  # 1 s of wall time
        toxiproxy.apply("f1", effect, [PROXY])
        _tell(session, "during")
        assert server.got("during", LATER)
        toxiproxy.undo("f1", effect, [PROXY])
        assert _hear(session, LATER) == "250 during"
        _tell(session, "after")
        assert _hear(session, LATER) == "250 after"


def test_a_throttled_proxy_lets_through_what_its_rate_says_and_no_more(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    toxiproxy.apply(
        "f1", by_toxic("bandwidth", rate=100), [PROXY]
    )  # 1000 bytes in a second of wall time
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"
        began = time.monotonic()
        _tell(session, "x" * 600)
        assert _hear(session, LATER).startswith("250 xxx")
    assert time.monotonic() - began >= 0.58
    assert server.got("x" * 600, SOON)


def test_a_dripping_proxy_is_late_and_lets_through_what_its_rate_says(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    late = by_toxic("latency", latency=3000, jitter=0)  # 0.3 s of wall time
    little = by_toxic("bandwidth", rate=100)  # 1000 bytes in a second of it
    toxiproxy.apply("f1", Effect((*late.toxics, *little.toxics)), [PROXY])
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"
        began = time.monotonic()
        _tell(session, "x" * 600)
        assert server.got("x" * 600, LATER)
    assert time.monotonic() - began >= 0.88


def test_a_limited_proxy_ends_a_session_that_has_carried_so_much(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    limit = by_toxic("limit_data", bytes=1000)
    with closing(_connect(ports[PROXY])) as old:
        assert _hear(old, LATER) == "220 recording"
        _tell(old, "b" * 400)  # and so much comes back
        assert _hear(old, LATER).startswith("250 bbb")
        toxiproxy.apply("f1", limit, [PROXY])
        with closing(_connect(ports[PROXY])) as new:
            assert _hear(new, LATER) == "220 recording"
            for session in (old, new):
                _tell(session, "s" * 400)
                assert _hear(session, LATER).startswith("250 sss")
                _tell(session, "m" * 700)
                assert _hear(session, LATER) in ("closed", "reset")
    assert not server.got("m" * 700, SOON)
    toxiproxy.undo("f1", limit, [PROXY])
    with closing(_connect(ports[PROXY])) as again:
        assert _hear(again, LATER) == "220 recording"
        _tell(again, "a" * 2000)
        assert server.got("a" * 2000, LATER)


def test_a_sliced_proxy_carries_all_of_it_in_pieces_with_a_pause_after_each(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    slices = by_toxic("slicer", average_size=256, size_variation=0, delay=2000)  # 0.2 s
    with closing(_connect(ports[PROXY])) as old:
        assert _hear(old, LATER) == "220 recording"
        toxiproxy.apply("f1", slices, [PROXY])
        with closing(_connect(ports[PROXY])) as new:
            assert _hear(new, LATER) == "220 recording"
            for session, letter in ((old, "o"), (new, "n")):
                began = time.monotonic()
                _tell(session, letter * 500)  # two pieces
                assert server.got(letter * 500, LATER)
                assert time.monotonic() - began >= 0.19
                began = time.monotonic()
                _tell(session, letter * 900)  # four
                assert server.got(letter * 900, LATER)
                assert time.monotonic() - began >= 0.59


def test_what_a_slicing_proxy_still_has_goes_on_at_the_heal(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    slices = by_toxic("slicer", average_size=256, size_variation=0, delay=100_000)  # 10 s
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"
        toxiproxy.apply("f1", slices, [PROXY])
        _tell(session, "h" * 900)
        assert not server.got("h" * 900, SOON)
        toxiproxy.undo("f1", slices, [PROXY])
        assert server.got("h" * 900, LATER)
        assert _hear(session, LATER).startswith("250 hhh")


RESETS = ResetAfter("f1", "reset_after", 0, 1, 10_000, ()).effect  # after a second of wall time


def test_a_proxy_that_resets_answers_nothing_and_resets_each_connection_in_time(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    with closing(_connect(ports[PROXY])) as old, closing(_connect(ports[PROXY])) as idle:
        assert (_hear(old, LATER), _hear(idle, LATER)) == ("220 recording", "220 recording")
        toxiproxy.apply("f1", RESETS, [PROXY])
        began = time.monotonic()
        with closing(_connect(ports[PROXY])) as new:
            for session, line in ((old, "during"), (new, "not greeted")):
                _tell(session, line)
                assert server.got(line, LATER)
            assert (_hear(old, LATER), _hear(new, LATER)) == ("closed", "reset")
        assert time.monotonic() - began >= 0.99
        toxiproxy.undo("f1", RESETS, [PROXY])
        with closing(_connect(ports[PROXY])) as again:
            assert _hear(again, LATER) == "220 recording"
        _tell(idle, "after")
        assert _hear(idle, LATER) == "250 after"


def test_what_waits_to_be_reset_at_the_heal_still_is(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    """An answer waits once the proxy has read it: it has half a second for that, of three."""
    resets = ResetAfter("f1", "reset_after", 0, 1, 30_000, ()).effect
    with closing(_connect(ports[PROXY])) as old:
        assert _hear(old, LATER) == "220 recording"
        toxiproxy.apply("f1", resets, [PROXY])
        _tell(old, "during")
        with closing(_connect(ports[PROXY])) as new:
            _tell(new, "not greeted")
            assert server.got("not greeted", LATER)
            assert (_hear(old, 0.25), _hear(new, 0.25)) == ("silent", "silent")
            toxiproxy.undo("f1", resets, [PROXY])
            assert (_hear(old, LATER), _hear(new, LATER)) == ("closed", "reset")


def test_a_server_that_hangs_up_over_a_proxy_that_resets_is_noticed_in_time(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"
        toxiproxy.apply("f1", RESETS, [PROXY])
        session.shutdown(socket.SHUT_WR)  # the server hangs up as well
        began = time.monotonic()
        assert _hear(session, LATER) == "closed"
        assert time.monotonic() - began >= 0.9
        toxiproxy.undo("f1", RESETS, [PROXY])


SLOW_CLOSE = SlowClose("f1", "slow_close", 0, 1, 10_000, ()).effect  # 1 s of wall time


@pytest.mark.parametrize("is_old", [True, False])
def test_a_proxy_that_is_slow_to_close_is_late_with_ends_alone_whoever_hangs_up(
    is_old: bool, toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    if not is_old:
        toxiproxy.apply("f1", SLOW_CLOSE, [PROXY])
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"
        if is_old:
            toxiproxy.apply("f1", SLOW_CLOSE, [PROXY])
        assert _at_once(each.in_all for each in _exchanges(session, server, "during"))
        began = time.monotonic()
        session.shutdown(socket.SHUT_WR)
        assert server.got(ENDED, LATER)  # and hangs up as well
        arrived = time.monotonic()
        assert arrived - began >= 0.98
        assert _hear(session, LATER) == "closed"
        assert time.monotonic() - arrived >= 0.98
        toxiproxy.undo("f1", SLOW_CLOSE, [PROXY])


def test_an_end_that_waits_at_the_heal_comes_at_once(
    toxiproxy: Toxiproxy, server: RecordingServer, ports: dict[str, int]
) -> None:
    slow = SlowClose("f1", "slow_close", 0, 1, 200_000, ()).effect  # 20 s of wall time
    with closing(_connect(ports[PROXY])) as session:
        assert _hear(session, LATER) == "220 recording"
        toxiproxy.apply("f1", slow, [PROXY])
        session.shutdown(socket.SHUT_WR)
        assert not server.got(ENDED, SOON)
        began = time.monotonic()
        toxiproxy.undo("f1", slow, [PROXY])
        assert server.got(ENDED, LATER)
        assert _hear(session, LATER) == "closed"
        assert time.monotonic() - began <= LATER


@pytest.mark.parametrize(
    "effect",
    [by_toxic("latency", latency=20_000, jitter=0), by_toxic("bandwidth", rate=10)],
    ids=["slow", "throttle"],
)
def test_a_restored_proxy_is_as_new(
    effect: Effect, toxiproxy: Toxiproxy, ports: dict[str, int]
) -> None:
    before = toxiproxy.read_back([PROXY])
    toxiproxy.apply("f1", effect, [PROXY])
    toxiproxy.undo("f1", effect, [PROXY])
    assert toxiproxy.read_back([PROXY]) == before
    with closing(_connect(ports[PROXY])) as session:
        began = time.monotonic()
        assert _hear(session, LATER) == "220 recording"
        assert time.monotonic() - began < 1


def test_cutting_and_healing_twice_is_no_mistake(
    toxiproxy: Toxiproxy, ports: dict[str, int]
) -> None:
    for act in (toxiproxy.apply, toxiproxy.apply, toxiproxy.undo, toxiproxy.undo):
        act("f1", CUTS["blackhole"], [PROXY])
    assert toxiproxy.read_back([PROXY])[PROXY] == {"enabled": True, "toxics": []}


def test_a_proxy_that_is_not_there_is_a_ground_error(toxiproxy: Toxiproxy) -> None:
    with pytest.raises(GroundError, match="404"):
        toxiproxy.apply("f1", CUTS["stall"], ["nobody--nothing--smtp"])


def _measure(effect: Effect, toxiproxy: Toxiproxy, server: RecordingServer, port: int) -> Measured:
    with closing(_connect(port)) as old:
        assert _hear(old, LATER) == "220 recording"
        toxiproxy.apply("f1", effect, [PROXY])
        _tell(old, "during")
        old_during = _hear(old, SOON)
        at_once = server.got("during", SOON)
        new, new_during = _dial(port)
        toxiproxy.undo("f1", effect, [PROXY])
        old_at_heal = _after(old, old_during)
        new_at_heal = _after(new, new_during)
        new.close()
        sent = _whereabouts(at_once, server.got("during", SOON), old_during)
    return Measured(old_during, new_during, old_at_heal, new_at_heal, sent)


def _dial(port: int) -> tuple[socket.socket, str]:
    """A connection made during the cut, and what it sees first; a reset may come early."""
    try:
        session = _connect(port)
    except ConnectionRefusedError:
        return socket.socket(), "refused"
    except ConnectionResetError:
        return socket.socket(), "reset"
    heard = _hear(session, SOON)
    return session, "banner" if heard.startswith("220") else heard


def _after(session: socket.socket, during: str) -> str:
    """What becomes of a session at the heal."""
    if during in ("refused", "closed", "reset"):
        return "dead"
    if during == "banner":
        _tell(session, "after")
        heard = _hear(session, LATER)
        return "usable" if heard == "250 after" else heard
    return _hear(session, LATER)


def _whereabouts(at_once: bool, in_the_end: bool, old_during: str) -> str:
    if at_once:
        return "delivered"
    if in_the_end:
        return "after the heal"
    return "lost" if old_during == "closed" else "discarded"


def _connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=LATER)


def _tell(session: socket.socket, line: str) -> None:
    with contextlib.suppress(OSError):  # what the session then sees is what counts
        session.sendall(f"{line}\r\n".encode())


def _hear(session: socket.socket, within_seconds: float) -> str:
    session.settimeout(within_seconds)
    try:
        heard = session.recv(512).decode().strip()
    except TimeoutError:
        return "silent"
    except OSError:
        return "reset"
    return heard or "closed"


def _hear_line(session: socket.socket, within_seconds: float) -> str:
    """All of it, however many pieces it comes in. (MSG_WAITALL waits for nothing on a socket that
    has a timeout.)
    """
    session.settimeout(within_seconds)
    with session.makefile("rb") as reader:
        return reader.readline().decode().rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds until a line was with the server, and until its answer was back."""

    there: float
    in_all: float


def _exchanges(session: socket.socket, server: RecordingServer, line: str) -> Iterator[Took]:
    """One after another, of lines that are told apart."""
    for number in range(TRIES):
        numbered, began = f"{line}{number}", time.monotonic()
        _tell(session, numbered)
        assert server.got(numbered, LATER)
        there = time.monotonic() - began
        assert _hear_line(session, LATER) == f"250 {numbered}"
        yield Took(there, time.monotonic() - began)


def _greeting(port: int) -> float:
    began = time.monotonic()
    with closing(_connect(port)) as session:
        assert _hear(session, LATER) == "220 recording"
    return time.monotonic() - began


def _at_once(seconds: Iterable[float]) -> bool:
    """A toxic here makes everything late by 0.9 s or more; where the machine is busy, one of
    several is quick.
    """
    return any(each <= AT_ONCE for each in seconds)


def _requests_alone_are_late(
    session: socket.socket, server: RecordingServer, line: str, by_seconds: float
) -> bool:
    for took in _exchanges(session, server, line):
        assert took.there >= by_seconds
        if took.in_all - took.there <= AT_ONCE:
            return True
    return False


def _answers_alone_are_late(
    session: socket.socket, server: RecordingServer, line: str, by_seconds: float
) -> bool:
    for took in _exchanges(session, server, line):
        assert took.in_all >= by_seconds
        if took.there <= AT_ONCE:
            return True
    return False
