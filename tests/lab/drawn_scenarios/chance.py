"""One source of chance, asked in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

Section: TypeAlias = dict[str, Any]
Choices: TypeAlias = Mapping[str, Sequence[Any]]


class Chance:
    """What parts of a scenario are drawn from."""

    def __init__(self, seed: str) -> None:
        self._of = Random(seed)

    def one(self, *choices: Any) -> Any:
        return self._of.choice(choices)

    def happens(self, share: float) -> bool:
        """True in so many cases of one."""
        return self._of.random() < share

    def between(self, low: int, high: int) -> int:
        return self._of.randint(low, high)

    def sample(self, names: Sequence[str], count: int) -> list[str]:
        """So many of them, or all."""
        return self._of.sample(names, min(count, len(names)))

    def several(self, names: Sequence[str]) -> list[str]:
        """At least one of them."""
        return self._of.sample(names, self._of.randint(1, len(names)))

    def some(self, choices: Choices, share: float) -> Section:
        """So many of the parameters, each with one of its values."""
        return {name: self.one(*of) for name, of in choices.items() if self.happens(share)}


def without_empty(section: Section) -> Section:
    return {key: value for key, value in section.items() if value}
