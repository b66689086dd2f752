"""The command that proves: defects are caught by what must catch them, and one that breaks nothing
fails the proof.

The whole catalogue is tried every night (`make prove`); here are a defect at the door, one of the
settings, of a decision and of the store, and one of each way to fail.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from defects.catalogue import BY_NAME
from defects.defect import Defect
from lab.cli.__main__ import main

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
CAUGHT = (
    "shadow-of-one-in-fifty-not-sent",
    "keeps-for-longer",
    "tells-nobody-of-what-expired",
    "stores-another-content",
)
HARMLESS = replace(BY_NAME["keeps-for-longer"], name="harmless", broken=nullcontext)
KNOWN = replace(HARMLESS, name="known", not_caught="it breaks nothing")
WRONG_CLAIM = replace(BY_NAME["keeps-for-longer"], name="wrong-claim", claims=("no_loss",))


def test_a_proof_tells_what_is_caught_what_is_known_and_what_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    more: dict[str, Defect] = {each.name: each for each in (HARMLESS, KNOWN, WRONG_CLAIM)}
    words = [*CAUGHT, *more, "--seeds", "1"]
    with patch.dict(BY_NAME, more):  # the processes that simulate are forked from this one
        code = main(["prove", *words])
    said = capsys.readouterr()
    assert code == 1, said.err
    (file,) = tmp_path.glob("runs/proofs/*/prove.json")
    content = json.loads(file.read_text())
    assert {each["name"]: each["status"] for each in content["defects"]} == {
        **dict.fromkeys(CAUGHT, "caught"),
        "known": "known, not caught",
        "harmless": "not caught",
        "wrong-claim": "caught by others",
    }
    assert [each["not_as_foretold"] for each in content["sound"]] == [[]] * 2
    assert content["requirements"]["SN-1"] == {"status": "proven", "by": ["keeps-for-longer"]}
    assert "harmless: held_long_enough catches it in calm under 0 of 1 seeds" in said.out
    assert "wrong-claim: no_loss passes it in calm, only held_long_enough is violated" in said.out
    assert "not caught as they must be (2):" in said.out
    kept = {path.parent.parent.name for path in file.parent.glob("runs/*/*/*")}
    assert kept == {"harmless", "wrong-claim"}, "what is not as it must be"
