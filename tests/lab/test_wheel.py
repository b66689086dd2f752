"""The wheel, installed beside the libraries of this Python, is a lab as a clone is one.

It is built from a copy of what a checkout holds, and nothing is fetched: its environment sees our
libraries by a `.pth` file, which does not bring in what is installed here as editable.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from lab.program.sources import ROOT

pytestmark = pytest.mark.slow
PACKAGES = ("defects", "lab", "nodes", "playbooks", "scenarios", "spark_eval")
NOT_READ = ("scenarios/README.md", "scenarios/scenario.schema.json")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
Call = Callable[..., subprocess.CompletedProcess[str]]


def _environment() -> dict[str, str]:
    """Of someone who has no checkout."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _succeeds(*words: str) -> None:
    done = subprocess.run(
        words, env=_environment(), text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built outside the checkout, where it would leave a folder `build`."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    offline = ("--no-deps", "--no-build-isolation", "-w", str(copy / "wheel"))
    _succeeds(*PIP, "wheel", *offline, str(copy))
    (built,) = (copy / "wheel").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def shadowlab(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Call:
    """Call the installed program in a folder."""
    home = tmp_path_factory.mktemp("installed")
    _succeeds(sys.executable, "-m", "venv", "--without-pip", str(home))
    python = str(home / "bin" / "python")
    _succeeds(*PIP, "--python", python, "install", "--no-deps", "--no-index", str(wheel))
    own = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    (own / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(home / "bin" / "shadowlab"), *words],
            cwd=folder, env=_environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip

    return call


def test_it_holds_every_file_that_a_checkout_has(wheel: Path) -> None:
    held = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    own = {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}
    assert held == own.difference(NOT_READ)


def test_its_scenarios_are_known_and_new_ones_are_written_where_one_stands(
    shadowlab: Call, tmp_path: Path
) -> None:
    assert "Nothing goes wrong" in shadowlab(tmp_path, "list").stdout
    made = shadowlab(tmp_path, "new", "storm", "--from", "site-cut")
    assert (made.returncode, made.stdout) == (0, "scenarios/storm.yaml\n")
    (tmp_path / "scenarios" / "calm.yaml").write_text("scenario: calm\n")
    wrong = shadowlab(tmp_path, "validate")
    assert (wrong.returncode, "scenarios/calm.yaml:" in wrong.stderr) == (4, True)
    assert {line.split(":")[0] for line in wrong.stderr.splitlines()} <= {
        "scenarios/calm.yaml", "hint", wrong.stderr.splitlines()[-1],
    }  # fmt: skip
    listed = [line.split()[0] for line in shadowlab(tmp_path, "list").stdout.splitlines()]
    assert (listed.count("calm"), "storm" in listed, "site-cut" in listed) == (1, True, True)
    assert shadowlab(tmp_path, "plan", "storm").returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"scenarios"}


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_a_first_run_in_an_empty_folder_is_that_of_a_clone(shadowlab: Call, tmp_path: Path) -> None:
    done = shadowlab(tmp_path, "run", "calm", "--on", "simulator")
    assert (done.returncode, done.stdout.splitlines()[0][:14]) == (0, "verdict: pass:"), done.stderr
    assert (tmp_path / "runs" / "calm" / "latest" / "report.html").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"runs"}


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_executors_find_its_sources(shadowlab: Call, tmp_path: Path) -> None:
    words = ("sweep", "one-message-in", "--seeds", "2", "--per-batch", "2", "--master", "local[1]")
    done = shadowlab(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("verdict: pass: one-message-in, 2 of 2 seeds judged")
