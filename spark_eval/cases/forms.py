"""The four forms of a promise: most claims are one of them, with a trigger, a witness, a duration
and a sentence.

Each says whether the promise holds, is violated or is unknown, or None where nothing is asked of
it. What fits holds, whatever was in the way: only what does not fit needs an excuse. `is_excused`:
something surely or perhaps kept it from happening, or from being logged, and the claim does not ask
then. `is_shown`: the log that would say so is whole there; where it is not, what is missing in it
proves nothing. Times are lab milliseconds of one server, or nanoseconds of one monotonic clock;
tolerances are in the bounds that are given. Knows nothing of servers and messages.
"""

from __future__ import annotations

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Status


def response(
    came: int | None, due: int, end: int | None, *, is_excused: bool, is_shown: bool = True
) -> Status | None:
    """A, and then B within a duration, while its server is able and in reach.

    `came`: when B did, None where nothing says so; `due`: by when it had to, after A; `end` of the
    record, None where it is not known. What is due after the end is not asked.
    """
    if came is not None and came <= due:
        return HOLDS
    if end is None or due > end or is_excused:
        return None
    return VIOLATED if is_shown else UNKNOWN


def precedence(
    before: int | None, then: int, *, is_excused: bool = False, is_shown: bool = True
) -> Status | None:
    """No B without A before.

    `before`: when A was, None where nothing says so; `then`: when B was. A hole hides an A of which
    nothing is said, and makes none earlier that is known.
    """
    if before is not None and before <= then:
        return HOLDS
    if is_excused:
        return None
    return UNKNOWN if before is None and not is_shown else VIOLATED


def bound(
    value: float | None,
    lo: float | None,
    hi: float | None,
    *,
    is_excused: bool = False,
    is_coarse: bool = False,
) -> Status | None:
    """A measured value within [lo, hi]; None of either leaves that side open.

    `value`: None where nothing was measured. `is_coarse`: the clock that measured it does not
    resolve what is asked, so nobody can say.
    """
    if value is None:
        return None
    if is_coarse:
        return UNKNOWN
    if (lo is None or lo <= value) and (hi is None or value <= hi):
        return HOLDS
    return None if is_excused else VIOLATED


def agreement(one: object, other: object, *, is_excused: bool = False) -> Status | None:
    """Two things that a record has say the same. `one`, `other`: None where it does not say."""
    if one is not None and one == other:
        return HOLDS
    if is_excused:
        return None
    return UNKNOWN if one is None or other is None else VIOLATED
