"""Java is looked at before anything is started."""

from pathlib import Path

import pytest

from lab.cli.__main__ import main
from lab.program.errors import GROUND_FAILED, GroundError
from lab.program.java import HINT, require_java


def _home(folder: Path, said: str) -> str:
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    program.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    "said", ['openjdk version "17.0.15" 2025-04-15', 'java version "25-ea"', 'x\nversion "21"']
)
def test_one_that_spark_takes_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", _home(tmp_path, said))
    require_java()


@pytest.mark.parametrize(
    ("said", "named"),
    [('openjdk version "11.0.2" 2019', "11"), ('version "1.8.0_452"', "1"), ("?", "not found")],
)
def test_one_that_is_too_old_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, named: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", _home(tmp_path, said))
    with pytest.raises(GroundError) as raised:
        require_java()
    assert raised.value.cause == f"Spark needs Java 17 or newer; Java {named}"


@pytest.mark.parametrize("words", ["run calm --on simulator", "sweep calm", "repeat calm 2"])
def test_where_there_is_none_nothing_is_started(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == GROUND_FAILED
    said = capsys.readouterr().err.splitlines()
    assert said == ["shadowlab: Spark needs Java 17 or newer; Java not found", f"hint: {HINT}"]
    assert not list(tmp_path.iterdir())
