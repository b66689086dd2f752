"""The four forms: each class of each input with each of the others, and what has to come of it."""

from __future__ import annotations

from itertools import product

import pytest

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Status
from spark_eval.cases.forms import agreement, bound, precedence, response

DUE = 10
CAME = {"nothing came": None, "well before": 3, "when due": DUE, "just after": 11, "late": 20}
END = {"no end known": None, "before it is due": 9, "when due": DUE, "after": 30}
EXCUSED = {"stands": False, "excused": True}
SHOWN = {"whole": True, "a hole": False}

# came x end, each with: stands and whole, stands and a hole, excused and whole, excused and a hole
NOT_IN_TIME = {
    "no end known": "- - - -", "before it is due": "- - - -", "when due": "V ? - -",
    "after": "V ? - -",
}  # fmt: skip
RESPONSE: dict[str, dict[str, str]] = {
    "nothing came": NOT_IN_TIME,
    "well before": dict.fromkeys(END, "H H H H"),
    "when due": dict.fromkeys(END, "H H H H"),
    "just after": NOT_IN_TIME,
    "late": NOT_IN_TIME,
}

THEN = 10
BEFORE = {"nothing says so": None, "before": 9, "at once": THEN, "after": 11}
PRECEDENCE = {
    "nothing says so": "V ? - -",
    "before": "H H H H",
    "at once": "H H H H",
    "after": "V V - -",
}

LO, HI = 5, 10
VALUE = {
    "nothing measured": None, "below": 4, "at lo": LO, "within": 7, "at hi": HI, "above": 11,
}  # fmt: skip
SIDES = {"both": (LO, HI), "lo alone": (LO, None), "hi alone": (None, HI), "neither": (None, None)}
COARSE = {"fine": False, "coarse": True}
# sides x value, each with: stands and fine, stands and coarse, excused and fine, excused and coarse
BOUND: dict[str, dict[str, str]] = {
    "both": {
        "nothing measured": "- - - -", "below": "V ? - ?", "at lo": "H ? H ?",
        "within": "H ? H ?", "at hi": "H ? H ?", "above": "V ? - ?",
    },
    "lo alone": {
        "nothing measured": "- - - -", "below": "V ? - ?", "at lo": "H ? H ?",
        "within": "H ? H ?", "at hi": "H ? H ?", "above": "H ? H ?",
    },
    "hi alone": {
        "nothing measured": "- - - -", "below": "H ? H ?", "at lo": "H ? H ?",
        "within": "H ? H ?", "at hi": "H ? H ?", "above": "V ? - ?",
    },
    "neither": {"nothing measured": "- - - -"} | dict.fromkeys(list(VALUE)[1:], "H ? H ?"),
}  # fmt: skip

# one x other, each with: stands, excused; 0 is something that is said, too
AGREEMENT: dict[tuple[object, object], str] = {
    (0, 0): "H H", (0, 7): "V -", (7, 0): "V -", (7, 7): "H H",
    (None, 0): "? -", (None, 7): "? -", (0, None): "? -", (7, None): "? -", (None, None): "? -",
}  # fmt: skip

STATUS: dict[str, Status | None] = {"H": HOLDS, "V": VIOLATED, "?": UNKNOWN, "-": None}


def _of(words: str, *places: bool) -> Status | None:
    """The word at a place of a line, whose last input changes first."""
    place = sum(is_set << bit for bit, is_set in enumerate(reversed(places)))
    return STATUS[words.split(" ")[place]]


@pytest.mark.parametrize(("came", "end"), list(product(CAME, END)))
@pytest.mark.parametrize(("excused", "shown"), list(product(EXCUSED, SHOWN)))
def test_response(came: str, end: str, excused: str, shown: str) -> None:
    said = response(
        CAME[came], DUE, END[end], is_excused=EXCUSED[excused], is_shown=SHOWN[shown]
    )  # fmt: skip
    assert said == _of(RESPONSE[came][end], EXCUSED[excused], not SHOWN[shown])


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(("excused", "shown"), list(product(EXCUSED, SHOWN)))
def test_precedence(before: str, excused: str, shown: str) -> None:
    said = precedence(BEFORE[before], THEN, is_excused=EXCUSED[excused], is_shown=SHOWN[shown])
    assert said == _of(PRECEDENCE[before], EXCUSED[excused], not SHOWN[shown])


@pytest.mark.parametrize(("sides", "value"), list(product(SIDES, VALUE)))
@pytest.mark.parametrize(("excused", "coarse"), list(product(EXCUSED, COARSE)))
def test_bound(sides: str, value: str, excused: str, coarse: str) -> None:
    said = bound(
        VALUE[value], *SIDES[sides], is_excused=EXCUSED[excused], is_coarse=COARSE[coarse]
    )  # fmt: skip
    assert said == _of(BOUND[sides][value], EXCUSED[excused], COARSE[coarse])


@pytest.mark.parametrize(("one", "other"), AGREEMENT)
@pytest.mark.parametrize("excused", EXCUSED)
def test_agreement(one: object, other: object, excused: str) -> None:
    said = agreement(one, other, is_excused=EXCUSED[excused])
    assert said == _of(AGREEMENT[one, other], EXCUSED[excused])


def test_what_nobody_says_is_no_excuse() -> None:
    """As each is asked without words of an excuse, or of a hole."""
    assert response(None, 5, 9, is_excused=False) == VIOLATED
    assert precedence(None, 5) == VIOLATED
    assert bound(6, None, 5) == VIOLATED
    assert agreement(1, 2) == VIOLATED
