"""One defect: what is wrong, which promise that breaks, and what must notice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

Context: TypeAlias = AbstractContextManager[object]
ONE_OF_RARE = 4
"""Of so many seeds a rare defect shows under one at least."""


@dataclass(frozen=True, slots=True)
class Defect:
    """While `broken()` lasts, every node of this process has the defect.

    In `scenario` all of `claims` must be violated: under every seed, or where it `is_rare` under
    one of four (then four times as many are simulated, from `first_seed` on). `requirement` is
    the id of the promise that is broken. `not_caught` says why no claim notices it yet; such a
    defect is named in every proof, and the proof fails when it is caught after all.
    `only_simulated` says why a process of its own does not show it.
    """

    name: str
    sentence: str
    requirement: str
    scenario: str
    claims: tuple[str, ...]
    broken: Callable[[], Context]
    is_rare: bool = False
    first_seed: int = 0
    not_caught: str = ""
    only_simulated: str = ""
