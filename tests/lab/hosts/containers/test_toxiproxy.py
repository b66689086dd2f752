"""The client of Toxiproxy's API against an API that misbehaves: bounded, repeated, read back."""

import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lab.hosts.containers.toxiproxy import IN_WALL_TIME, Toxiproxy
from lab.plan.effects import Attributes, Effect, by_toxic
from lab.plan.link_faults import CUTS, Drip, ResetAfter, Slice, SlowClose
from lab.program.errors import GroundError

PROXY = "a--b--smtp"
SPEED = 60.0


class FakeApi(ThreadingHTTPServer):
    """Toxiproxy's API in memory. `hangs` and `errors` are how many calls still misbehave,
    `heal_seconds` how long a toxic takes to go.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.calls: list[tuple[str, str, Any]] = []
        self.enabled, self.toxics = True, list[dict[str, Any]]()
        self.hangs = self.errors = 0
        self.heal_seconds = 0.0
        self.connections = list[socket.socket]()
        self.deaf = False
        self.released = threading.Event()
        self.at_first_toxic: Callable[[], None] = lambda: None

    def act(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        self.calls.append((method, path, body))
        if path == "/proxies":
            return 200, {PROXY: self._proxy()}
        if self.deaf:
            return 200, {}
        if method == "POST" and path == f"/proxies/{PROXY}":
            self.enabled = body["enabled"]
        elif method == "POST" and path == f"/proxies/{PROXY}/toxics":
            if body["name"] in [toxic["name"] for toxic in self.toxics]:
                return 409, {"error": "toxic already exists"}
            if not self.toxics:
                self.at_first_toxic()
            self.toxics.append(body)
        elif method == "DELETE":
            self.released.wait(self.heal_seconds)
            name = path.rpartition("/")[2]
            if name not in [toxic["name"] for toxic in self.toxics]:
                return 404, {"error": "toxic not found"}
            self.toxics = [toxic for toxic in self.toxics if toxic["name"] != name]
        return 200, {}

    def give_up_connections(self) -> None:
        for connection in self.connections:
            connection.shutdown(socket.SHUT_RDWR)

    def _proxy(self) -> dict[str, Any]:
        listen = {"name": PROXY, "listen": "0.0.0.0:21000", "upstream": "10.0.0.3:2525"}
        return {**listen, "enabled": self.enabled, "toxics": self.toxics}


class _Answer(BaseHTTPRequestHandler):
    server: FakeApi
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server.connections.append(self.request)

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        if self.server.hangs and self.path != "/proxies":
            self.server.hangs -= 1
            self.server.released.wait(10)
            self.close_connection = True
            return
        if self.server.errors and self.path != "/proxies":
            self.server.errors -= 1
            code, answer = 500, "not today"
        else:
            code, answer = self.server.act(self.command, self.path, body)
        content = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _answer

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.released.set()
        server.shutdown()
        thread.join(5)


@pytest.fixture
def toxiproxy(api: FakeApi) -> Toxiproxy:
    return Toxiproxy(f"http://127.0.0.1:{api.server_address[1]}", SPEED, call_seconds=0.2)


def slices(pause_ms: int) -> Effect:
    return Slice("f1", "slice", 0, 1, 256, pause_ms, ()).effect


def resets(after_ms: int) -> Effect:
    return ResetAfter("f1", "reset_after", 0, 1, after_ms, ()).effect


def told(api: FakeApi) -> set[tuple[str, str, str]]:
    """(type, stream, attributes) of the toxics that are there."""
    return {(each["type"], each["stream"], str(each["attributes"])) for each in api.toxics}


def test_every_attribute_of_a_toxic_has_its_unit_in_the_walls_time() -> None:
    assert IN_WALL_TIME.keys() == Attributes.__annotations__.keys()


@pytest.mark.parametrize("kind", CUTS)
def test_a_cut_is_an_explicit_list_of_calls(kind: Any, api: FakeApi, toxiproxy: Toxiproxy) -> None:
    toxiproxy.apply("f1", CUTS[kind], [PROXY])
    made = {(toxic["type"], toxic["stream"]) for toxic in api.toxics}
    assert api.enabled == CUTS[kind].enabled
    assert made == {(toxic.type, toxic.stream) for toxic in CUTS[kind].toxics}


@pytest.mark.parametrize("kind", CUTS)
def test_no_toxic_is_ever_made_with_less_than_full_toxicity(
    kind: Any, api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    toxiproxy.apply("f1", CUTS[kind], [PROXY])
    assert all(toxic["toxicity"] == 1.0 for toxic in api.toxics)


@pytest.mark.parametrize("kind", CUTS)
def test_a_heal_takes_all_of_it_back(kind: Any, api: FakeApi, toxiproxy: Toxiproxy) -> None:
    toxiproxy.apply("f1", CUTS[kind], [PROXY])
    toxiproxy.undo("f1", CUTS[kind], [PROXY])
    assert (api.enabled, api.toxics) == (True, [])


def test_connections_are_kept_from_one_fault_to_the_next(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    for fault in range(5):
        toxiproxy.apply(f"f{fault}", CUTS["blackhole"], [PROXY])
        toxiproxy.undo(f"f{fault}", CUTS["blackhole"], [PROXY])
    assert len(api.calls) == 30
    assert len(api.connections) < 5


def test_a_connection_that_the_other_side_gave_up_costs_nothing(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    toxiproxy.apply("f1", CUTS["blackhole"], [PROXY])
    api.give_up_connections()
    toxiproxy.undo("f1", CUTS["blackhole"], [PROXY])
    assert api.toxics == []


def test_slow_is_the_same_latency_in_both_directions_in_wall_time(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    toxiproxy.apply("f1", by_toxic("latency", latency=600, jitter=120), [PROXY])
    assert told(api) == {
        ("latency", "upstream", "{'latency': 10, 'jitter': 2}"),
        ("latency", "downstream", "{'latency': 10, 'jitter': 2}"),
    }


def test_a_latency_never_becomes_none_however_fast_lab_time_runs(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    toxiproxy.apply("f1", by_toxic("latency", latency=1, jitter=0), [PROXY])
    assert {attributes for _, _, attributes in told(api)} == {"{'latency': 1, 'jitter': 0}"}


def test_throttle_is_a_rate_of_lab_time_and_never_nothing(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    toxiproxy.apply("f1", by_toxic("bandwidth", rate=10_000), [PROXY])
    assert told(api) == {
        ("bandwidth", "upstream", "{'rate': 600}"),
        ("bandwidth", "downstream", "{'rate': 600}"),
    }
    toxiproxy.undo("f1", by_toxic("bandwidth", rate=10_000), [PROXY])
    toxiproxy.apply("f1", by_toxic("bandwidth", rate=1), [PROXY])
    assert {attributes for _, _, attributes in told(api)} == {"{'rate': 1}"}


def test_slices_are_of_so_many_bytes_and_pauses_in_microseconds_of_the_wall(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    toxiproxy.apply("f1", slices(pause_ms=30), [PROXY])
    said = {"average_size": 256, "size_variation": 0, "delay": 500}
    assert told(api) == {("slicer", stream, str(said)) for stream in ("upstream", "downstream")}


def test_ends_are_late_by_milliseconds_of_the_wall_which_a_pause_of_a_slicer_is_not(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    for delay_ms, wall_ms in ((30_000, 500), (1, 1)):
        effect = SlowClose("f1", "slow_close", 0, 1, delay_ms, ()).effect
        toxiproxy.apply("f1", effect, [PROXY])
        assert told(api) == {
            ("slow_close", stream, str({"delay": wall_ms})) for stream in ("upstream", "downstream")
        }
        toxiproxy.undo("f1", effect, [PROXY])


def test_resets_come_after_milliseconds_of_the_wall_and_never_at_once(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    for after_ms, wall_ms in ((30_000, 500), (1, 1)):
        toxiproxy.apply("f1", resets(after_ms), [PROXY])
        assert told(api) == {("reset_peer", "downstream", str({"timeout": wall_ms}))}
        toxiproxy.undo("f1", resets(after_ms), [PROXY])
    toxiproxy.apply("f1", CUTS["reset"], [PROXY])
    assert told(api) == {("reset_peer", "downstream", str({"timeout": 0}))}


def test_a_heal_that_waits_for_sessions_to_be_reset_is_waited_for(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    toxiproxy.apply("f1", resets(600_000), [PROXY])  # 10 s of wall time
    api.heal_seconds = 0.7  # more than all tries of another call take
    toxiproxy.undo("f1", resets(600_000), [PROXY])
    assert api.toxics == []
    assert [method for method, _, _ in api.calls].count("DELETE") == 1


def test_two_toxics_of_one_direction_are_both_there_and_both_taken_back(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    effect = Drip("f1", "drip", 0, 1, 600, 10_000, ()).effect
    for _ in range(2):
        toxiproxy.apply("f1", effect, [PROXY])
        assert told(api) == {
            (kind, stream, said)
            for stream in ("upstream", "downstream")
            for kind, said in (
                ("latency", "{'latency': 10, 'jitter': 0}"),
                ("bandwidth", "{'rate': 600}"),
            )
        }
    toxiproxy.undo("f1", effect, [PROXY])
    assert api.toxics == []


def test_restoring_takes_back_what_a_fault_did_and_nothing_else(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    toxiproxy.apply("f1", by_toxic("latency", latency=600, jitter=0), [PROXY])
    toxiproxy.apply("f2", by_toxic("bandwidth", rate=600), [PROXY])
    for _ in range(2):
        toxiproxy.undo("f1", by_toxic("latency", latency=600, jitter=0), [PROXY])
    assert [toxic["name"] for toxic in api.toxics] == ["f2-upstream", "f2-downstream"]


def test_a_heal_leaves_the_toxics_of_another_fault(api: FakeApi, toxiproxy: Toxiproxy) -> None:
    toxiproxy.apply("f1", CUTS["ack-lost"], [PROXY])
    toxiproxy.apply("f2", CUTS["stall"], [PROXY])
    toxiproxy.undo("f2", CUTS["stall"], [PROXY])
    assert [toxic["name"] for toxic in api.toxics] == ["f1-downstream"]


def test_a_call_that_hangs_is_given_up_and_tried_again(api: FakeApi, toxiproxy: Toxiproxy) -> None:
    api.hangs = 1
    began = time.monotonic()
    toxiproxy.apply("f1", CUTS["refuse"], [PROXY])
    assert api.enabled is False
    assert time.monotonic() - began < 2


def test_a_fault_that_a_signal_interrupts_does_nothing_after_it_was_left(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    """What comes next is its heal, which must find all of it."""

    def interrupt(*_: object) -> None:
        raise InterruptedError

    def at_first_toxic() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        time.sleep(0.1)

    api.at_first_toxic = at_first_toxic
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(InterruptedError):
            toxiproxy.apply("f1", CUTS["blackhole"], [PROXY])
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(api.toxics) == 2


def test_a_call_that_hangs_for_ever_is_a_ground_error(api: FakeApi, toxiproxy: Toxiproxy) -> None:
    api.hangs = 99
    with pytest.raises(GroundError, match="timed out"):
        toxiproxy.apply("f1", CUTS["refuse"], [PROXY])


def test_an_error_of_the_server_is_tried_again(api: FakeApi, toxiproxy: Toxiproxy) -> None:
    api.errors = 2
    toxiproxy.apply("f1", CUTS["ack-lost"], [PROXY])
    assert len(api.toxics) == 1


def test_a_change_that_was_not_made_is_noticed_by_reading_back(
    api: FakeApi, toxiproxy: Toxiproxy
) -> None:
    api.deaf = True
    with pytest.raises(GroundError, match="did not do what it was told"):
        toxiproxy.apply("f1", CUTS["blackhole"], [PROXY])


def test_an_api_that_is_not_there_is_a_ground_error() -> None:
    with pytest.raises(GroundError, match="refused"):
        Toxiproxy("http://127.0.0.1:1").proxies()
