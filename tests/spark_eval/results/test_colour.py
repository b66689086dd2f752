"""A verdict has a colour on a terminal that has any, and nowhere else."""

import io

import pytest

from spark_eval.results.colour import coloured


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize(("verdict", "colour"), [("pass", 32), ("fail", 31), ("unknown", 33)])
def test_the_first_word_of_the_verdict_alone_is_coloured(verdict: str, colour: int) -> None:
    text = f"verdict: {verdict}: calm\n  {verdict}"
    told = coloured(text, verdict, Terminal())
    assert told == f"verdict: \x1b[1;{colour}m{verdict}\x1b[0m: calm\n  {verdict}"


def test_what_does_not_apply_is_grey() -> None:
    told = coloured("verdict: pass\n  not applicable: a, b\n  c", "pass", Terminal())
    assert told.endswith("\n\x1b[90m  not applicable: a, b\x1b[0m\n  c")


def test_a_pipe_gets_plain_text() -> None:
    assert coloured("verdict: pass", "pass", io.StringIO()) == "verdict: pass"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_asks_for_no_colour_gets_none(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert coloured("verdict: pass", "pass", Terminal()) == "verdict: pass"
