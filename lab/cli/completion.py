"""What a shell completes: names of scenarios, of runs that are recorded, and of defects.

Read from the names of files alone, so that a half-written scenario slows nobody down.
"""

from collections.abc import Iterator

from lab.validation.library import RUNS, run_folders, scenario_paths


def scenario_names(incomplete: str) -> list[str]:
    """Stems that begin so."""
    found = dict.fromkeys(path.stem for path in scenario_paths())
    return [name for name in found if name.startswith(incomplete)]


def defect_names(incomplete: str) -> list[str]:
    """Of the catalogue."""
    from defects.catalogue import BY_NAME

    return [name for name in BY_NAME if name.startswith(incomplete)]


def run_names(incomplete: str) -> list[str]:
    """Scenarios that have a run, then run folders, as `list runs` shows them."""
    return [name for name in dict.fromkeys(_runs()) if name.startswith(incomplete)]


def _runs() -> Iterator[str]:
    folders = run_folders(RUNS)
    yield from (folder.parent.name for folder in folders)
    yield from (str(folder) for folder in folders)
