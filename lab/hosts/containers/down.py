"""Taking labs down, after any end: everything is found by its label, or by the run's own record.

`down(client, None, …)` clears up after labs of `state_root` that ended, crashed or were killed, and
removes those that stand; it touches no run whose lab is alive, and none of another checkout, whose
keys lie there (each thing on the engine says where its state directory is, and that says which
process the lab is). Where that directory has gone nobody else can clear up, and it does. Named, a
run goes whatever its state and wherever it lies, its state directory with it: its lab is asked to
end, then made to. Whoever removes the same meanwhile is in nobody's way.
"""

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, NotFound

from lab.hosts.containers import engine
from lab.hosts.containers.engine import RUN_LABEL
from lab.hosts.containers.ground import volumes
from lab.hosts.containers.images.build import first_line
from lab.hosts.containers.leftovers import (
    Filters,
    known_runs,
    require_run_id,
    run_named,
    state_folder,
)
from lab.program import processes
from lab.program.errors import GroundError, ScenarioError
from lab.program.outer_edge import guarded

STATE_ROOT = Path(".shadowlab")
LAB_RECORD = "lab.json"
LAB_PATIENCE_S = 60.0
"""How long a lab that is asked to end may heal and collect."""
ENGINE_PATIENCE_S = 30.0
"""The engine may still finish what a killed program or another `down` asked of it, so it is looked
at again. A container that it is just making is listed and can neither be inspected nor removed yet;
a network or a volume of one that is being removed is in use."""
LOOK_AGAIN_S = 0.1
IN_USE = (requests.codes.forbidden, requests.codes.conflict)


@dataclass(frozen=True, slots=True)
class Removed:
    """Names of what went; the runs that were `kept` because their lab is alive, and the state
    directories of those that lie `elsewhere`, in another checkout."""

    containers: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    state_dirs: tuple[str, ...] = ()
    processes: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()
    elsewhere: tuple[Path, ...] = ()


def claim(state_dir: Path) -> None:
    """Make a run's state directory this process's own; nobody else clears it up while it lives."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    processes.write(state_dir / LAB_RECORD)


def down(client: docker.DockerClient, run_id: str | None, state_root: Path) -> Removed:
    """Remove one run, or with None all of `state_root` whose lab is not alive. Raises GroundError,
    and ScenarioError for what can be no run's id: then nothing is touched."""
    if run_id is not None:
        require_run_id(run_id)
    try:
        known = known_runs(client, state_root, RUN_LABEL)
        wanted = sorted(known) if run_id is None else [run_id]
        gone = []
        for run in wanted:
            state_dir = known.get(run, state_root / run)
            if run_id is None and _is_someone_elses(state_dir):
                gone.append(Removed(kept=(run,)))
            elif run_id is None and _is_elsewhere(state_dir, state_root):
                gone.append(Removed(elsewhere=(state_dir,)))
            else:
                gone.append(_remove_run(client, run, state_dir))
        return _together(gone)
    except (DockerException, requests.RequestException, OSError) as error:
        raise GroundError(f"down: {first_line(error)}") from error


def down_named(
    client: docker.DockerClient, word: str, state_root: Path, recorded: Mapping[Path, str]
) -> Removed:
    """Remove the run that a person names; `recorded` has the id of every run that is listed,
    by its folder. Raises ScenarioError where there is no such run, and GroundError."""
    try:
        known = known_runs(client, state_root, RUN_LABEL)
    except (DockerException, requests.RequestException, OSError) as error:
        raise GroundError(f"down: {first_line(error)}") from error
    return down(client, run_named(word, known, recorded), state_root)


def remove_from_engine(client: docker.DockerClient, run_id: str) -> Removed:
    """Remove a run's containers, networks and volumes; processes and files stay."""
    containers: set[str] = set()
    networks: set[str] = set()
    volumes: set[str] = set()
    chosen: Filters = {"label": f"{RUN_LABEL}={run_id}"}
    give_up = time.monotonic() + ENGINE_PATIENCE_S
    while True:
        boxes = client.containers.list(all=True, filters=chosen, sparse=True)
        in_use = _remove_each(boxes, force=True, v=True)
        nets = client.networks.list(filters=chosen)
        in_use = _remove_each(nets) or in_use
        stores = client.volumes.list(filters=chosen)
        in_use = _remove_each(stores, force=True) or in_use
        containers.update(str(each.attrs["Names"][0]).removeprefix("/") for each in boxes)
        networks.update(str(each.name) for each in nets)
        volumes.update(str(each.name) for each in stores)
        if not (boxes or nets or stores):
            return Removed(
                tuple(sorted(containers)), tuple(sorted(networks)), tuple(sorted(volumes))
            )
        if time.monotonic() > give_up:
            raise in_use or GroundError(f"down: the engine does not let go of {run_id}")
        if in_use:
            time.sleep(LOOK_AGAIN_S)


def _remove_each(things: Iterable[Any], **how: bool) -> APIError | None:
    """All of them at once; one that somebody else has removed counts. The complaint of one that is
    in use, or that somebody else is removing."""

    def remove(thing: Any) -> APIError | None:
        try:
            thing.remove(**how)
        except NotFound:
            return None
        except APIError as error:
            if error.status_code not in IN_USE:
                raise
            return error
        return None

    with ThreadPoolExecutor(8) as threads:
        return next(filter(None, list(threads.map(remove, things))), None)


def _is_someone_elses(state_dir: Path) -> bool:
    """Whether a lab that is alive, and not this process, owns the run; if unreadable, it may."""
    try:
        record = processes.read(state_dir / LAB_RECORD)
    except PermissionError:
        return True
    return record is not None and record.pid != os.getpid() and processes.is_alive(record)


def _is_elsewhere(state_dir: Path, state_root: Path) -> bool:
    """Whether it is there, and not in `state_root`; if unreadable, it is."""
    if os.path.realpath(state_dir.parent) == os.path.realpath(state_root):
        return False
    try:
        state_dir.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def _remove_run(client: docker.DockerClient, run_id: str, state_dir: Path) -> Removed:
    """Its state directory goes last, so that whoever is stopped on the way finds the run again."""
    ended = _end_processes(run_id, state_dir)
    removed = remove_from_engine(client, run_id)
    folder = state_folder(state_dir.parent, run_id)
    if folder is not None:
        _remove_folder(folder)
        with suppress(OSError):
            folder.parent.rmdir()
    return replace(
        removed,
        state_dirs=(str(folder),) if folder is not None else (),
        processes=tuple(ended),
    )


def _remove_folder(folder: Path) -> None:
    """Somebody else may be removing it too, and finish first. Raises GroundError, OSError."""
    volumes.unmount_all(folder)
    while folder.is_dir():
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)


def _end_processes(run_id: str, state_dir: Path) -> list[int]:
    """End the run's lab, unless it is this process, and every program that it started."""
    lab = processes.read(state_dir / LAB_RECORD)
    ended = []
    if lab and lab.pid != os.getpid() and processes.end(lab, LAB_PATIENCE_S):
        ended.append(lab.pid)
    return ended + [each.pid for each in processes.marked_with(run_id) if processes.end(each)]


def _together(every: Sequence[Removed]) -> Removed:
    """All that went, field by field."""
    names = [each.name for each in fields(Removed)]
    return Removed(**{name: tuple(chain(*(getattr(r, name) for r in every))) for name in names})


def left_alone(removed: Removed) -> Iterator[str]:
    """A line for each run that was left alone: why, and how it goes."""
    for run in removed.kept:
        yield f"left alone: {run}, its lab is alive (shadowlab down {run})"
    for folder in removed.elsewhere:
        run = folder.name
        yield f"left alone: {run}, of another checkout: {folder} (shadowlab down {run})"


def describe(removed: Removed) -> list[str]:
    """What `make down` prints, a line for each thing worth saying."""
    counted = [
        (removed.containers, "container", "containers"),
        (removed.networks, "network", "networks"),
        (removed.volumes, "volume", "volumes"),
        (removed.processes, "process", "processes"),
        (removed.state_dirs, "state directory", "state directories"),
    ]
    said = ", ".join(
        f"{len(names)} {one if len(names) == 1 else many}" for names, one, many in counted if names
    )
    return [f"removed {said}" if said else "nothing to remove", *left_alone(removed)]


def main() -> int:
    """`make down`: all runs of this checkout whose lab is not alive. It takes no word, so that one
    run's name never takes down every other. Raises LabError."""
    if sys.argv[1:]:
        cause = f"this program takes no word, not {sys.argv[1]!r}"
        raise ScenarioError(cause, "shadowlab down RUN removes one run")
    print(*describe(down(engine.connect(), None, STATE_ROOT)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
