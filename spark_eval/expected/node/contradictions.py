"""Settings that cannot hold together (SR-13), by what a server shows of its own.

Durations are lab milliseconds. What is not shown is in no contradiction: logs of real servers show
none. `RemoteOnly` with local attempts is one only where somebody wrote those down, which nobody
shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spark_eval.read.csv_rows import integer

Settings = Mapping[str, Mapping[str, str]]

_SESSION = ("ConnectionInactivityTimeout", "ConnectionTimeout")
_PREFERENCES = (
    ("TransportConfig", "ShadowMessagePreferenceSetting"),
    ("TransportService", "ShadowMessagePreference"),
)


def contradictions(shown: Settings) -> Iterator[str]:
    """Each in words, with the names and values that contradict each other."""
    for section, name in _PREFERENCES:
        yield from _of_preference(shown, section, name)
    receive = shown.get("ReceiveConnector", {})
    silence, whole = (receive.get(name) for name in _SESSION)
    if _is_no_more(whole, silence):
        yield f"{_SESSION[0]} {silence} is not below {_SESSION[1]} {whole}"
    yield from _of_delays(shown.get("TransportService", {}))


def _of_preference(shown: Settings, section: str, name: str) -> Iterator[str]:
    remote = integer(shown.get("TransportConfig", {}).get("MaxRetriesForRemoteSiteShadow"))
    preference = shown.get(section, {}).get(name)
    if remote is None:
        return
    if (preference == "LocalOnly" and remote) or (preference == "PreferRemote" and not remote):
        yield f"{name} {preference} contradicts MaxRetriesForRemoteSiteShadow {remote}"


def _of_delays(service: Mapping[str, str]) -> Iterator[str]:
    names = ("TransientFailureRetryCount", "TransientFailureRetryInterval")
    count, interval_ms = (integer(service.get(name)) for name in names)
    delay = service.get("DelayNotificationTimeout")
    if count is None or interval_ms is None:
        return
    ladder_ms = count * interval_ms
    if _is_no_more(delay, str(ladder_ms)):
        yield (
            f"DelayNotificationTimeout {delay} is not above {names[0]} {count} × {names[1]} "
            f"{interval_ms}"
        )


def _is_no_more(value: str | None, than: str | None) -> bool:
    """Whether both are known, and so."""
    first, second = integer(value), integer(than)
    return first is not None and second is not None and first <= second
