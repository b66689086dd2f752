"""What `--json` prints: one line, the last of stdout, for a program that called.

It says where everything is; what was found is in the verdict.json beside it.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from lab.record.folder import VERDICT
from lab.run.history import read_object


def outcome(folder: Path, code: int, cause: str = "") -> dict[str, object]:
    """A run: its folder, exit code and verdict (null where it has none), and why it has none."""
    verdict = read_object(folder / VERDICT)
    manifest = read_object(folder / "manifest.json")
    return {
        "folder": str(folder),
        "run": manifest.get("run"),
        "scenario": manifest.get("scenario"),
        "host": manifest.get("host"),
        "seed": manifest.get("seed"),
        "code": code,
        "verdict": verdict.get("verdict"),
        "cause": cause or read_object(folder / "host.json").get("cause") or "",
    }


def print_line(content: Mapping[str, object]) -> None:
    print(json.dumps(content), flush=True)
