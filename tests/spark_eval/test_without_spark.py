"""Questions that need no Spark are answered without it: neither a JVM nor an import of pyspark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_eval.report.page import ROWS
from tests.spark_eval.runs.run_builder import healthy
from tests.spark_eval.runs.sweep_builder import write_sweep

PROGRAM = """
import sys
from spark_eval.__main__ import main
code = main(sys.argv[1:])
assert "pyspark" not in sys.modules, "pyspark was imported"
sys.exit(code)
"""
Ask = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def ask() -> Ask:
    def asked(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", PROGRAM, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "was imported" not in done.stderr
        return done

    return asked


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return healthy().write(tmp_path)


def test_a_story(ask: Ask, folder: Path) -> None:
    told = ask(folder, "--story", "m000001.calm.7@outside.example")
    assert told.returncode == 0
    assert "SMTP HARECEIVE" in told.stdout


def test_nothing_is_said_of_a_reader_that_has_gone(folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = ["-m", "spark_eval", str(folder), "--story", "m000001.calm.7@outside.example"]
    with os.fdopen(writer, "w") as stdout:
        done = subprocess.run(
            [sys.executable, "-u", *words], stdout=stdout, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (3, b"")


def test_an_unknown_message(ask: Ask, folder: Path) -> None:
    refused = ask(folder, "--story", "m000009.calm.7@outside.example")
    assert refused.returncode == 4
    assert "hint: did you mean <m00000" in refused.stderr


def test_the_report_once_more(ask: Ask, folder: Path) -> None:
    verdict = {"verdict": "pass", "claims": []}
    (folder / "verdict.json").write_text(json.dumps(verdict))
    (folder / "evaluation").mkdir()
    (folder / "evaluation" / ROWS).write_text("[]")
    refused = ask(folder, "--report-only")
    assert refused.returncode == 4
    assert "rows of another version" in refused.stderr


def test_a_report_of_a_run_that_was_never_evaluated(ask: Ask, folder: Path) -> None:
    refused = ask(folder, "--report-only")
    assert refused.returncode == 4
    assert "never evaluated" in refused.stderr


def test_a_folder_that_is_no_run(ask: Ask, tmp_path: Path) -> None:
    assert ask(tmp_path).returncode == 4


def test_a_damaged_manifest(ask: Ask, folder: Path) -> None:
    (folder / "manifest.json").write_text("{")
    refused = ask(folder)
    assert refused.returncode == 4
    assert "manifest.json cannot be read" in refused.stderr


@pytest.mark.timeout(60)
def test_a_story_of_a_record_with_a_fifo_in_it(ask: Ask, folder: Path) -> None:
    (folder / "host.json").unlink()
    os.mkfifo(folder / "host.json")
    told = ask(folder, "--story", "m000001.calm.7@outside.example")
    assert "SMTP HARECEIVE" in told.stdout


def test_a_sweep_that_is_none(ask: Ask, tmp_path: Path) -> None:
    assert ask("--sweep", tmp_path).returncode == 4


def test_the_verdict_of_a_sweep(ask: Ask, tmp_path: Path) -> None:
    told = ask("--sweep", write_sweep(tmp_path, {0: healthy()}))
    assert told.returncode == 0
    assert told.stdout.startswith("verdict: pass: calm, 1 of 1 seeds judged")


def test_a_bug_that_nobody_can_hear_of_is_no_verdict(tmp_path: Path) -> None:
    """A full disk takes no word on stderr."""
    program = "import sys; from spark_eval.program.outer_edge import guarded; "
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program + "sys.exit(guarded(lambda: 1 // 0))"],
            stderr=full,
            env=os.environ | {"TMPDIR": str(tmp_path)},
            check=False,
        )
    assert done.returncode == 3
    assert len(list(tmp_path.glob("shadowlab-traceback-*.txt"))) == 1
