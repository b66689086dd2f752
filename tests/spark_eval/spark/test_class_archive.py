"""A JVM takes the archive of classes that fits it, and does without one that does not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pyspark
import pytest

from lab.cli.class_archive import fits
from spark_eval.spark.class_archive import ARCHIVE, sharing

JAVA = Path(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else "java"
FROM_THE_ARCHIVE = "source: shared objects file (top)"


def archive_of(folder: Path, content: bytes, size: str) -> Path:
    archive = folder / "classes.jsa"
    archive.write_bytes(content)
    archive.with_suffix(".size").write_text(size)
    return archive


def test_without_an_archive_nothing_is_asked_for(tmp_path: Path) -> None:
    assert sharing(tmp_path / "none.jsa") == []


@pytest.mark.parametrize("size", ["", "9", "many"])
def test_an_archive_of_another_size_is_passed_over(tmp_path: Path, size: str) -> None:
    """Half of one would end the JVM."""
    assert sharing(archive_of(tmp_path, b"cut short", "9"))
    assert sharing(archive_of(tmp_path, b"cut sho", size)) == []


@pytest.mark.skipif(shutil.which(str(JAVA)) is None, reason="there is no Java")
def test_an_archive_that_is_none_is_passed_over_without_a_word(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, b"no archive" * 10_000, "100000")
    options = [option.strip('"') for option in sharing(archive)]
    assert options
    command = [str(JAVA), "-Xshare:auto", *options, "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "archive" not in done.stderr


@pytest.mark.spark
@pytest.mark.skipif(not ARCHIVE.exists() and not os.environ.get("CI"), reason="make makes it")
def test_what_make_made_fits_sparks_jvm(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded"
    options = " ".join([f"-Xlog:class+load:file={loaded}", *sharing()])
    program = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    command = [str(program), "--driver-java-options", options, "--version"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    shared = [line for line in loaded.read_text().splitlines() if FROM_THE_ARCHIVE in line]
    assert sum("org.apache.spark" in line for line in shared) > 100


@pytest.mark.spark
@pytest.mark.skipif(not ARCHIVE.exists() and not os.environ.get("CI"), reason="make makes it")
def test_half_of_one_is_not_kept(tmp_path: Path) -> None:
    whole = ARCHIVE.read_bytes()
    half = archive_of(tmp_path, whole[: len(whole) // 2], "")
    assert fits(ARCHIVE)
    assert not fits(half)
