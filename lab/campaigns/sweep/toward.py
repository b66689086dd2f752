"""What a sweep may be asked to favour among seeds."""

from enum import StrEnum


class Toward(StrEnum):
    """`coverage`: seeds whose plans promise combinations that were met least."""

    coverage = "coverage"
