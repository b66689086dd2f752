"""Taking labs down, after any end: everything is found by its label, or by the run's own record.

A run whose lab is alive is never touched unless it is named: `down(client, None, …)` clears up
after labs that ended, crashed or were killed, and leaves its neighbours alone, whichever checkout
they run from (each thing on the engine says where its state directory is, and that says which
process the lab is). Named, a run goes whatever its state: its lab is asked to end, then made to.
Files are removed in `state_root` alone, in the run's own folder there; what another checkout keeps
is its own to remove.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import docker
import requests
from docker.errors import APIError, DockerException, NotFound
from docker.models.containers import Container

from lab.hosts.containers import engine
from lab.hosts.containers.engine import RUN_LABEL
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
PASSES = 3
"""The engine may still finish what a killed program asked of it, so it is looked at again. A
container that it is just making is listed and can neither be inspected nor removed yet."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Names of what went, and the runs that were `kept` because their lab is alive."""

    containers: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    state_dirs: tuple[str, ...] = ()
    processes: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()


def claim(state_dir: Path) -> None:
    """Make a run's state directory this process's own; nobody else clears it up while it lives."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    processes.write(state_dir / LAB_RECORD)


def down(client: docker.DockerClient, run_id: str | None, state_root: Path) -> Removed:
    """Remove one run, or with None all whose lab is not alive. Raises GroundError, and
    ScenarioError for what can be no run's id: then nothing is touched."""
    if run_id is not None:
        require_run_id(run_id)
    try:
        known = known_runs(client, state_root, RUN_LABEL)
        wanted = sorted(known) if run_id is None else [run_id]
        kept, gone = [], []
        for run in wanted:
            state_dir = known.get(run, state_root / run)
            if run_id is None and _is_someone_elses(state_dir):
                kept.append(run)
            else:
                gone.append(_remove_run(client, run, state_dir, state_root))
        return _together(gone, kept)
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
    for _ in range(PASSES):
        found = client.containers.list(all=True, filters=chosen, sparse=True)
        with ThreadPoolExecutor(8) as threads:
            containers.update(threads.map(_remove_container, found))
        for network in client.networks.list(filters=chosen):
            with suppress(NotFound):
                network.remove()
            networks.add(str(network.name))
        for volume in client.volumes.list(filters=chosen):
            with suppress(NotFound):
                volume.remove(force=True)
            volumes.add(str(volume.name))
        if not found:
            break
    return Removed(tuple(sorted(containers)), tuple(sorted(networks)), tuple(sorted(volumes)))


def _is_someone_elses(state_dir: Path) -> bool:
    """Whether a lab that is alive, and not this process, owns the run; if unreadable, it may."""
    try:
        record = processes.read(state_dir / LAB_RECORD)
    except PermissionError:
        return True
    return record is not None and record.pid != os.getpid() and processes.is_alive(record)


def _remove_run(
    client: docker.DockerClient, run_id: str, state_dir: Path, state_root: Path
) -> Removed:
    ended = _end_processes(run_id, state_dir)
    removed = remove_from_engine(client, run_id)
    folder = state_folder(state_root, run_id)
    if folder is not None:
        shutil.rmtree(folder)
        with suppress(OSError):
            state_root.rmdir()
    return Removed(
        removed.containers,
        removed.networks,
        removed.volumes,
        (str(folder),) if folder is not None else (),
        tuple(ended),
    )


def _end_processes(run_id: str, state_dir: Path) -> list[int]:
    """End the run's lab, unless it is this process, and every program that it started."""
    lab = processes.read(state_dir / LAB_RECORD)
    ended = []
    if lab and lab.pid != os.getpid() and processes.end(lab, LAB_PATIENCE_S):
        ended.append(lab.pid)
    return ended + [each.pid for each in processes.marked_with(run_id) if processes.end(each)]


def _remove_container(container: Container) -> str:
    """Its name; a container that somebody else is removing counts as removed. It is as the list
    has it, not inspected."""
    try:
        container.remove(force=True, v=True)
    except NotFound:
        pass
    except APIError as error:
        if "already in progress" not in str(error):
            raise
    return str(container.attrs["Names"][0]).removeprefix("/")


def _together(gone: Iterable[Removed], kept: Iterable[str]) -> Removed:
    every = list(gone)
    return Removed(
        tuple(name for each in every for name in each.containers),
        tuple(name for each in every for name in each.networks),
        tuple(name for each in every for name in each.volumes),
        tuple(name for each in every for name in each.state_dirs),
        tuple(pid for each in every for pid in each.processes),
        tuple(kept),
    )


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
    left = [f"left alone: {run}, its lab is alive (shadowlab down {run})" for run in removed.kept]
    return [f"removed {said}" if said else "nothing to remove", *left]


def main() -> int:
    """`make down`: all runs of this machine whose lab is not alive. It takes no word, so that one
    run's name never takes down every other. Raises LabError."""
    if sys.argv[1:]:
        cause = f"this program takes no word, not {sys.argv[1]!r}"
        raise ScenarioError(cause, "shadowlab down RUN removes one run")
    print(*describe(down(engine.connect(), None, STATE_ROOT)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
