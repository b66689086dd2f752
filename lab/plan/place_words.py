"""A place in the protocol at which a fault starts, in words."""

from lab.plan.parts import When


def in_words(when: When) -> str:
    """`par-mbx1 is at after-data-before-250 for the 3rd time`."""
    return f"{when.server} is at {when.at} for the {_ordinal(when.nth)} time"


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
