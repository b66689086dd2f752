"""Every mistake of every scenario file at once, before anything is started.

`check` reads files, and nothing else in the lab does before it: the text, its shape, its names,
its settings, its timeline, and the topology that it refers to. A scenario is handed on only when
neither it nor its topology has a mistake; warnings do not hold it back.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from lab.plan.names import PATTERN_WORDS, SLUG
from lab.plan.topology import PlanTopology
from lab.program.given_file import is_file, is_folder, is_there, real_path
from lab.program.sources import SCENARIOS
from lab.record.folder import BESIDE_SCENARIOS
from lab.scenario.scenario import ScenarioModel
from lab.scenario.topology import TopologyModel, resolve_topology
from lab.validation.doubtful_settings import doubtful_settings, unsafe_settings
from lab.validation.entries import check_entries
from lab.validation.limits import check_limits
from lab.validation.mistakes import Mistake, in_order
from lab.validation.model_reader import MISTAKES_MAX, Read, read_model
from lab.validation.random_schedule import check_random
from lab.validation.scenario_names import check_names, check_settings
from lab.validation.timeline import check_timeline
from lab.validation.topology import check_topology
from lab.validation.topology_names import TopologyNames, names_of
from lab.validation.yaml_document import Document, read_document
from nodes.core.config.error import suggestion

TOPOLOGIES = "topologies"
_PLACEHOLDERS: dict[str, Any] = {
    "version": 1,
    "scenario": "unnamed",
    "summary": "unknown",
    "topology": "unknown",
    "workload": [{"mail": "inbound", "at": "0s", "for": "1m", "rate": "1/m"}],
    "mail": "inbound",
    "who": "no-certificate",
    "at": "0s",
    "for": "1m",
    "rate": "1/m",
    "kind": "refuse",
    "latency": "1s",
    "cause": "database-id-changed",
    "after": "0s",
    "within": "1m",
    "during": "0s..1d",
}


@dataclass(frozen=True, slots=True)
class CheckedScenario:
    """A scenario without a mistake, with its topology and the text as authored."""

    path: Path
    text: str
    scenario: ScenarioModel
    topology: TopologyModel


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found: scenarios without mistakes, all mistakes, and warnings."""

    scenarios: tuple[CheckedScenario, ...]
    mistakes: tuple[Mistake, ...]
    warnings: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True)
class _Topology:
    """A topology as far as it could be read."""

    read: Read[TopologyModel]
    names: TopologyNames
    mistakes: tuple[Mistake, ...]

    @property
    def sound(self) -> TopologyModel | None:
        return None if self.mistakes else self.read.model


@dataclass(slots=True)
class _Checking:
    """One call of `check`: topologies are read once, whoever refers to them."""

    allow_unsafe: bool = False
    topologies: dict[Path, _Topology] = field(default_factory=dict)
    stems: dict[str, Path] = field(default_factory=dict)
    scenarios: list[CheckedScenario] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    warnings: list[Mistake] = field(default_factory=list)


def check(paths: Iterable[Path], *, allow_unsafe: bool = False) -> Checked:
    """Check scenario and topology files; a folder stands for every `.yaml` file below it.
    `allow_unsafe`: settings that lose mail are warnings (SN-5).
    """
    checking = _Checking(allow_unsafe)
    for path in _files(paths):
        if path.parent.name == TOPOLOGIES:
            _topology_file(checking, path)
        else:
            _check_scenario(checking, path)
    return Checked(
        tuple(checking.scenarios), in_order(checking.mistakes), in_order(checking.warnings)
    )


def scenario_folders() -> list[Path]:
    """Where scenarios lie, the nearest first: `scenarios/` here, if it is there, and the lab's."""
    here = Path("scenarios")
    is_another = is_folder(here) and real_path(here) != SCENARIOS
    return [here, SCENARIOS] if is_another else [here if is_folder(here) else SCENARIOS]


def find_topology(scenario: Path, name: str) -> Path | None:
    """`topologies/<name>.yaml` beside a scenario file or its folder, or the lab's own.

    A name is no path, and a link out of the folder is no topology of it: None.
    """
    if not re.fullmatch(SLUG, name):
        return None
    for folder in _around(scenario):
        candidate = folder / TOPOLOGIES / f"{name}.yaml"
        if is_there(candidate) and real_path(candidate).is_relative_to(real_path(folder)):
            return candidate
    return None


def _around(scenario: Path) -> list[Path]:
    """The folders whose topologies a scenario may name, the nearest first: its own, the one
    around it and, for the copy in a run folder, those up to the working directory.
    """
    here, working = real_path(scenario).parent, real_path(Path())
    within = [folder for folder in here.parents if folder.is_relative_to(working)]
    return [here, here.parent, *within, *scenario_folders()]


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    seen = set()
    for path in paths:
        for file in sorted(path.rglob("*.yaml")) if is_folder(path) else [path]:
            if real_path(file) not in seen:
                seen.add(real_path(file))
                yield file


def _check_scenario(checking: _Checking, path: Path) -> None:
    document = read_document(path)
    read = read_model(ScenarioModel, document, (), _PLACEHOLDERS)
    topology = _topology_of(checking, path, document, read)
    names = topology.names if topology and topology.read.document.data is not None else None
    sound = topology.sound if topology else None
    found = [*document.mistakes, *read.mistakes, *_stem(document, read, path)]
    first = checking.stems.setdefault(path.stem, path)
    if first != path:
        rule = f"is the name of {first} too"
        found.append(document.mistake(("scenario",), path.stem, rule, "rename one of them"))
    found += _meaning(read, names, resolve_topology(sound) if sound else None)
    unsafe = unsafe_settings(read, sound)
    if checking.allow_unsafe or _is_of_a_run(path):  # a run was allowed them when it was made
        checking.warnings += (replace(each, rule=f"warning: {each.rule}") for each in unsafe)
    else:
        found += unsafe
    checking.mistakes += found
    checking.warnings += doubtful_settings(read, sound)
    if not found and read.model is not None and sound is not None:
        checking.scenarios.append(CheckedScenario(path, document.text, read.model, sound))


def _meaning(
    read: Read[ScenarioModel], names: TopologyNames | None, topology: PlanTopology | None
) -> list[Mistake]:
    """What the shape does not show; what depends on time only where the whole is in bounds."""
    beyond = list(check_limits(read, names, topology))
    checks = [check_names(read, names), check_settings(read, names), check_entries(read)]
    if not beyond:
        checks.append(check_timeline(read, topology))
    if not beyond and topology is not None:
        checks.append(check_random(read, topology))
    return beyond + _first(chain(*checks))


def _first(found: Iterable[Mistake]) -> list[Mistake]:
    """As many as a person can use at once."""
    return list(islice(found, MISTAKES_MAX))


def _is_of_a_run(path: Path) -> bool:
    """A run folder keeps its scenario as authored, under a name of its own."""
    return path.name == "scenario.yaml" and is_file(path.parent / "plan.json")


def _stem(document: Document, read: Read[ScenarioModel], path: Path) -> Iterator[Mistake]:
    if read.model is None or ("scenario",) in read.cut:
        return
    if read.model.scenario != path.stem and not _is_of_a_run(path):
        rule = f"is not the file's stem, {path.stem}"
        hint = f"write scenario: {path.stem}, or rename the file"
        yield document.mistake(("scenario",), read.model.scenario, rule, hint)
    if read.model.scenario in BESIDE_SCENARIOS:
        rule = "is what runs/ calls something else"
        yield document.mistake(("scenario",), read.model.scenario, rule, "choose another name")


def _topology_of(
    checking: _Checking, path: Path, document: Document, read: Read[ScenarioModel]
) -> _Topology | None:
    wanted = document.at(("topology",))
    if isinstance(wanted, dict):
        return _inline_topology(checking, document)
    if document.data is None or (wanted is None and ("topology",) in read.cut):
        return None
    if not isinstance(wanted, str):
        rule = "is neither a topology's name nor a topology"
        read.mistakes.append(document.mistake(("topology",), "", rule, "name a topology"))
        return None
    found = find_topology(path, wanted)
    if found is None:
        hint = _nearest_topology(path, wanted)
        read.mistakes.append(document.mistake(("topology",), wanted, "is no topology", hint))
        return None
    return _topology_file(checking, found)


def _topology_file(checking: _Checking, path: Path) -> _Topology:
    resolved = real_path(path)
    if resolved not in checking.topologies:
        document = read_document(path)
        read = read_model(TopologyModel, document, (), {"version": 1, "topology": path.stem})
        names = names_of(document)
        meaning = chain(check_entries(read), check_topology(read, names))
        found = [*document.mistakes, *read.mistakes, *_first(meaning)]
        if read.model is not None and read.model.topology != path.stem:
            rule = f"is not the file's stem, {path.stem}"
            hint = f"write topology: {path.stem}, or rename the file"
            found.append(document.mistake(("topology",), read.model.topology, rule, hint))
        checking.mistakes += found
        checking.topologies[resolved] = _Topology(read, names, tuple(found))
    return checking.topologies[resolved]


def _inline_topology(checking: _Checking, document: Document) -> _Topology:
    read = read_model(TopologyModel, document, ("topology",), {"version": 1, "topology": "inline"})
    names = names_of(document, ("topology",))
    found = [*read.mistakes, *_first(check_topology(read, names))]  # its entries are the scenario's
    checking.mistakes += found
    return _Topology(read, names, tuple(found))


def _nearest_topology(path: Path, wanted: str) -> str:
    if not re.fullmatch(SLUG, wanted):
        return f"name a file of {TOPOLOGIES}/ by its stem: {PATTERN_WORDS[SLUG]}"
    for folder in _around(path):
        candidate = folder / TOPOLOGIES / f"{wanted}.yaml"
        if candidate.is_symlink():
            return f"{candidate} is a link that leads out of {folder}, or to nothing"
    known = {file.stem for folder in _around(path) for file in (folder / TOPOLOGIES).glob("*.yaml")}
    return suggestion(wanted, known) if known else "there is no folder topologies beside it"
