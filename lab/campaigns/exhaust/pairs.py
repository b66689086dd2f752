"""Which pairs of faults an exhaustive search goes through, beside every single fault."""

from enum import StrEnum


class Pairs(StrEnum):
    """`relevant`: where the second fault meets something that the first one has changed."""

    none = "none"
    relevant = "relevant"
    all = "all"
