"""Commands that speak to a lab that stands, whose servers say what a test has them say."""

from __future__ import annotations

import pytest

from lab.cli import standing
from lab.cli.__main__ import main
from lab.program.errors import CALL_WRONG

CHANGE = ["requests", "calm-7", "--change", "disable", "--request", "o1"]


def change(monkeypatch: pytest.MonkeyPatch, **replies: str) -> int:
    def ask(line: str, server: str | None) -> dict[str, str]:
        assert (line, server) == ("XRESUBMIT DISABLE o1", None)
        return replies

    monkeypatch.setattr(standing, "_asking", lambda run: ask)
    return main(CHANGE)


def test_a_change_that_one_server_makes_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert change(monkeypatch, a="250 2.0.0 changed", b="550 5.5.4 none") == 0
    assert capsys.readouterr().out == "a: 250 2.0.0 changed\nb: 550 5.5.4 none\n"


@pytest.mark.parametrize("said", ["550 5.5.4 No such resubmit request", "is not running"])
def test_a_change_that_no_server_makes_is_a_wrong_call(
    said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert change(monkeypatch, a=said) == CALL_WRONG
    told = capsys.readouterr().err
    assert "no server would disable the request o1" in told
    assert "hint: shadowlab requests calm-7 lists them" in told
