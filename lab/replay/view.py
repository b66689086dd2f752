"""What a replay of a node found, in lines for a person: counts where it agrees, else where it
parts, what was expected and what was found. Prints nothing itself.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

from lab.replay.node import Divergence, Replay
from lab.replay.node_record import Values
from nodes.core.model.lab_time import iso
from nodes.shell.logs.inputs import to_text

NOTHING = "nothing"


def told(folder: Path, server: str, replay: Replay) -> Iterator[str]:
    """Lines for stdout; a hint is the last where replay and node part."""
    yield f"{server}: {_counts(replay)}"
    yield from (f"the same crash in {crash}" for crash in replay.crashes)
    parted = replay.divergence
    if parted is None:
        yield "the replay logs what the node logged"
        return
    yield from _where(parted)
    yield from _what(parted)
    words = ["shadowlab", "replay", str(folder), "--node", server]
    here = shlex.join([*words, "--until", str(parted.heard.line), "--debug"])
    yield f"hint: {here} stops before that input"


def waited(server: str, replay: Replay) -> Iterator[str]:
    """Lines for stdout: what the node waited for after the last input that it was given."""
    last = replay.last
    assert last is not None
    yield f"{server} after inputs.jsonl:{last.line}, {iso(last.now_ms)}:"
    yield from (f"  {wait}" for wait in replay.waits)
    if not replay.waits:
        yield f"  waits for {NOTHING}"


def _counts(replay: Replay) -> str:
    told = (("life", "lives", replay.lives), ("input", "inputs", replay.inputs))
    counted = [f"{number} {one if number == 1 else many}" for one, many, number in told]
    return ", ".join([*counted, f"{replay.rows} rows replayed"])


def _where(parted: Divergence) -> Iterator[str]:
    heard = parted.heard
    place = f"life {parted.life}, inputs.jsonl:{heard.line}, {iso(heard.now_ms)}"
    yield f"replay and node part in {place}: {parted.reason}".removesuffix(": ")
    yield f"  input:  {to_text(heard.happened)}"


def _what(parted: Divergence) -> Iterator[str]:
    if parted.reason:
        return
    expected = parted.expected
    found = parted.found.values if parted.found is not None else None
    place = f" ({parted.found.place})" if parted.found is not None else ""
    torn = parted.found is not None and found is None
    if expected is not None and found is not None:
        yield f"  differs: {', '.join(_differing(expected, found))}"
    yield f"  replay: {_row(expected)}"
    yield f"  node:   {'a line that cannot be read' if torn else _row(found)}{place}"


def _differing(expected: Values, found: Values) -> list[str]:
    names = [*expected, *(name for name in found if name not in expected)]
    return [name for name in names if expected.get(name) != found.get(name)]


def _row(values: Values | None) -> str:
    if values is None:
        return NOTHING
    return ", ".join(f"{name}={value}" for name, value in values.items() if value != "")
