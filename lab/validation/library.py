"""Where scenarios lie, and which file a name means.

A scenario is named by its stem, wherever below `scenarios/` it lies, or by its path. A person's own
`scenarios/`, where they stand, comes first; of the lab's, what has the name of one there is passed
over. A run is named by its folder, or by a scenario whose latest run with a verdict is meant.
Unknown names get the nearest.
"""

import os
from difflib import get_close_matches
from pathlib import Path

from lab.program.errors import ScenarioError
from lab.program.given_file import is_folder, is_there
from lab.record.folder import LATEST, VERDICT
from lab.validation.validate import TOPOLOGIES, CheckedScenario, check, scenario_folders

RUNS = Path("runs")


def files_of_scenarios() -> list[Path]:
    """Every scenario and topology file, the nearest folder's first, each name of one folder."""
    found: list[Path] = []
    for folder in scenario_folders():
        nearer = {_kind_and_name(path) for path in found}
        files = sorted(folder.rglob("*.yaml"))
        found += [path for path in files if _kind_and_name(path) not in nearer]
    return found


def _kind_and_name(path: Path) -> tuple[bool, str]:
    return _is_topology(path), path.stem


def _is_topology(path: Path) -> bool:
    return path.parent.name == TOPOLOGIES


def scenario_paths(folder: Path | None = None) -> list[Path]:
    """Every scenario file below `folder`, or of all that there are, by name; no topologies."""
    files = files_of_scenarios() if folder is None else folder.rglob("*.yaml")
    found = (path for path in files if not _is_topology(path))
    return sorted(found, key=lambda path: (path.stem, path))


def find_scenario(name: str) -> Path:
    """The file that a stem or a path names. Raises ScenarioError with the nearest names."""
    if ("/" in name or name.endswith((".yaml", ".yml"))) and is_folder(Path(name)):
        raise ScenarioError(f"{name} is a folder and no scenario", "name a file")
    if name.endswith((".yaml", ".yml")) or "/" in name:
        if is_there(Path(name)):  # what cannot be read is said with the file's mistakes
            return Path(name)
        raise ScenarioError(f"there is no file {name}", _nearest(Path(name).stem))
    paths = [path for path in scenario_paths() if path.stem == name]
    if len(paths) == 1:
        return paths[0]
    if paths:
        both = " and ".join(str(path) for path in paths)
        raise ScenarioError(f"{name} may be {both}", "name the path")
    raise ScenarioError(f"there is no scenario {name}", _nearest(name))


def load_scenario(
    name: str, *, allow_unsafe: bool = False
) -> tuple[CheckedScenario | None, list[str]]:
    """The scenario of that name, or the texts of all its mistakes."""
    checked = check([find_scenario(name)], allow_unsafe=allow_unsafe)
    if checked.mistakes:
        return None, [str(mistake) for mistake in checked.mistakes]
    if not checked.scenarios:
        raise ScenarioError(f"{name} is a topology and no scenario", _nearest(""))
    return checked.scenarios[0], [str(warning) for warning in checked.warnings]


def run_folders(runs: Path) -> list[Path]:
    """Every run folder below `runs`, by path; `latest` and other links are passed over."""
    folders = (path.parent for path in sorted(runs.glob("*/*/manifest.json")))
    return [each for each in folders if not each.is_symlink() and not each.parent.is_symlink()]


def find_run(name: str) -> Path:
    """The run folder of that path, or the latest run of that scenario that has a verdict.

    Raises ScenarioError.
    """
    for candidate in _candidates(name):
        if os.path.isfile(candidate / "plan.json"):
            return candidate
    if is_recorded(name):
        hint = "shadowlab list runs shows them; name one by its folder"
        raise ScenarioError(f"no run of {name} has a verdict", hint)
    if os.path.isdir(name):
        raise ScenarioError(f"{name} is no run folder", "it holds no plan.json")
    raise ScenarioError(f"there is no run {name}", _nearest_run(name))


def _nearest_run(name: str) -> str:
    folders = run_folders(RUNS)
    if name == str(RUNS / LATEST) or not folders:
        return "shadowlab run NAME makes one"
    known = dict.fromkeys([*(each.parent.name for each in folders), *map(str, folders)])
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else "shadowlab list runs shows every run"


def is_recorded(scenario: str) -> bool:
    """Whether that scenario has a run, with a verdict or without."""
    return any(folder.parent.name == scenario for folder in run_folders(RUNS))


def _candidates(name: str) -> list[Path]:
    """What a word may stand for; only its own path leads out of the folder of runs."""
    if not name.strip():
        return []
    is_inside = not name.startswith("/") and ".." not in Path(name).parts
    return [Path(name), *([_latest(RUNS / name), RUNS / name] if is_inside else [])]


def _latest(scenario: Path) -> Path:
    """The latest run with a verdict; where there is none, what `latest` leads to."""
    if os.path.isfile(scenario / LATEST / VERDICT) or not os.path.isdir(scenario):
        return scenario / LATEST
    judged = (each.parent for each in scenario.glob(f"*/{VERDICT}") if not each.parent.is_symlink())
    return max(judged, key=lambda folder: folder.name, default=scenario / LATEST)


def _nearest(name: str) -> str:
    known = [path.stem for path in scenario_paths()]
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known are {', '.join(known)}" if known else "there is no folder scenarios here"
