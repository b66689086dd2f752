"""What no model asks of a document: a list that names something twice, a key that says nothing.

Every list of words in a scenario or a topology names things (servers, mailboxes, requirements,
tags, kinds of faults), so an entry that stands there twice is a slip. A key without a value would
be read as if it had a default of its own; whoever wants the default leaves the key out. Settings
that are drawn have a rule of their own.
"""

from collections.abc import Iterator
from typing import Any

from lab.validation.mistakes import Mistake
from lab.validation.model_reader import Read
from lab.validation.yaml_document import Trail

_DRAWN: Trail = ("settings", "random")


def check_entries(read: Read[Any]) -> Iterator[Mistake]:
    """Of all that stands in the model's part of the document and was not reported by the model."""
    if read.model is not None:
        yield from _below(read, read.base, read.document.at(read.base))


def _below(read: Read[Any], trail: Trail, found: object) -> Iterator[Mistake]:
    if trail in read.cut or trail == _DRAWN:
        return
    if isinstance(found, dict):
        for key, value in found.items():
            yield from _below(read, (*trail, key), value)
    elif isinstance(found, list):
        yield from _twice(read, trail, found)
        for index, item in enumerate(found):
            yield from _below(read, (*trail, index), item)
    elif found is None and trail:
        hint = "write one, or leave the key out"
        yield read.document.mistake(trail, "nothing", "needs a value", hint)


def _twice(read: Read[Any], trail: Trail, found: list[Any]) -> Iterator[Mistake]:
    words = [str(each).removeprefix("server ") for each in found]
    for index, word in enumerate(words):
        here = (*trail, index)
        if isinstance(found[index], str) and word in words[:index] and here not in read.cut:
            yield read.document.mistake(here, word, "is named twice", "keep one of them")
