"""Which settings a session has: the caller's, what Spark was given, then what suits the work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from spark_eval.evaluation.evaluation import LARGE_BYTES
from spark_eval.evaluation.program import (
    purpose_of,
)
from spark_eval.session import (
    ON_ONE_MACHINE,
    Purpose,
    settings,
)
from spark_eval.spark.given import given_settings
from spark_eval.spark.jvm import pass_on
from tests.spark_eval.runs.run_builder import healthy

SOURCES = Path(__file__).resolve().parents[3]
PACKAGES = ("spark_eval", "lab", "nodes", "bench")
TUNED = next(iter(ON_ONE_MACHINE))


def test_without_anything_given_a_session_is_local() -> None:
    assert settings({})["spark.master"] == "local[*]"


def test_a_given_master_is_kept() -> None:
    assert settings({"spark.master": "spark://a:7077"})["spark.master"] == "spark://a:7077"


def test_the_callers_master_wins_over_a_given_one() -> None:
    assert settings({"spark.master": "spark://a:7077"}, "local[1]")["spark.master"] == "local[1]"


def test_a_cluster_is_not_tuned_for_one_machine() -> None:
    assert TUNED not in settings({}, "spark://a:7077")


def test_a_given_name_and_a_given_tuning_are_left_alone() -> None:
    given = {"spark.app.name": "mine", TUNED: "200"}
    assert not set(given) & set(settings(given, name="ours"))


def test_defaults_are_read_from_sparks_own_file(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# ours\nspark.master   spark://a:7077\nspark.app.name=mine\n\n"
    )
    given = given_settings({"SPARK_CONF_DIR": str(tmp_path)})
    assert given == {"spark.master": "spark://a:7077", "spark.app.name": "mine"}


def test_flags_win_over_defaults(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.master spark://a:7077\n")
    flags = "--master local[3] --packages g:a:1 --conf spark.ui.enabled=true pyspark-shell"
    given = given_settings({"SPARK_CONF_DIR": str(tmp_path), "PYSPARK_SUBMIT_ARGS": flags})
    assert given == {"spark.master": "local[3]", "spark.ui.enabled": "true"}


def test_of_what_the_jvm_says_two_lines_about_modules_are_left_out(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    said = b"WARNING: Using incubator modules: jdk.incubator.vector\nWARNING: disk is full\ntorn"
    os.write(writer, said)
    os.close(writer)
    target = os.open(tmp_path / "said", os.O_WRONLY | os.O_CREAT)
    pass_on(reader, target)
    os.close(target)
    assert (tmp_path / "said").read_bytes() == b"WARNING: disk is full\ntorn"


def test_no_module_has_a_name_of_the_standard_library() -> None:
    paths = [path for package in PACKAGES for path in (SOURCES / package).rglob("*.py")]
    own = [path for path in paths if path.stem != "__main__"]
    assert own
    assert [path for path in own if path.stem in sys.stdlib_module_names] == []


@pytest.mark.spark
def test_why_a_jvm_cannot_start_is_said(tmp_path: Path) -> None:
    folder = healthy().write(tmp_path)
    environment = {**os.environ, "JDK_JAVA_OPTIONS": "-XX:NoSuchOption"}
    done = subprocess.run(
        [sys.executable, "-m", "spark_eval", str(folder)],
        capture_output=True, text=True, check=False, env=environment, cwd=SOURCES,
    )  # fmt: skip
    assert done.returncode == 3
    assert "NoSuchOption" in done.stderr
    assert "hint: Spark needs Java 17" in done.stderr


@pytest.mark.spark
def test_an_evaluation_says_nothing_but_its_verdict(tmp_path: Path) -> None:
    folder = healthy().write(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "spark_eval", str(folder)],
        capture_output=True, text=True, check=False, cwd=SOURCES,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def _submitted(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    flags = ["--master", "local[1]", "--name", "mine", "--conf", "spark.ui.enabled=false"]
    return subprocess.run(
        [str(submit), *flags, str(script), *words],
        capture_output=True, text=True, check=False, cwd=script.parent,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(SOURCES)},
    )  # fmt: skip


@pytest.mark.spark
def test_spark_submit_keeps_its_master_and_its_name(tmp_path: Path) -> None:
    script = tmp_path / "session_of_a_submitted_program.py"
    script.write_text(
        "from spark_eval.session import session\n"
        "context = session().sparkContext\n"
        "print(context.master, context.appName)\n"
    )
    done = _submitted(script)
    assert done.returncode == 0, done.stderr
    assert "local[1] mine" in done.stdout.splitlines()


@pytest.mark.spark
def test_spark_submit_runs_the_program_as_a_script(tmp_path: Path) -> None:
    done = _submitted(SOURCES / "spark_eval" / "__main__.py", str(tmp_path / "nowhere"))
    assert done.returncode != 0
    assert "nowhere: no such folder" in done.stdout  # where spark-submit sends both streams
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(("logs", "purpose"), [(1, Purpose.RUN), (2, Purpose.LARGE)])
def test_what_is_too_much_for_one_task_gets_a_session_of_its_own(
    tmp_path: Path, logs: int, purpose: Purpose
) -> None:
    """However many others there are."""
    names = []
    for run, count in (("one", 1), ("other", logs)):
        folder = tmp_path / run / "logs" / "par-mbx1"
        folder.mkdir(parents=True)
        for number in range(count):
            (folder / f"MSGTRKMA{number}.LOG").touch()
            os.truncate(folder / f"MSGTRKMA{number}.LOG", LARGE_BYTES - 1)
        names.append(str(tmp_path / run))
    assert purpose_of([*names, "s3a://bucket/run"]) is purpose
