"""`python -m lab.cli.class_archive FILE`: an archive of the classes that judging a run takes.

Java's own class-data sharing (JEP 350): a JVM that maps the archive judges its first run seconds
sooner. It is made once, of one simulated run, for the Java and the Spark that are installed, and
tried before it is kept: half of one ends whatever JVM maps it. Its size is written beside it, last;
where none can be made everything works as without, and that file is empty.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark

from lab.program.death_signal import KILLED_WITH_PARENT
from lab.program.outer_edge import guarded
from lab.program.progress import waiting
from lab.program.sources import search_path

# for one run: the better compiler would take longer than the run
QUICKLY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SECONDS = 60  # of a machine that is not busy
RUN = (sys.executable, "-m", "lab.cli", "run", "calm", "--on", "simulator")


def main(words: list[str]) -> int:
    """Raises OSError."""
    (file,) = words
    archive = Path(file).absolute()
    print("making an archive of Spark's classes: once, about a minute", file=sys.stderr)
    unfinished = archive.with_name(f".{archive.name}.{os.getpid()}")
    size = ""
    try:
        with waiting("making the archive", SECONDS):
            said = _judge_one_run(unfinished)
        if unfinished.exists() and fits(unfinished):
            unfinished.replace(archive)
            size = str(archive.stat().st_size)
        else:
            print(f"there is none, which costs seconds a run: {_last_line(said)}", file=sys.stderr)
    finally:
        unfinished.unlink(missing_ok=True)
    archive.with_suffix(".size").write_text(size)
    return 0


def fits(archive: Path) -> bool:
    """Whether Spark's JVM comes up with it."""
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    options = f'"-XX:SharedArchiveFile={archive}"'
    with TemporaryDirectory(prefix="shadowlab-classes-") as folder:  # for what a crash leaves
        tried = subprocess.run(
            [str(submit), "--driver-java-options", options, "--version"],
            cwd=folder, capture_output=True, check=False, preexec_fn=KILLED_WITH_PARENT,
        )  # fmt: skip
    return tried.returncode == 0


def _judge_one_run(archive: Path) -> str:
    """Until its JVM has ended, which writes `archive` then; what was said meanwhile."""
    options = f'{QUICKLY} "-XX:ArchiveClassesAtExit={archive}"'
    environment = os.environ | {
        "PYSPARK_SUBMIT_ARGS": f"--conf 'spark.driver.extraJavaOptions={options}' pyspark-shell",
        "PYTHONPATH": os.pathsep.join(search_path()),
    }
    with TemporaryDirectory(prefix="shadowlab-classes-") as folder:
        # the JVM outlives the program that it serves, and holds the pipe until it ends itself
        done = subprocess.run(
            RUN, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False, preexec_fn=KILLED_WITH_PARENT,
        )  # fmt: skip
    return done.stdout


def _last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1] if lines else "nothing was said"


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
