"""What runs left, by name: on the engine by label, in the state folder by folder.

A run is named by its id, which is one plain word and never a path, so that no name leads out of
the state folder. A person may also name a run as `list runs` shows it. What is no run (a link, a
file, a folder of another name) is passed over. Nothing is removed here.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

import docker

from lab.hosts.containers.engine import RUN_LABEL, STATE_LABEL
from lab.program.errors import ScenarioError

Filters: TypeAlias = dict[str, str | list[str] | bool]

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
SHOWN = 3


def require_run_id(word: str) -> str:
    """The word, if it may be a run's id. Raises ScenarioError."""
    if RUN_ID.fullmatch(word):
        return word
    what = "an empty word" if not word.strip() else repr(word)
    hint = "name it as shadowlab up or list runs shows it; without a name every dead run goes"
    raise ScenarioError(f"{what} names no run", hint)


def state_folder(state_root: Path, run_id: str) -> Path | None:
    """The run's own folder in `state_root`; None where there is none, or a link."""
    folder = state_root / run_id
    is_own = RUN_ID.fullmatch(run_id) and folder.is_dir() and not folder.is_symlink()
    return folder if is_own else None


def known_runs(
    client: docker.DockerClient, state_root: Path, label: str = RUN_LABEL
) -> dict[str, Path]:
    """Run id to state directory: of what the engine has, and of what lies in `state_root`."""
    chosen: Filters = {"label": label}
    labels = [
        *(c.attrs["Labels"] for c in client.containers.list(all=True, filters=chosen, sparse=True)),
        *(n.attrs.get("Labels") or {} for n in client.networks.list(filters=chosen)),
        *(v.attrs.get("Labels") or {} for v in client.volumes.list(filters=chosen)),
    ]
    known = {each[label]: _state_dir(each, state_root, label) for each in labels}
    names: list[str] = []
    with suppress(FileNotFoundError, NotADirectoryError):
        names = os.listdir(state_root)
    folders = {name: folder for name in names if (folder := state_folder(state_root, name))}
    return {run: folder for run, folder in (known | folders).items() if RUN_ID.fullmatch(run)}


def _state_dir(labels: Mapping[str, str], state_root: Path, label: str) -> Path:
    return Path(labels.get(STATE_LABEL) or state_root / labels[label])


def run_named(word: str, known: Collection[str], recorded: Mapping[Path, str]) -> str:
    """The id of the run that a person means: an id that is `known` or `recorded`, or the folder of
    a recorded run as `list runs` shows it. Raises ScenarioError with the nearest names."""
    ids = {each: run for folder, run in recorded.items() for each in _spellings(folder)}
    if word in known or word in recorded.values():
        return require_run_id(word)
    if (run := ids.get(os.path.normpath(word))) is not None and word.strip():
        return require_run_id(run)
    if not RUN_ID.fullmatch(word) and "/" not in word:
        require_run_id(word)
    raise ScenarioError(f"there is no run {word!r}", _nearest(word, known, recorded))


def _spellings(folder: Path) -> Iterable[str]:
    """`runs/calm/20260105T080000Z-7`, the same without `runs/`, and the absolute path."""
    return str(folder), "/".join(folder.parts[-2:]), os.path.abspath(folder)


def _nearest(word: str, known: Collection[str], recorded: Mapping[Path, str]) -> str:
    names = sorted({*known, *recorded.values(), *(str(folder) for folder in recorded)})
    begun = [name for name in sorted(known) if word.strip("./") and name.startswith(word)]
    near = begun or get_close_matches(word, names, n=SHOWN, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near[:SHOWN])}?"
    if known:
        return f"left are {', '.join(sorted(known)[:SHOWN])}; shadowlab list runs shows more"
    return "no run has left anything; shadowlab list runs shows every run"
