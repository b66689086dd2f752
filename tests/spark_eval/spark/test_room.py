"""Spark may take a share of the memory that there is, unless somebody said how much."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_eval.session import Purpose, settings
from spark_eval.spark import room

HEAP = "spark.driver.memory"


@pytest.mark.parametrize(
    ("gib", "heap"), [(1, "2g"), (8, "2g"), (15.5, "3g"), (23.5, "5g"), (24, "6g"), (512, "8g")]
)
def test_it_takes_a_quarter_but_no_less_than_two_and_no_more_than_eight(
    gib: float, heap: str
) -> None:
    assert room.a_quarter(int(gib * room.GIB)) == heap


@pytest.mark.parametrize(("text", "limit"), [("1073741824\n", room.GIB), ("max\n", None)])
def test_a_container_may_take_less_than_the_machine_has(
    text: str, limit: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LIMITS", ())
    machine = room.memory_bytes()
    assert machine > room.GIB
    (tmp_path / "memory.max").write_text(text)
    monkeypatch.setattr(room, "LIMITS", (str(tmp_path / "memory.max"), str(tmp_path / "gone")))
    assert room.memory_bytes() == (limit or machine)


@pytest.mark.parametrize("purpose", [each for each in Purpose if each is not Purpose.LARGE])
def test_what_a_user_of_spark_gives_is_what_there_is(purpose: Purpose) -> None:
    assert settings({}, purpose=purpose)[HEAP] == room.a_quarter(room.memory_bytes())
    assert HEAP not in settings({HEAP: "2g"}, purpose=purpose)
