"""What there is: scenarios with what they ask, and runs with what became of them.

Only read from files, so a run that is under way is listed too. Lines for a terminal or a script;
nothing is judged.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab.planning.moments import wall_seconds
from lab.planning.resolve import default_seed, resolve
from lab.program.given_json import read_json
from lab.program.printable import visible
from lab.record.folder import STAMP, STAMP_LENGTH
from lab.run.outcome import span
from lab.validation.library import run_folders, scenario_paths
from lab.validation.validate import CheckedScenario, check

NO_VERDICT = "-"


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run folder. `run` is its id, `verdict` is `-` where there is none; `cause` why, if the run
    said it."""

    folder: Path
    run: str
    scenario: str
    host: str
    seed: str
    verdict: str
    cause: str
    started: datetime
    has_ended: bool


def scenario_lines() -> Iterator[str]:
    """Each scenario: name, wall time on containers, tags; what it asks; what it proves."""
    scenarios = _scenarios()
    width = max((len(path.stem) for path in scenarios), default=0)
    for path, found in scenarios.items():
        if found is None:
            yield visible(
                f"{path.stem:<{width}}  has mistakes: shadowlab validate {shlex.quote(str(path))}"
            )
        else:
            yield from _scenario(found, width)


def scenario_objects() -> Iterator[dict[str, object]]:
    """The same for a program; `sound` is false for one with mistakes, and the rest is missing."""
    for path, found in _scenarios().items():
        row: dict[str, object] = {"scenario": path.stem, "path": str(path), "sound": bool(found)}
        if found is not None:
            model = found.scenario
            row |= {"summary": model.summary, "tags": list(model.tags)}
            row |= {"proves": list(model.proves), "seconds": round(_wall_seconds(found), 1)}
        yield row


def _scenarios() -> dict[Path, CheckedScenario | None]:
    paths = scenario_paths()
    by_path = {each.path: each for each in check(paths).scenarios}
    return {path: by_path.get(path) for path in paths}


def _wall_seconds(found: CheckedScenario) -> float:
    model = found.scenario
    plan = resolve(model, found.topology, default_seed(model.scenario), "scenario")
    return wall_seconds(plan)


def _scenario(found: CheckedScenario, width: int) -> Iterator[str]:
    model = found.scenario
    lasts = span(_wall_seconds(found))
    yield f"{model.scenario:<{width}}  {lasts:<8}  {' '.join(model.tags)}".rstrip()
    yield f"    {model.summary}"
    if model.proves:
        yield f"    proves {', '.join(model.proves)}"


def run_lines(runs: Path) -> Iterator[str]:
    """Each run, the newest first: folder, host, seed, verdict, and why there is none."""
    entries = sorted(run_entries(runs), key=lambda entry: entry.started, reverse=True)
    width = max((len(str(entry.folder)) for entry in entries), default=0)
    for entry in entries:
        told = f"{entry.folder!s:<{width}}  {entry.host:<10}  {entry.seed:<8}  {entry.verdict:<7}"
        yield visible(f"{told}  {entry.cause}".rstrip())


def run_objects(runs: Path) -> Iterator[dict[str, object]]:
    """The same for a program; `verdict` is null where there is none."""
    for entry in sorted(run_entries(runs), key=lambda entry: entry.started, reverse=True):
        yield {
            "folder": str(entry.folder),
            "run": entry.run,
            "scenario": entry.scenario,
            "host": entry.host,
            "seed": entry.seed,
            "verdict": None if entry.verdict == NO_VERDICT else entry.verdict,
            "cause": entry.cause,
            "started": entry.started.isoformat().replace("+00:00", "Z"),
            "ended": entry.has_ended,
        }


def run_entries(runs: Path) -> list[RunEntry]:
    """Every run folder below `runs`, by path; `latest` and other links are passed over."""
    return [_entry(folder) for folder in run_folders(runs)]


def _entry(folder: Path) -> RunEntry:
    manifest, host = read_object(folder / "manifest.json"), read_object(folder / "host.json")
    has_ended = (folder / "host.json").is_file()
    cause = str(host.get("cause") or "") if has_ended else "under way, or killed"
    verdict = str(read_object(folder / "verdict.json").get("verdict", NO_VERDICT))
    return RunEntry(
        folder=folder,
        run=str(manifest.get("run", "")),
        scenario=folder.parent.name,
        host=str(manifest.get("host", "?")),
        seed=str(manifest.get("seed", "?")),
        verdict=verdict,
        cause="" if verdict != NO_VERDICT else cause,
        started=_started(folder),
        has_ended=has_ended,
    )


def _started(folder: Path) -> datetime:
    """By its name, as `RunFolder` makes it; where somebody renamed it, by its own time."""
    try:
        return datetime.strptime(folder.name[:STAMP_LENGTH], STAMP).replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(folder.stat().st_mtime, UTC)


def read_object(path: Path) -> dict[str, object]:
    """A file that holds one JSON object; empty where it is missing or damaged."""
    try:
        found = read_json(path)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
