"""Writes one run that is a recorded one many times over, file by file and line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.multiplied.copies import WIDE_CLONE, Copies, tag
from bench.multiplied.sinks import Sink
from bench.multiplied.template import CLONE, GROUP, Recorded, Template, message_number
from bench.multiplied.widened import addresses, widened
from lab.hosts.simulator.record_in_memory import FIELDS

CONNECTIVITY = "/CONNECTLOG"
LIFECYCLE = "/lifecycle.jsonl"
COUNTED = re.compile(r'(?:(?<="count": )|(?<="left": )|(?<="removed": ))[0-9]+')
NOTIFICATIONS = re.compile(r"(?<=\bNotifications=)\d+")
CARRIED = re.compile(r"(?<=\bMessages: )\d+")


def multiply(
    recorded: Recorded, copies: Copies, sink: Sink, *, plans_messages: bool = True
) -> None:
    """Memory is that of the recorded run, some times over, whatever comes of it. `plans_messages`:
    all messages stand in the plan too, as one document. Raises OSError.
    """
    template = Template(recorded)
    messages = recorded.plan["messages"] if plans_messages else []
    sink.add_whole("plan.json", _plan(recorded, copies, template, messages))
    manifest = {**recorded.manifest, "run": run_name(recorded)}
    sink.add_whole("manifest.json", [json.dumps(manifest, indent=1) + "\n"])
    sink.add_whole("host.json", [json.dumps(recorded.host, indent=1) + "\n"])
    for name, lines in recorded.files.items():
        _multiply_file(_File(recorded, copies, template, name, lines), sink)


def run_name(recorded: Recorded) -> str:
    """Another than that of the recorded run, so that both can be judged together."""
    return f"{recorded.manifest['run']}-multiplied"


@dataclass(frozen=True, slots=True)
class _File:
    recorded: Recorded
    copies: Copies
    template: Template
    name: str
    lines: list[str]

    @property
    def fields(self) -> list[str]:
        top = (line for line in self.lines[:8] if line.startswith(FIELDS))
        return next(top, "").removeprefix(FIELDS).split(",") if self.name.endswith(".LOG") else []


def _multiply_file(file: _File, sink: Sink) -> None:
    """A line without a group is there once in a file that all groups share."""
    path = file.template.path(file.name)
    shifted = {
        shift: "\n".join(file.template.lines(file.lines, shift)) for shift in file.copies.shifts_s
    }
    numbers = [message_number(file.recorded.plan, line) for line in file.lines]
    wide = addresses(file.copies.wide_recipient, file.copies.wide) if file.copies.wide else []
    for group in range(file.copies.groups):
        text = shifted[group % len(shifted)]
        texts = text.split("\n") if file.lines else []
        name = path.replace(GROUP, tag(group))
        sink.add(name, _lines(file, group, texts, numbers, wide))


def _counted(line: str, clones: int, at_most: int) -> str:
    """One answer names all clones of a message, one promotion takes them over, and one session
    carries them; and no fewer than that, where some messages have more clones than others:
    `at_most`.
    """
    notified = NOTIFICATIONS.sub(lambda found: str(int(found[0]) * clones), line)
    notified = COUNTED.sub(lambda found: str(int(found[0]) * clones), notified)
    return CARRIED.sub(lambda found: str(int(found[0]) * at_most), notified)


def _lines(
    file: _File, group: int, texts: list[str], numbers: list[str], wide: list[str]
) -> Iterator[str]:
    every, copies, mine = file.copies.tags(group, ""), file.copies, tag(group)
    is_shared = GROUP not in file.template.path(file.name)
    counts = CONNECTIVITY in file.name or file.name.endswith(LIFECYCLE)
    at_most = copies.most(group)
    for text, number in zip(texts, numbers, strict=True):
        if is_shared and group and GROUP not in text:
            continue
        parts = text.replace(GROUP, mine).split(CLONE)
        if len(parts) == 1:
            yield _counted(parts[0], len(every), at_most) if counts else parts[0]
            continue
        tags = copies.tags(group, number) if number in copies.busy else every
        for clone in tags:
            yield clone.join(parts)
        if wide and not group and number == copies.wide_message:
            recipient = file.template.text(copies.wide_recipient, 0).replace(GROUP, mine)
            there = [file.template.text(each, 0).replace(GROUP, mine) for each in wide]
            yield from widened(tag(WIDE_CLONE).join(parts), file.fields, recipient, there)


def _plan(
    recorded: Recorded, copies: Copies, template: Template, messages: list[dict[str, Any]]
) -> Iterator[str]:
    """In parts, since a million messages are not to stand in memory."""
    plan, topology = recorded.plan, recorded.plan["topology"]
    last_shift_ms = 1000 * copies.shifts_s[-1]
    expanded = _Expansion(copies, template, recorded)
    small = {
        **plan, "messages": [], "links": [], "faults": [], "operations": [],
        "settings": _settings(plan, copies, template),
        "expect": _expect(plan, copies, expanded),
        "topology": {
            **topology,
            **{name: expanded.values(topology[name]) for name in
               ("sites", "site_links", "servers", "dags", "databases")},
            "mailboxes": [],
        },
    }  # fmt: skip
    for name in ("duration_ms", "workload_end_ms", "last_heal_ms"):
        small[name] = plan[name] + last_shift_ms
    mailboxes = [*topology["mailboxes"], *_wide_mailboxes(topology["mailboxes"], copies)]
    lists = {
        "mailboxes": expanded.texts(mailboxes), "links": expanded.texts(plan["links"]),
        "messages": expanded.texts(messages), "faults": expanded.texts(plan["faults"]),
        "operations": expanded.texts(plan["operations"]),
    }  # fmt: skip
    text = json.dumps(small, ensure_ascii=False)
    for name in sorted(lists, key=lambda name: text.index(f'"{name}": []')):
        before, text = text.split(f'"{name}": []', 1)
        yield f'{before}"{name}": ['
        for place, each in enumerate(lists[name]):
            yield f",\n{each}" if place else each
        yield "]"
    yield f"{text}\n"


@dataclass(frozen=True, slots=True)
class _Expansion:
    """Lists of the plan: what names no group is there once, a message as often as it was sent."""

    copies: Copies
    template: Template
    recorded: Recorded

    def texts(self, parts: Iterable[dict[str, Any]]) -> Iterator[str]:
        for part in parts:
            yield from self._copies_of(part)

    def values(self, parts: Iterable[dict[str, Any]]) -> list[Any]:
        return [json.loads(text) for text in self.texts(parts)]

    def _copies_of(self, part: dict[str, Any]) -> Iterator[str]:
        copies = self.copies
        number = message_number(self.recorded.plan, part.get("message_id", ""))
        for group in range(copies.groups):
            shift = copies.shifts_s[group % len(copies.shifts_s)]
            text = self.template.planned(part, shift)
            if group and GROUP not in text:
                return
            parts = text.replace(GROUP, tag(group)).split(CLONE)
            if not number:
                yield parts[0]
                continue
            for clone in copies.tags(group, number):
                yield clone.join(parts)
            if copies.wide and not group and number == copies.wide_message:
                yield self._wide(tag(WIDE_CLONE).join(parts), group)

    def _wide(self, text: str, group: int) -> str:
        wide = addresses(self.copies.wide_recipient, self.copies.wide)
        there = [self.template.text(each, 0).replace(GROUP, tag(group)) for each in wide]
        return json.dumps({**json.loads(text), "recipients": there}, ensure_ascii=False)


def _wide_mailboxes(mailboxes: list[dict[str, str]], copies: Copies) -> list[dict[str, str]]:
    """Every group has them, the first alone gets mail there."""
    if not copies.wide:
        return []
    (box,) = (box for box in mailboxes if box["address"] == copies.wide_recipient)
    wide = addresses(copies.wide_recipient, copies.wide)
    return [{**box, "address": address} for address in wide]


def _settings(plan: dict[str, Any], copies: Copies, template: Template) -> dict[str, Any]:
    settings = dict(plan["settings"])
    servers = {
        template.path(name).replace(GROUP, tag(group)): value
        for name, value in settings["servers"].items()
        for group in range(copies.groups)
    }
    return {**settings, "servers": servers}


def _expect(plan: dict[str, Any], copies: Copies, expanded: _Expansion) -> dict[str, Any]:
    expect = dict(plan["expect"])
    if expect["unprotected_loss"] is not None:
        factor = copies.groups * copies.clones
        expect["unprotected_loss"] = [factor * bound for bound in expect["unprotected_loss"]]
    for name in ("promotions", "resubmissions"):
        if expect[name] is not None:
            expect[name] = expanded.values(expect[name])
    return expect
