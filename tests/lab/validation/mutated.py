"""Scenario files gone wrong: the library's own, changed at random in their structure or bytes.

The same number and library give the same file everywhere, so a file that did harm can be made
again: `mutated(4711)`. Most are refused; mild changes are among them, so that some are accepted.
"""

import copy
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

LIBRARY = Path(__file__).resolve().parents[3] / "scenarios"
TOPOLOGIES = sorted(LIBRARY.glob("topologies/*.yaml"))
SCENARIOS = sorted(path for path in LIBRARY.rglob("*.yaml") if path not in TOPOLOGIES)
NAME = "mutated"

MILD = ["0s", "1s", "30s", "1m", "7m", "20m", "1h", "2h", "1/m", "3/m", "1/h", "1..2", "2", 1, 2, 3]
MILD += [60, "par-mbx1", "lyo-mbx2", "site paris", "site lyon", "workload", "DB1", "DB2", "ext1"]
MILD += ["refuse", "blackhole", "stall", "reset", "ack-lost", "inbound", "outbound", "500ms", True]
MILD += ["same-queue-database", "new-queue-database", "5m..2h", "1m..20m", "none", ["par-mbx2"]]
ODD = [10**30, -1, 0, 1e308, float("nan"), float("-inf"), "", " ", "\x1b[31m", "\u202e", "10M"]
ODD += ["١0m", "1h1", "99999999d", "00:00:00.001", "365d", "..", "1..0", "0..999999", "999999/s"]
ODD += ["0/s", "1d", "30d", "10MiB", "0B", None, False, [], {}, "2026-01-01", "~", "null", "[["]
ODD += ["x" * 300, "x" * 9000, "../../etc/passwd", "/dev/zero", "site ", " site paris", "é" * 70]
ODD += [["par-mbx1"] * 40, [[]], {"a": {}}, "\ud7ff", "a\nb", "-5m", "0x1F", "1_000", "unlimited"]
TOKENS = ["&a ", "*a", "!!python/object:os.system ", "!!set ", "<<: *a\n", "---\n", "...\n", "\t"]
TOKENS += ["? ", ": ", "- ", "[", "]", "{", "}", "#", "|\n", ">\n", '"', "'", "\\e", "%YAML 9.9\n"]
TOKENS += ["\x00", "\x1b", "\x85", "\u2028", "\ufeff", "\u202e", "!!binary aGk=", "!!float 1", "@"]


def mutated(number: int) -> bytes:
    """The file of that number."""
    draw = random.Random(number)
    data = _scenario(draw)
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3, 6))):
        draw.choice(_STRUCTURE)(draw, data)
    raw = _written(draw, data)
    if draw.random() < 0.35:
        for _ in range(draw.choice((1, 1, 2, 8))):
            raw = draw.choice(_BYTES)(draw, raw)
    return raw


def _read(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


_LOADED = {path: _read(path) for path in (*SCENARIOS, *TOPOLOGIES)}


def _scenario(draw: random.Random) -> dict[str, Any]:
    data: dict[str, Any] = copy.deepcopy(_LOADED[draw.choice(SCENARIOS)])
    data["scenario"] = NAME
    if draw.random() < 0.4:
        data["topology"] = copy.deepcopy(_LOADED[draw.choice(TOPOLOGIES)])
    if draw.random() < 0.7:  # short ones, so that some can be simulated
        for stream in data["workload"]:
            stream["rate"] = "1/m"
        data["settle"] = "10m"
    return data


def _written(draw: random.Random, data: Any) -> bytes:
    if draw.random() < 0.5:
        return json.dumps(data, ensure_ascii=draw.random() < 0.5).encode("utf-8", "replace")
    text = io.StringIO()
    YAML(typ="safe", pure=True).dump(data, text)
    return text.getvalue().encode("utf-8", "replace")


def _places(data: Any, depth: int = 0) -> list[tuple[Any, Any]]:
    """Every (container, key) of the data."""
    keys: list[Any] = []
    if isinstance(data, dict):
        keys = list(data)
    elif isinstance(data, list):
        keys = list(range(len(data)))
    found = [(data, key) for key in keys]
    for key in keys if depth < 12 else []:
        found += _places(data[key], depth + 1)
    return found


def _place(draw: random.Random, data: Any) -> tuple[Any, Any] | None:
    places = _places(data)
    return draw.choice(places) if places else None


def _drop(draw: random.Random, data: Any) -> None:
    if place := _place(draw, data):
        del place[0][place[1]]


def _replace(values: list[Any]) -> Callable[[random.Random, Any], None]:
    def replace(draw: random.Random, data: Any) -> None:
        if place := _place(draw, data):
            place[0][place[1]] = copy.deepcopy(draw.choice(values))

    return replace


def _swap(draw: random.Random, data: Any) -> None:
    one, other = _place(draw, data), _place(draw, data)
    if one and other:
        first, second = copy.deepcopy(one[0][one[1]]), copy.deepcopy(other[0][other[1]])
        one[0][one[1]] = second
        if other[1] in other[0] or isinstance(other[0], list):
            other[0][other[1]] = first


def _rename(draw: random.Random, data: Any) -> None:
    one, other = _place(draw, data), _place(draw, data)
    if one and other and isinstance(one[0], dict):
        one[0][str(other[1])] = one[0].pop(one[1])


def _repeat(draw: random.Random, data: Any) -> None:
    """The same object many times: an alias where YAML is written."""
    lists = [each for each, key in _places(data) if isinstance(each, list)]
    if lists:
        into = draw.choice(lists)
        into.extend([draw.choice(into)] * draw.choice((1, 2, 30, 500)))


def _graft(draw: random.Random, data: Any) -> None:
    """A part of another scenario in the place of the same key of this one, or beside it."""
    other = copy.deepcopy(_LOADED[draw.choice((*SCENARIOS, *TOPOLOGIES))])
    place = _place(draw, other)
    mine = _place(draw, data)
    if place and mine:
        if isinstance(mine[0], dict) and isinstance(place[0], dict):
            mine[0][place[1]] = place[0][place[1]]
        else:
            mine[0][mine[1]] = place[0][place[1]]


_STRUCTURE = (_drop, _replace(MILD), _replace(MILD), _replace(ODD), _swap, _rename, _repeat, _graft)


def _flip(draw: random.Random, raw: bytes) -> bytes:
    at = draw.randrange(len(raw) + 1)
    return raw[:at] + bytes([draw.randrange(256)]) + raw[at + 1 :]


def _cut_short(draw: random.Random, raw: bytes) -> bytes:
    return raw[: draw.randrange(len(raw) + 1)]


def _insert(draw: random.Random, raw: bytes) -> bytes:
    at = draw.randrange(len(raw) + 1)
    return raw[:at] + draw.choice(TOKENS).encode() * draw.choice((1, 1, 3, 3000)) + raw[at:]


def _lines(draw: random.Random, raw: bytes) -> bytes:
    lines = raw.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one:one] = [lines[other]] * draw.choice((1, 1, 400))
    return b"\n".join(lines)


def _digits(draw: random.Random, raw: bytes) -> bytes:
    places = [at for at, byte in enumerate(raw) if chr(byte).isdigit()]
    if not places:
        return raw
    at = draw.choice(places)
    return (
        raw[:at] + str(draw.randrange(10 ** draw.choice((1, 2, 9, 400)))).encode() + raw[at + 1 :]
    )


_BYTES = (_flip, _flip, _cut_short, _insert, _insert, _lines, _digits)
