"""What is written by the grammar of XREDIRECT is read back by it, and nothing else is."""

from __future__ import annotations

import pytest

from nodes.core.interface.inputs import RedirectRequested
from nodes.shell.verbs.redirection import VERB, format_request, parse_request


def test_a_request_is_read_back() -> None:
    verb, *words = format_request("par-mbx2")
    assert verb == VERB
    assert parse_request("in-1", " ".join(words)) == RedirectRequested("in-1", "par-mbx2")


@pytest.mark.parametrize("arguments", ["", " ", "a b", "a ", " a", "a\tb", "\xe4"])
def test_anything_else_is_no_request(arguments: str) -> None:
    assert parse_request("in-1", arguments) is None
