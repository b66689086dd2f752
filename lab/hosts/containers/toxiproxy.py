"""Faults of links as calls of the real Toxiproxy's HTTP API: bounded, repeated, and read back.

What a fault does to a link is an explicit list of toxics, or a disabled proxy; nothing is left to
chance and no toxic is ever left idle (`reset_peer` acts even with toxicity 0). A call may hang on
the other side (removing a toxic does at times), so each is bounded and tried again, an answer that
says "there already" or "gone already" is success, and what counts is what the proxies say of
themselves afterwards. Connections to the API and the threads that call it are kept between calls,
since a fault is as late as the last of its proxies.

`toxiproxy-python` is not used here: it has no time-outs, and keeps the server's address on a
class, one for the whole process. Creating the proxies is not done here, the ground configures them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Condition
from typing import cast
from urllib.parse import quote

import urllib3

from lab.plan.effects import Effect
from lab.program.errors import GroundError

CALL_SECONDS = 3.0
TRIES = 3
AT_ONCE = 8
CONNECTIONS = 2 * AT_ONCE  # evidence is read while a fault is applied
CONFLICT, NOT_FOUND = 409, 404


@dataclass(frozen=True, slots=True)
class Toxic:
    """A toxic on one direction of a proxy: `upstream` is what the client says."""

    name: str
    type: str
    stream: str
    attributes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ProxyState:
    """What Toxiproxy says of a proxy."""

    name: str
    listen: str
    upstream: str
    enabled: bool
    toxics: tuple[Toxic, ...]

    def row(self) -> dict[str, object]:
        """For the journal."""
        toxics = [
            {"name": toxic.name, "type": toxic.type, "stream": toxic.stream, **toxic.attributes}
            for toxic in self.toxics
        ]
        return {"enabled": self.enabled, "toxics": toxics}


BYTES_PER_MS = 1000  # in a second, at a rate of 1
US_PER_MS = 1000
# every attribute, lab time to the wall's: a latency there is stays one, however fast lab time runs;
# Toxiproxy counts whole bytes per millisecond, and with none at all a link would be cut
IN_WALL_TIME: Mapping[str, Callable[[int, float], int]] = {
    "latency": lambda ms, speed: max(1, round(ms / speed)),
    "jitter": lambda ms, speed: round(ms / speed),
    "rate": lambda rate, speed: max(1, round(rate * speed / BYTES_PER_MS)) if rate else 0,
    "bytes": lambda count, speed: count,
    "timeout": lambda ms, speed: max(1, round(ms / speed)) if ms else 0,
    "average_size": lambda count, speed: count,
    "size_variation": lambda count, speed: count,
    "delay": lambda ms, speed: max(1, round(ms / speed)),
}
# what one toxic has in another unit than all others of that name: a slicer's is in microseconds
OF_ONE_TOXIC: Mapping[tuple[str, str], Callable[[int, float], int]] = {
    ("slicer", "delay"): lambda ms, speed: max(1, round(ms * US_PER_MS / speed)),
}


def toxics_of(fault_id: str, effect: Effect, speed: float) -> tuple[Toxic, ...]:
    """What makes a proxy act that, as Toxiproxy has it; what one is called does not depend on what
    it does.
    """
    return tuple(
        Toxic(
            name, each.type, each.stream,
            {
                attribute: _in_wall_time(each.type, attribute, value, speed)
                for attribute, value in cast(Mapping[str, int], each.attributes).items()
            },
        )
        for name, each in zip(_names(fault_id, effect), effect.toxics, strict=True)
    )  # fmt: skip


def _in_wall_time(kind: str, attribute: str, value: int, speed: float) -> int:
    return OF_ONE_TOXIC.get((kind, attribute), IN_WALL_TIME[attribute])(value, speed)


def _names(fault_id: str, effect: Effect) -> Iterator[str]:
    """`f1-upstream`, and of a second one of that direction `f1-upstream-2`."""
    counts = Counter[str]()
    for each in effect.toxics:
        counts[each.stream] += 1
        nth = counts[each.stream]
        yield f"{fault_id}-{each.stream}" + (f"-{nth}" if nth > 1 else "")


class Toxiproxy:
    """The API at `url` ("http://127.0.0.1:8474"). Every method raises GroundError.

    `speed` is lab seconds per second of wall clock.
    """

    def __init__(self, url: str, speed: float = 1.0, call_seconds: float = CALL_SECONDS) -> None:
        self.url, self._speed, self._call_seconds = url, speed, call_seconds
        self._api = urllib3.connection_from_url(
            url, maxsize=CONNECTIONS, block=True, timeout=call_seconds, retries=False
        )
        self._callers = ThreadPoolExecutor(AT_ONCE, "toxiproxy")

    def version(self) -> str:
        return str(json.loads(self._call("GET", "/version"))["version"])

    def proxies(self) -> dict[str, ProxyState]:
        """Every proxy by its name."""
        found = json.loads(self._call("GET", "/proxies"))
        return {name: _state(row) for name, row in found.items()}

    def apply(self, fault_id: str, effect: Effect, proxies: Sequence[str]) -> None:
        """To all of these proxies at once; returns when they say that it is applied."""
        wanted = toxics_of(fault_id, effect, self._speed)
        self._all_at_once(lambda proxy: self._apply(proxy, effect, wanted), proxies)
        self._compare(
            "the fault",
            proxies,
            lambda state: (
                state.enabled == effect.enabled and set_of(wanted) <= set_of(state.toxics)
            ),
        )

    def undo(self, fault_id: str, effect: Effect, proxies: Sequence[str]) -> None:
        """Whole or half applied; returns when the proxies say that nothing of it is left."""
        toxics = toxics_of(fault_id, effect, self._speed)
        names = [toxic.name for toxic in toxics]
        self._all_at_once(lambda proxy: self._undo(proxy, effect, toxics), proxies)
        self._compare(
            "the heal",
            proxies,
            lambda state: (
                state.enabled and not {toxic.name for toxic in state.toxics}.intersection(names)
            ),
        )

    def read_back(self, proxies: Sequence[str]) -> Mapping[str, Mapping[str, object]]:
        """What these proxies say of themselves, as rows for the journal."""
        found = self.proxies()
        return {name: found[name].row() if name in found else {"missing": True} for name in proxies}

    def _all_at_once(self, act: Callable[[str], None], proxies: Sequence[str]) -> None:
        """Act on every proxy, several at a time; the first error is raised when all have ended."""
        acts = _Acts(act)
        try:
            calls = [self._callers.submit(acts.run, proxy) for proxy in proxies]
            wait(calls)
        except BaseException:
            acts.abandon()
            raise
        for call in calls:
            call.result()

    def _apply(self, proxy: str, effect: Effect, toxics: Sequence[Toxic]) -> None:
        if not effect.enabled:
            self._call("POST", f"/proxies/{quote(proxy)}", {"enabled": False})
        for toxic in toxics:
            self._call("POST", f"/proxies/{quote(proxy)}/toxics", _body(toxic), settled=CONFLICT)

    def _undo(self, proxy: str, effect: Effect, toxics: Sequence[Toxic]) -> None:
        """A `reset_peer` is gone when it has reset those that wait for it."""
        for toxic in toxics:
            path = f"/proxies/{quote(proxy)}/toxics/{quote(toxic.name)}"
            waits_seconds = toxic.attributes.get("timeout", 0) / 1000
            self._call("DELETE", path, settled=NOT_FOUND, waits_seconds=waits_seconds)
        if not effect.enabled:
            self._call("POST", f"/proxies/{quote(proxy)}", {"enabled": True})

    def _compare(
        self, what: str, proxies: Sequence[str], holds: Callable[[ProxyState], bool]
    ) -> None:
        found = self.proxies()
        wrong = [name for name in proxies if name not in found or not holds(found[name])]
        if wrong:
            state = found[wrong[0]].row() if wrong[0] in found else "missing"
            raise GroundError(
                f"Toxiproxy did not do what it was told: {what} of {len(wrong)} proxies, "
                f"{wrong[0]} is {state}"
            )

    def _call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        settled: int | None = None,
        waits_seconds: float = 0.0,
    ) -> bytes:
        """The answer's body; `settled` is an error code that means it was done before, and
        `waits_seconds` how much longer than others it may take.
        """
        seconds = self._call_seconds + waits_seconds
        said = ""
        for _ in range(TRIES):
            try:
                answer = self._api.request(method, path, json=body, timeout=seconds)
            except urllib3.exceptions.HTTPError as error:
                said = str(error) or type(error).__name__
                continue
            code, content = answer.status, answer.data
            if code < 400 or code == settled:
                return content
            said = f"{code} {content.decode('utf-8', 'replace').strip()}"
            if code < 500:
                break
        raise GroundError(f"Toxiproxy's API, {method} {path}: {said}")


def set_of(toxics: Sequence[Toxic]) -> set[tuple[str, str, str, tuple[tuple[str, int], ...]]]:
    """Toxics as values that can be compared whatever their order."""
    return {
        (toxic.name, toxic.type, toxic.stream, tuple(sorted(toxic.attributes.items())))
        for toxic in toxics
    }


class _Acts:
    """The acts of one fault or heal. A signal may raise anywhere in the main thread, also within
    `submit`; what comes next is a heal, which none of these acts may follow.
    """

    def __init__(self, act: Callable[[str], None]) -> None:
        self._act = act
        self._under_way = 0
        self._is_abandoned = False
        self._changed = Condition()

    def run(self, proxy: str) -> None:
        with self._changed:
            if self._is_abandoned:
                return
            self._under_way += 1
        try:
            self._act(proxy)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify()

    def abandon(self) -> None:
        """Begin no further act, and wait for those under way; each is bounded."""
        with self._changed:
            self._is_abandoned = True
            self._changed.wait_for(lambda: not self._under_way)


def _state(row: Mapping[str, object]) -> ProxyState:
    toxics = row["toxics"]
    if not isinstance(toxics, list):
        raise GroundError(f"Toxiproxy's API answers strangely: toxics {toxics!r}")
    return ProxyState(
        str(row["name"]),
        str(row["listen"]),
        str(row["upstream"]),
        row["enabled"] is True,
        tuple(
            Toxic(each["name"], each["type"], each["stream"], dict(each["attributes"]))
            for each in toxics
        ),
    )


def _body(toxic: Toxic) -> dict[str, object]:
    return {
        "name": toxic.name,
        "type": toxic.type,
        "stream": toxic.stream,
        "toxicity": 1.0,
        "attributes": dict(toxic.attributes),
    }
