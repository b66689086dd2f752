"""`python -m lab.program.installation`: what a checkout needs, put into this Python by pip.

It runs before anything is installed, so it knows the standard library alone. How far things are is
shown on stderr: a bar on a terminal, elsewhere a line now and then. Of what pip says nothing is
shown unless it fails, and then all of its errors are.

Spark comes as source: it is made ready beside all others, and not compressed to be taken out again.
What goes wrong with these two calls of pip, the last one does again, or says. Nothing is compiled
before it is first imported: of Ansible and Spark most never is, and it takes as long as the rest.
"""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Thread
from time import monotonic, sleep

from lab.program.death_signal import KILLED_WITH_PARENT

PINS = Path("constraints.txt")
SPARK = "pyspark"
STORED = "--config-settings=--build-option=--compression=stored"
PIP = (sys.executable, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check")
STEPS = {
    "Collecting": "fetching",
    "Installing build": "building",
    "Preparing": "building",
    "Building": "building",
    "Installing collected": "unpacking",
}
"""How a line of pip's begins, and what it does then."""
FETCHED = ("Collecting", "Requirement already satisfied")
WIDTH = 20
TICK_SECONDS = 0.5
LINE_SECONDS = 15.0


class Pip:
    """One call of it, going on; `name` is what a person calls it by."""

    def __init__(self, name: str, *words: str) -> None:
        self.name = name
        self.step = "starting"
        self.fetched = 0
        self._errors = TemporaryFile()  # noqa: SIM115 (it lives as long as this)
        self._program = subprocess.Popen(
            [*PIP, "-c", str(PINS), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            errors="replace",
            preexec_fn=KILLED_WITH_PARENT,
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._program.stdout is not None
        for line in self._program.stdout:
            self.hear(line.strip())

    def hear(self, said: str) -> None:
        self.fetched += said.startswith(FETCHED)
        self.step = next((STEPS[key] for key in STEPS if said.startswith(key)), self.step)

    def goes_on(self) -> bool:
        return self._program.poll() is None

    def end(self) -> tuple[int, str]:
        """Its exit code, once it has ended, and what it said on stderr."""
        code = self._program.wait()
        self._reader.join()
        assert self._program.stdout is not None
        self._program.stdout.close()
        with self._errors:
            self._errors.seek(0)
            return code, self._errors.read().decode(errors="replace")


@dataclass(frozen=True, slots=True)
class State:
    """How far things are, of `total` libraries."""

    total: int
    fetched: int
    unpacked: int
    steps: str
    seconds: float

    def line(self) -> str:
        minutes, seconds = divmod(round(self.seconds), 60)
        counts = f"{self.fetched} fetched, {self.unpacked} unpacked of {self.total}"
        return f"{minutes}:{seconds:02} {counts}; {self.steps}"

    def bar(self) -> str:
        """Each library is fetched, then unpacked."""
        full = WIDTH * (self.fetched + self.unpacked) // (2 * self.total)
        return f"[{'#' * full}{'.' * (WIDTH - full)}]"


class Display:
    """A bar that is drawn over itself, or a line every fifteen seconds."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._shown_at = monotonic()

    def show(self, state: State) -> None:
        if self._is_terminal:
            self._draw(f"{state.bar()} {state.line()}"[: get_terminal_size()[0] - 1])
        elif monotonic() - self._shown_at >= LINE_SECONDS:
            self._shown_at = monotonic()
            print(state.line(), file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._is_terminal:
            self._draw("")

    def _draw(self, text: str) -> None:
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def install() -> int:
    """The exit code of the last call of pip, whose errors are on stderr where it failed."""
    lines = PINS.read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    began, display, pips = monotonic(), Display(), list[Pip]()

    def follow(*begun: Pip) -> list[tuple[int, str]]:
        pips.extend(begun)
        while going := [pip for pip in begun if pip.goes_on()]:
            display.show(_state(len(pins), pips, going, monotonic() - began))
            sleep(TICK_SECONDS)
        display.clear()
        return [pip.end() for pip in begun]

    with TemporaryDirectory() as folder:
        others = Path(folder, "others.txt")
        others.write_text("\n".join(pin for pin in pins if not pin.startswith(f"{SPARK}==")))
        follow(
            Pip(SPARK, "--no-deps", STORED, SPARK), Pip("others", "--no-deps", "-r", str(others))
        )
    ((code, errors),) = follow(Pip("shadowlab", "-e", ".[dev]"))
    if code:
        print(errors, end="", file=sys.stderr)
    return code


def _state(total: int, pips: Sequence[Pip], going: Sequence[Pip], seconds: float) -> State:
    steps = ", ".join(f"{pip.name} {pip.step}" for pip in going)
    fetched = min(sum(pip.fetched for pip in pips), total)
    return State(total, fetched, min(_unpacked(), total), steps, seconds)


def _unpacked() -> int:
    """Of this Python; pip itself came with it."""
    found = Path(sysconfig.get_path("purelib")).glob("*.dist-info")
    return sum(1 for each in found if not each.name.startswith("pip-"))


def main() -> int:
    print(f"installing into {sys.prefix}: a few minutes, once", file=sys.stderr)
    try:
        return install()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
