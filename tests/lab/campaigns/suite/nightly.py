"""A folder with four small scenarios, and suites over them whose runs are stand-ins."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.campaigns.suite.folder import folder_for
from lab.campaigns.suite.plan import Ask
from lab.campaigns.suite.suite import Means, Suite
from tests.lab.scenario.sample_scenario import SCENARIO, changed, write

STAND_IN = Path(__file__).with_name("stand_in.py")
PROGRAM = (sys.executable, str(STAND_IN))
LONGEST_SECONDS = 60.0


class Night:
    """`said` holds what the suites told; `acts` of the stand-ins stay until they are changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.said: list[str] = []
        scenarios = root / "scenarios"
        scenarios.mkdir()
        for name, tags in (
            ("alpha", "nightly"),
            ("beta", "nightly"),
            ("gamma", "simulator"),
            ("delta", "other"),
        ):
            text = changed(SCENARIO, "scenario: sound", f"scenario: {name}")
            write(scenarios, changed(text, "[nightly]", f"[{tags}]"), name=name)
        self.acts({})

    def expect(self, name: str, verdict: str) -> None:
        path = self.root / "scenarios" / f"{name}.yaml"
        path.write_text(f"{path.read_text()}  verdict: {verdict}\n")

    def acts(self, acts: Mapping[str, object]) -> None:
        (self.root / "acts.json").write_text(json.dumps(acts))

    def suite(
        self,
        *names: str,
        tag: str = "nightly",
        on: str | None = None,
        folder: Path | None = None,
        engine: Callable[[], bool] = lambda: True,
        at_most: float | None = None,
        patience: float = LONGEST_SECONDS,
    ) -> Suite:
        ask = Ask(names, tag, on)
        means = Means(PROGRAM, engine, at_most, patience, 2.0, self.said.append)
        return Suite(ask, folder_for(ask, Path("runs"), folder, datetime.now(UTC)), means)

    def calls(self, word: str) -> list[str]:
        """What the stand-ins were called with, a line each, of one command."""
        log = self.root / "calls.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.startswith(f"{word} ")]

    def acted(self) -> list[str]:
        return [line.removeprefix("acted ") for line in self.calls("acted")]

    def wait_for(self, word: str) -> str:
        """The first line of a command, waited for."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while not (found := self.calls(word)):
            assert time.monotonic() < deadline, (self.root / "calls.log").read_text()
            time.sleep(0.01)
        return found[0]


def results(suite: Suite) -> dict[str, dict[str, Any]]:
    """The tasks of suite.json, by name."""
    content = json.loads((suite.folder / "suite.json").read_text())
    return {task["name"]: task for task in content["tasks"]}
