"""What is done by hand, as the scenario that it becomes: its text, and the plan it stands for.

An entry is a fault or an operation in the words of a scenario file, without `at`: it is checked
with all that was done before it by the rules of every scenario, and resolved as one, so that it has
the same evidence and is judged by the same claims. What comes of it is a file to run again.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from lab.plan.check import RUN_MAX_MS
from lab.plan.faults import FOR_GOOD, Fault, is_for_good
from lab.plan.operations import Operation
from lab.plan.parts import Message
from lab.plan.plan import Plan
from lab.planning.faults import last_heal_ms
from lab.planning.resolve import resolve
from lab.program.errors import ScenarioError
from lab.scenario.faults import INSTANTS
from lab.scenario.operations import OPERATION_KINDS
from lab.scenario.scenario import MailModel
from lab.validation.mistakes import Mistake
from lab.validation.validate import CheckedScenario, check, find_topology

SUFFIX = "-by-hand"
UNTIL_HEALED = "1d"
"""How long a fault lasts of which nobody says it, unless it is healed before."""
LEFT_OUT = ("faults", "operations", "expect", "strangers", "proves", "tags")
LINE = 4096


@dataclass(frozen=True, slots=True)
class Done:
    """What an entry stands for: one or several faults, or one operation."""

    faults: tuple[Fault, ...]
    operations: tuple[Operation, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.id for each in (*self.faults, *self.operations))


class HandScenario:
    """`plan` is what was done so far, by a `seed`; its messages are those of the first period.

    Raises ScenarioError where a scenario cannot stand without its faults.
    """

    def __init__(self, origin: CheckedScenario, seed: int) -> None:
        self.name = f"{origin.scenario.scenario}{SUFFIX}"
        self.seed = seed
        self._document = _calm(origin, self.name)
        self._ends: dict[str, int] = {}
        self._settle_ms = origin.scenario.settle
        self.checked, self.plan = self._resolved(self._document, "the scenario")
        self._period_ms = self.plan.workload_end_ms

    def add(self, entry: str, at_ms: int) -> Done:
        """Put down what starts at that lab time. Raises ScenarioError, and then nothing is."""
        given = _read(entry)
        for key in _NOT_BY_HAND.keys() & given.keys():
            raise ScenarioError(f"{entry!r}: {key}: {_NOT_BY_HAND[key]}", f"leave out {key}:")
        kind = "operations" if given.keys() & OPERATION_KINDS.keys() else "faults"
        document = _copied(self._document)
        document.setdefault(kind, []).append(_entry(given, kind, at_ms))
        checked, plan = self._resolved(document, repr(entry), at_ms)
        _require_what_the_lab_has(plan, self.plan, entry)
        known = {each.id for each in (*self.plan.faults, *self.plan.operations)}
        done = Done(
            tuple(each for each in plan.faults if each.id not in known),
            tuple(each for each in plan.operations if each.id not in known),
        )
        self._document, self.checked, self.plan = document, checked, plan
        return done

    def mail(self, entry: str, count: int, at_ms: int) -> MailModel:
        """Put down a stream of so many messages within a second of lab time. Raises
        ScenarioError, and then nothing is.
        """
        given = _read(entry) if entry else {}
        for key in _OF_A_STREAM & given.keys():
            raise ScenarioError(
                f"{entry!r}: {key}: what is sent by hand is sent now", "leave it out"
            )
        times = {"at": _seconds(at_ms), "for": "1s", "rate": f"{count}/s"}
        document = _copied(self._document)
        document["workload"].append(_flow({"mail": "inbound", **given, **times}))
        self.checked, self.plan = self._resolved(document, repr(entry), at_ms)
        self._document = document
        return self.checked.scenario.workload[-1]

    def healed(self, fault_id: str, at_ms: int) -> None:
        """A fault was ended then, if it was not over and has an end."""
        fault = next(each for each in self.plan.faults if each.id == fault_id)
        if fault.end_ms > at_ms and not is_for_good(fault):
            self._ends[fault_id] = at_ms
            written = self._document["faults"][int(fault_id.removeprefix("f")) - 1]
            written["for"] = _seconds(at_ms - fault.start_ms)
            self.plan = self._with_ends(self.plan)

    def _with_ends(self, plan: Plan) -> Plan:
        """To the millisecond."""
        faults = (
            replace(each, end_ms=self._ends.get(each.id, each.end_ms)) for each in plan.faults
        )
        return replace(plan, faults=tuple(faults))

    def ended(self, messages: tuple[Message, ...], at_ms: int, settle_ms: int) -> Plan:
        """The plan of what was done, of which everything was healed at `at_ms` at the latest, and
        which has `settle_ms` from then on.
        """
        for fault in self.plan.faults:
            self.healed(fault.id, at_ms)
        duration_ms = at_ms + settle_ms
        for_good = (
            replace(each, end_ms=duration_ms) if is_for_good(each) else each
            for each in self.plan.faults
        )
        return replace(
            self.plan,
            messages=messages,
            workload_end_ms=at_ms,
            last_heal_ms=last_heal_ms(self.plan.faults),
            settle_ms=settle_ms,
            duration_ms=duration_ms,
            faults=tuple(for_good),
        )

    def text(self, until_ms: int) -> str:
        """The scenario file of what was done: its mail goes on until then."""
        document = _copied(self._document)
        streams = zip(document["workload"], self.checked.scenario.workload, strict=True)
        for written, stream in streams:
            if stream.at + stream.for_ms == self._period_ms and until_ms > stream.at:
                written["for"] = _seconds(until_ms - stream.at)
        return _dumped(document)

    def _resolved(
        self, document: CommentedMap, what: str, at_ms: int = 0
    ) -> tuple[CheckedScenario, Plan]:
        """The end of the mail is not known yet, so that nothing done at `at_ms` lies past it."""
        tried = _copied(document)
        tried["settle"] = _seconds(self._settle_ms + at_ms)
        with TemporaryDirectory(prefix="shadowlab-by-hand-") as folder:
            path = Path(folder) / f"{self.name}.yaml"
            path.write_text(_dumped(tried), encoding="utf-8")
            found = check([path], allow_unsafe=True)
        if not found.scenarios:
            raise _refusal(what, found.mistakes[0])
        (checked,) = found.scenarios
        plan = resolve(checked.scenario, checked.topology, self.seed)
        return checked, self._with_ends(replace(plan, settle_ms=self._settle_ms))


def calm(plan: Plan) -> Plan:
    """The plan by which the lab is provisioned: it may stand as long as any run may take."""
    return replace(plan, duration_ms=RUN_MAX_MS)


def _calm(origin: CheckedScenario, name: str) -> CommentedMap:
    document: CommentedMap = _yaml().load(origin.text)
    for key in LEFT_OUT:
        document.pop(key, None)
    document["scenario"] = name
    document["summary"] = f"What was done by hand in {origin.scenario.scenario}."
    if isinstance(document["topology"], str):
        path = find_topology(origin.path, document["topology"])
        assert path is not None
        document["topology"] = _yaml().load(path.read_text(encoding="utf-8"))
    return document


def _read(entry: str) -> Mapping[str, Any]:
    """`kill: par-mbx1, for: 5m`, with its braces or without."""
    text = entry.strip()
    text = text if text.startswith("{") else f"{{{text}}}"
    try:
        given = YAML(typ="safe").load(text)
    except YAMLError as error:
        said = " ".join(str(error).split())
        raise ScenarioError(f"{entry!r} is no entry of a scenario: {said}", _EXAMPLE) from error
    if not isinstance(given, dict) or not given:
        raise ScenarioError(f"{entry!r} is no entry of a scenario", _EXAMPLE)
    return given


_EXAMPLE = "write it as in a scenario file, such as 'kill: par-mbx1, for: 5m'"
_NOT_BY_HAND = {
    "at": "what is done by hand is done now",
    "when": "a breakpoint is set when its server starts, so it belongs into a scenario file",
    "random": "nothing is drawn by hand",
    "every": "what is done by hand is done once",
}
_OF_A_STREAM = {"at", "for", "rate"}


def _entry(given: Mapping[str, Any], kind: str, at_ms: int) -> CommentedMap:
    lasts = kind == "faults" and not given.keys() & {"for", *INSTANTS}
    is_endless = given.get("returns_with") == FOR_GOOD
    length = {"for": UNTIL_HEALED} if lasts and not is_endless else {}
    return _flow({"at": _seconds(at_ms), **given, **length})


def _flow(entry: Mapping[str, Any]) -> CommentedMap:
    """In a line of its own."""
    written = CommentedMap(entry)
    written.fa.set_flow_style()
    return written


def _require_what_the_lab_has(plan: Plan, before: Plan, entry: str) -> None:
    """What needs something of its own to be provisioned comes too late."""
    if plan.settings != before.settings:
        cause = f"{entry!r} needs a volume of its own, which this lab was not given"
        raise ScenarioError(cause, "give the server a QueueDatabaseVolumeSize in the scenario")
    if plan.powerless:
        cause = f"{entry!r}: a container that is killed loses nothing, so it knows no power_loss"
        raise ScenarioError(cause, "write kill:")


def _refusal(what: str, mistake: Mistake) -> ScenarioError:
    words = ", ".join(filter(None, (mistake.what, mistake.value, mistake.rule)))
    return ScenarioError(f"{what}: {words}", mistake.hint)


def _seconds(span_ms: int) -> str:
    return f"{math.ceil(span_ms / 1000)}s"


def _copied(document: CommentedMap) -> CommentedMap:
    copied: CommentedMap = _yaml().load(_dumped(document))
    return copied


def _dumped(document: CommentedMap) -> str:
    text = io.StringIO()
    _yaml().dump(document, text)
    return text.getvalue()


def _yaml() -> YAML:
    yaml = YAML()
    yaml.width, yaml.preserve_quotes = LINE, True
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml
