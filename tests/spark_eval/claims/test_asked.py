"""The two programs for whoever writes a claim: what it says of simulated runs, and which changes of
its text its own tests notice.
"""

from __future__ import annotations

import pytest

from tests.spark_eval.claims import altered, asked

CLAIM = "statuses_fit"
TAKEN_OUT = ("len(values) > len(recipients)", "False")
SAID_OTHERWISE = ("(TL-1).", "(TL-1):")


def test_a_claim_is_asked_of_simulated_runs_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asked.main(["no_loss", "one-message-in", "one-message-out", "--seeds", "1"]) == 0
    *told, last = capsys.readouterr().out.splitlines()
    runs, statuses, counts, _ = zip(*map(str.split, told), strict=True)
    assert (runs, statuses) == (("one-message-in-1", "one-message-out-1"), ("holds", "holds"))
    assert all(int(count) > 0 for count in counts)
    assert last == "0 of 2 runs: nothing asked"


def test_a_run_of_which_it_asks_nothing_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asked.main([CLAIM, "one-message-in", "--seeds", "2"]) == 0
    assert capsys.readouterr().out == "2 of 2 runs: nothing asked\n"


def test_what_is_taken_out_of_a_claim_is_noticed_or_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert altered.main([CLAIM, *TAKEN_OUT, *SAID_OTHERWISE]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(" -> ".join(TAKEN_OUT))
    assert "holds-put-off-with-semicolons" in first
    assert last.endswith(": NO RUN NOTICES")


@pytest.mark.parametrize(
    "words", [[CLAIM], [CLAIM, "put off"], ["statuses", *TAKEN_OUT], [CLAIM, "not there", ""]]
)
def test_what_cannot_be_altered_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert altered.main(words) == 2
    assert capsys.readouterr().err
