"""A recorded run as text with gaps: where an id or a name of a copy goes, a marker stands.

Ids stay in form: a GUID gives up its last twelve digits to group and clone, an internal id gets the
clone's six digits behind its own, a name gets its group's. The clock is moved by whole seconds, as
the `Date:` of a message has no finer one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

GROUP, CLONE = "\x01", "\x02"
DIGITS = 6
FILES = (
    "ledger.jsonl", "faults.jsonl", "operations.jsonl", "logs/*/lifecycle.jsonl",
    "logs/*/queues.jsonl", "logs/*/copies.jsonl", "logs/*/CONNECTLOG*.LOG", "logs/*/MSGTRK*.LOG",
    "mailboxes/*.jsonl", "external/*.jsonl",
)  # fmt: skip
GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
LOG_ID = re.compile(rf",{GUID.pattern}(?=,[\d.]+$)")
INTERNAL_ID = re.compile(r'(InternalId=\d+|"internal_id": ?\d+|,[A-Z]+,[A-Z]+,\d+(?=,<))')
FAULT = re.compile(r'("(?:fault|operation)": ?"[^"]+)"')
PLANNED_FAULT = re.compile(r'("id": ?"[^"]+)"')
MONOTONIC = re.compile(r'((?:"\w*mono_ns": ?|Mono=))(\d+)')
LAB_MS = re.compile(
    r'("(?:at|submitted|started|ended|delivered|received|entered|expires|banner|learnt|start|end'
    r'|until|after|last_log)_ms": ?)(\d+)'
)
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=(?:\.\d{3})?Z)")


class NotOurs(ValueError):
    """A record that cannot be multiplied, and why."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The files of a run that are judged, as lines, and its plan, manifest and host."""

    files: Mapping[str, list[str]]
    plan: dict[str, Any]
    manifest: dict[str, Any]
    host: dict[str, Any]

    @property
    def ns_per_ms(self) -> float:
        """A simulated clock is lab time itself."""
        speed = 1.0 if self.manifest["host"] == "simulator" else float(self.manifest["speed"])
        return 1e6 / speed

    @property
    def tracking_rows(self) -> int:
        texts = (lines for name, lines in self.files.items() if "/MSGTRK" in name)
        return sum(not line.startswith("#") for lines in texts for line in lines)


def read(folder: Path) -> Recorded:
    """Raises OSError, `NotOurs`."""
    found = (path for pattern in FILES for path in sorted(folder.glob(pattern)))
    whole = (json.loads((folder / f"{name}.json").read_text("utf-8")) for name in
             ("plan", "manifest", "host"))  # fmt: skip
    lines = {path.relative_to(folder).as_posix(): _lines(path) for path in found}
    recorded = Recorded(lines, *whole)
    recorded.manifest.pop("file_list", None)  # what is multiplied has no such list
    _check(recorded)
    return recorded


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _check(recorded: Recorded) -> None:
    pattern = _message(recorded.plan)
    for line in recorded.files.get("ledger.jsonl", ()):
        if not pattern.search(line):
            raise NotOurs(f"ledger.jsonl: no Message-Id of the lab in {line[:80]!r}")
    ids = {guid for name, lines in recorded.files.items() if "/queues" in name
           for line in lines for guid in GUID.findall(line)}  # fmt: skip
    if len({guid[:24] for guid in ids}) < len(ids):
        raise NotOurs("two ids of the record differ in their last twelve digits alone")


def message_number(plan: Mapping[str, Any], text: str) -> str:
    """The number of the message that a text names first; empty where it names none."""
    found = _message(plan).search(text)
    return found[1] if found else ""


def _message(plan: Mapping[str, Any]) -> re.Pattern[str]:
    return re.compile(rf"\bm(\d+)(?=\.{re.escape(plan['scenario'])}\.)")


class Template:
    """Puts markers into texts of one recorded run."""

    def __init__(self, recorded: Recorded) -> None:
        plan, topology = recorded.plan, recorded.plan["topology"]
        self._ns_per_s = round(recorded.ns_per_ms * 1000)
        self._message = _message(plan)
        lives = (lines for name, lines in recorded.files.items() if "/lifecycle" in name)
        self._databases = {json.loads(line).get("database_id") for lines in lives for line in lines}
        self._domain = re.compile(rf"([\w.+-]+)@{re.escape(topology['accepted_domain'])}\b")
        inside = [site["name"] for site in topology["sites"] if not site["outside"]]
        self._databases_named = frozenset(each["name"] for each in topology["databases"])
        named = [*self._databases_named, *(each["name"] for each in topology["dags"])]
        named += [each["name"] for each in topology["servers"] if each["role"] != "external"]
        self._names = _any_of(named)
        self._names_and_sites = _any_of(named + inside)

    def lines(self, lines: list[str], shift_s: int) -> Iterator[str]:
        """Lines of a file of the record."""
        for number, line in enumerate(lines):
            log_id = f",00{GROUP}-{number >> 32:04x}-4000-{number >> 16 & 0xFFFF:04x}"
            log_id += f"-{CLONE}{number & 0xFFFFFF:06x}"
            yield self.text(LOG_ID.sub(log_id, line), shift_s)

    def text(self, text: str, shift_s: int) -> str:
        """Any text of the record."""
        text = self._message.sub(rf"m\1-{GROUP}{CLONE}", text)
        text = INTERNAL_ID.sub(rf"\1{CLONE}", text)
        text = FAULT.sub(rf'\1-{GROUP}"', text)
        return self._named(self._later(GUID.sub(self._guid, text), shift_s), self._names)

    def planned(self, part: Mapping[str, Any], shift_s: int) -> str:
        """A part of the plan, as JSON."""
        text = self._message.sub(rf"m\1-{GROUP}{CLONE}", json.dumps(part, ensure_ascii=False))
        text = LAB_MS.sub(lambda found: _moved(found, 1000 * shift_s), text)
        text = PLANNED_FAULT.sub(rf'\1-{GROUP}"', text)
        return self._named(text, self._names_and_sites)

    def path(self, name: str) -> str:
        """The name of a file of the record."""
        return self._named(name, self._names)

    def _named(self, text: str, names: re.Pattern[str]) -> str:
        return names.sub(self._renamed, self._domain.sub(self._address, text))

    def _renamed(self, found: re.Match[str]) -> str:
        """The names of databases have letters and digits only."""
        return f"{found[0]}{'' if found[0] in self._databases_named else '-'}{GROUP}"

    @staticmethod
    def _address(found: re.Match[str]) -> str:
        return found[0].replace("@", f"-{GROUP}@")

    def _guid(self, found: re.Match[str]) -> str:
        guid = found[0]
        last = f"{GROUP}{guid[-DIGITS:]}" if guid in self._databases else f"{GROUP}{CLONE}"
        return guid[:24] + last

    def _later(self, text: str, shift_s: int) -> str:
        if not shift_s:
            return text
        text = MONOTONIC.sub(lambda found: _moved(found, shift_s * self._ns_per_s), text)
        text = LAB_MS.sub(lambda found: _moved(found, 1000 * shift_s), text)
        return DATE.sub(lambda found: _dated(found[0], shift_s), text)


def _any_of(names: list[str]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    words = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])")


def _moved(found: re.Match[str], by: int) -> str:
    return f"{found[1]}{int(found[2]) + by}"


def _dated(text: str, shift_s: int) -> str:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(seconds=shift_s)
    return moment.strftime("%Y-%m-%dT%H:%M:%S")
