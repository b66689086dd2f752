"""JSON of a record as somebody else may have written it: a value, a name or a key that is wrong.

The same number gives the same text.
"""

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias

Place: TypeAlias = tuple[Any, Any]
"""A list or an object, and an index or a key of it."""

ELSEWHERE = ("../../x", "/tmp/x", "..", ".", "", "a/b", "x\x00y", "x\ny", "\x1b[31m", "é" * 300)
WRONG: tuple[Any, ...] = (
    *ELSEWHERE, None, True, -1, 0, 1, 10**9, 2**63, 10**400, 0.5, [], {}, [[]], {"a": {}}, "none",
)  # fmt: skip


def mutated(text: str, number: int) -> str:
    """A JSON text with one to three things wrong, of which none shows in its grammar."""
    chance, value = random.Random(number), json.loads(text)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(value))
        if places:
            chance.choice(WAYS)(chance, chance.choice(places), places)
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def mutated_line(text: str, number: int) -> str:
    """Lines of JSON of which one has something wrong."""
    lines = text.splitlines()
    at = random.Random(number).randrange(len(lines))
    lines[at] = " ".join(mutated(lines[at], number).split("\n"))
    return "".join(f"{line}\n" for line in lines)


def _places(value: Any) -> Iterator[Place]:
    if isinstance(value, dict | list):
        for key in range(len(value)) if isinstance(value, list) else list(value):
            yield value, key
            yield from _places(value[key])


def _wrong(chance: random.Random, place: Place, _: list[Place]) -> None:
    holder, key = place
    holder[key] = deepcopy(chance.choice(WRONG))


def _elsewhere(chance: random.Random, _: Place, places: list[Place]) -> None:
    """A text, of which there are few beside numbers."""
    texts = [(holder, key) for holder, key in places if isinstance(holder[key], str)]
    if texts:
        holder, key = chance.choice(texts)
        holder[key] = chance.choice(ELSEWHERE)


def _gone(_: random.Random, place: Place, __: list[Place]) -> None:
    holder, key = place
    if key in (holder if isinstance(holder, dict) else range(len(holder))):
        del holder[key]


def _twice(_: random.Random, place: Place, __: list[Place]) -> None:
    holder, key = place
    if isinstance(holder, list):
        holder.insert(key, deepcopy(holder[key]))
    else:
        holder[f"{key}2"] = deepcopy(holder[key])


def _of_another(chance: random.Random, place: Place, places: list[Place]) -> None:
    other, name = chance.choice(places)
    holder, key = place
    holder[key] = deepcopy(other[name])


Way: TypeAlias = Callable[[random.Random, Place, list[Place]], None]
WAYS: tuple[Way, ...] = (_wrong, _elsewhere, _gone, _twice, _of_another)
