"""docs/record.md names every file, column and key of a record, with its type, and no other."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from lab.campaigns.prove.verdict import content as proof_content
from lab.campaigns.prove.verdict import proof
from lab.campaigns.suite.journal import Ended, SuiteRecord
from lab.campaigns.suite.plan import SuiteTask
from lab.campaigns.suite.result import suite_content
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan import faults, link_faults, operations, parts, topology, when
from lab.plan.plan import Plan
from lab.record.file_list import FILE_LIST, write_file_list
from lab.record.first_files import Identity, manifest_of_folder
from spark_eval.compare.comparison import Compared, Comparison
from spark_eval.judging.results import ClaimResult, CounterExample
from spark_eval.judging.verdict import Verdict
from spark_eval.read.json_lines import at_the_end, content, while_it_ran
from spark_eval.read.rows import FaultRow, JournalReport, OperationRow, StrangerRow
from spark_eval.report.rows import ReportRows
from spark_eval.results import schema
from spark_eval.results.counts import NO_DELIVERY, NO_PROMOTION, NO_SAFETY_NET
from spark_eval.results.exposure import Exposure
from spark_eval.results.files import verdict_content
from spark_eval.results.schema import RESULT_TABLES
from spark_eval.sweep.folder import SweepFolder
from spark_eval.sweep.verdict import Tally
from tests.docs.pages import CODE, named, rows, sections
from tests.lab.hosts.simulator.plans import plan

PAGE = "docs/record.md"
EVENTS = "Events of a lifecycle log"
# what the evaluation reads of a line, but for what its reader adds
READ: Mapping[str, tuple[type, ...]] = {
    "ledger.jsonl": (while_it_ran._Ledger, content._Digest),
    "strangers.jsonl": (StrangerRow,),
    "faults.jsonl": (FaultRow,),
    "operations.jsonl": (OperationRow,),
    "logs/<server>/lifecycle.jsonl": (while_it_ran._Lifecycle,),
    "logs/<server>/queues.jsonl": (at_the_end._Queued,),
    "logs/<server>/copies.jsonl": (at_the_end._Copy,),
    "mailboxes/<database>.jsonl": (at_the_end._Mailbox, content._Digest),
    "external/<server>.jsonl": (at_the_end._External, content._Digest),
}
ADDED = ("ref", "said")
TABLES = {f"evaluation/{name}.parquet": columns for name, columns in RESULT_TABLES.items()}
SPARK_WORDS = {
    schema.REF: "ref",
    schema.REFS: "list of ref",
    schema.LINK: "link",
    f"ARRAY<{schema.LINK}>": "list of link",
    "ARRAY<STRING>": "list of string",
}
COLUMN_WORDS = {
    int: ("int", "bigint"),
    str: ("string",),
    float: ("double",),
    bool: ("boolean",),
    JournalReport: ("object",),
}
JSON_WORDS = {int: "integer", str: "string", float: "number", bool: "boolean"}
# parts of plan.json by the key that leads to them; a part's own keys are those of its dataclass
PARTS: Mapping[str, type] = {
    "plan.json": Plan,
    "clock": parts.Clock,
    "topology": topology.PlanTopology,
    "sites": topology.Site,
    "site_links": topology.SiteLink,
    "send_connectors": topology.SendConnector,
    "servers": topology.Server,
    "dags": topology.Dag,
    "databases": topology.Database,
    "copies": topology.DatabaseCopy,
    "mailboxes": topology.Mailbox,
    "groups": topology.Group,
    "settings": parts.Settings,
    "links": topology.Link,
    "messages": parts.Message,
    "when": when.When,
    "strangers": parts.Stranger,
    "trickle": parts.Trickle,
    "too_much": parts.TooMuch,
    "expect": parts.Expect,
    "promotions": parts.ExpectedPromotion,
    "resubmissions": parts.ExpectedResubmission,
}
FAULTS: Mapping[str, type] = faults.kinds_of(faults.Fault)
OPERATIONS: Mapping[str, type] = faults.kinds_of(operations.Operation)
# between them they have every kind of file and line that the simulator writes
SIMULATED = (
    "one-message-out",
    "strangers-call",
    "active-manager-dies",
    "acknowledgement-lost",
    "queue-database-damaged",
    "clocks-wrong",
    "disk-full",
    "content-conversion",
)
LOGS = {"MSGTRK": "MSGTRK<yyyymmddhh>-<n>.LOG", "CONNECTLOG": "CONNECTLOG<yyyymmdd>-<n>.LOG"}


@cache
def described(heading: str) -> Mapping[str, str]:
    """Names in the table below a heading of the page, each with its type."""
    table = rows(sections(PAGE)[heading])
    return {name: cells[0] for name, cells in named(table).items()}


@pytest.mark.parametrize("file", TABLES)
def test_every_column_of_a_table_has_a_line_with_its_type(file: str) -> None:
    wanted = {name: spark_words(kind) for name, kind in TABLES[file]}
    assert described(f"`{file}`") == wanted


@pytest.mark.parametrize("file", READ)
def test_every_key_that_is_read_has_a_line_with_its_type(file: str) -> None:
    for name, words in keys_read(file).items():
        assert described(f"`{file}`").get(name) in words, name


@pytest.mark.parametrize("file", READ)
def test_no_line_is_about_a_key_that_nobody_writes_or_reads(file: str) -> None:
    lines = (
        json.loads(line)
        for name in SIMULATED
        for written, texts in simulated(name).files.items()
        if written.endswith(".jsonl") and heading_of(written) == f"`{file}`"
        for line in texts
    )
    known = set(keys_read(file)).union(*lines)
    assert set(described(f"`{file}`")) <= known


@pytest.mark.parametrize("part", PARTS)
def test_every_key_of_a_plan_has_a_line_with_its_type(part: str) -> None:
    assert described(f"`{part}`") == keys_of(PARTS[part])


@pytest.mark.parametrize(("heading", "kinds"), [("`faults`", FAULTS), ("`operations`", OPERATIONS)])
def test_every_key_of_an_entry_says_which_kinds_have_it(
    heading: str, kinds: Mapping[str, type]
) -> None:
    table = named(rows(sections(PAGE)[heading]))
    for kind, part in kinds.items():
        here = {
            name: cells[0]
            for name, cells in table.items()
            if cells[1] == "every kind" or kind in CODE.findall(cells[1])
        }
        own = keys_of(part)
        assert set(here) == set(own), kind
        # what one kind may leave open, another one may need
        assert all(here[name] in (words, f"{words} or null") for name, words in own.items()), kind
    assert set(CODE.findall(table["kind"][2])) == set(kinds)


def test_no_part_of_a_plan_is_left_out() -> None:
    ours = {
        each
        for module in (faults, link_faults, operations, parts, topology, when)
        for each in vars(module).values()
        if isinstance(each, type) and is_dataclass(each) and each.__module__ == module.__name__
    }
    # a fault names a link by three keys, which the page says above the tables
    assert ours - {*PARTS.values(), *FAULTS.values(), *OPERATIONS.values()} == {topology.LinkName}


def test_the_words_of_a_plan_are_named_where_they_are_described() -> None:
    for part, kind in PARTS.items():
        table = named(rows(sections(PAGE)[f"`{part}`"]))
        for name, hint in get_type_hints(kind).items():
            if get_origin(hint) is Literal and not isinstance(get_args(hint)[0], int):
                said = table[{"source": "from"}.get(name, name)][1]
                assert set(get_args(hint)) <= set(CODE.findall(said)) or "breakpoint" in said


@pytest.mark.parametrize("name", SIMULATED)
def test_a_simulated_record_has_no_file_and_no_key_that_the_page_lacks(name: str) -> None:
    for file, lines in simulated(name).files.items():
        heading = heading_of(file)
        if file.endswith(".jsonl") and not file.endswith("/inputs.jsonl"):
            missing = {each for line in lines for each in unnamed(json.loads(line), heading)}
            assert missing == set(), f"{file}: no line in {PAGE}"


@pytest.mark.parametrize("name", SIMULATED)
def test_every_event_of_a_life_is_on_the_page_with_its_keys(name: str) -> None:
    table = named(rows(sections(PAGE)[EVENTS]))
    everywhere = {"event", "at_ms", "date", "mono_ns", "ahead_ms"}
    for file, lines in simulated(name).files.items():
        for row in map(json.loads, lines if file.endswith("lifecycle.jsonl") else ()):
            assert row["event"] in table, row["event"]
            keys = set(CODE.findall(keys_said(table, row["event"])))
            assert set(row) - everywhere <= keys, row["event"]


def test_every_file_of_a_run_folder_is_in_its_table() -> None:
    table = set(named(rows(sections(PAGE)["A run folder"])))
    written = {heading_of(file).strip("`") for each in SIMULATED for file in simulated(each).files}
    tops = {each for each in written if not each.startswith("logs/")}
    assert tops <= table
    assert {"plan.json", "manifest.json", "files.json", "host.json", "verdict.json"} <= table


def test_a_manifest_and_a_list_of_files_have_the_keys_of_the_page(tmp_path: Path) -> None:
    made = manifest_of_folder(plan("calm", 7), Identity("calm-7", "simulator", None))
    assert missing_and_extra("`manifest.json`", made) == (set(), set())
    (tmp_path / "plan.json").write_text("{}")
    write_file_list(tmp_path)
    listed = json.loads((tmp_path / FILE_LIST).read_text())
    assert missing_and_extra("`files.json`", listed) == (set(), set())


def _exposed() -> dict[str, Any]:
    """For one cause."""
    found = Exposure()
    found.by_cause["why"] = found.whole
    return found.numbers()


def test_a_verdict_has_the_keys_of_the_page() -> None:
    example = CounterExample("first", "a message", 1, "was lost", (("ledger.jsonl", 1),))
    result = ClaimResult("no_loss", ("TL-7",), "violated", examples=(example,))
    judged: Any = SimpleNamespace(
        folder=SimpleNamespace(run="calm-7", scenario="calm", host="simulator", seed=7),
        verdict=Verdict("fail", 1, (), {}, "pass"),
        results={"no_loss": result},
        delivery=NO_DELIVERY,
        promotion=NO_PROMOTION,
        safety_net=NO_SAFETY_NET,
        exposure=_exposed(),
        clocks_off=(),
        log_damage=(),
    )
    assert missing_and_extra("`verdict.json`", verdict_content(judged)) == (set(), set())


def test_the_rows_of_a_report_are_those_of_the_page() -> None:
    assert set(described("`evaluation/report.json`")) == {each.name for each in fields(ReportRows)}


def test_a_sweep_a_suite_a_proof_and_a_comparison_have_the_keys_of_the_page() -> None:
    sweep = SweepFolder(Path("calm"), "calm", 0, 1)
    assert set(Tally().content(sweep)) == set(described("`verdict.json` of a sweep"))
    assert missing_and_extra("`suite.json`", suite())[0] == set()
    assert missing_and_extra("`prove.json`", proof_content(proof((), ())))[0] == set()
    assert set(comparison().content()) == set(described("`compare.json`"))


def spark_words(kind: str) -> str:
    return SPARK_WORDS.get(kind, kind.lower())


def keys_read(file: str) -> dict[str, tuple[str, ...]]:
    """Each with the words that its type may have on the page."""
    hints = (hint for part in READ[file] for hint in get_type_hints(part).items())
    return {name.rstrip("_"): column_words(kind) for name, kind in hints if name not in ADDED}


def column_words(hint: Any) -> tuple[str, ...]:
    kinds = [each for each in get_args(hint) if each is not type(None)] or [hint]
    if get_origin(kinds[0]) is tuple:
        return ("list of string" if get_args(kinds[0])[0] is str else "list of object",)
    if get_origin(kinds[0]) is Mapping:
        return ("object",)
    return COLUMN_WORDS[kinds[0]]


def keys_of(part: type) -> dict[str, str]:
    hints = get_type_hints(part)
    own = {"source": "from", "target": "to"}
    return {own.get(each.name, each.name): json_words(hints[each.name]) for each in fields(part)}


def json_words(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        one = [each for each in arguments if each is not type(None)]
        return f"{json_words(one[0])} or null" if len(one) == 1 else "object"
    if origin is Literal:
        return "word"
    if origin is tuple:
        return f"{'list' if arguments[-1] is Ellipsis else 'pair'} of {json_words(arguments[0])}"
    return JSON_WORDS.get(hint, "object")


@cache
def simulated(name: str) -> RecordInMemory:
    return simulate(plan(name, 7), keeps_inputs=name == SIMULATED[0])


def heading_of(file: str) -> str:
    """The heading of the page that a file of a record is below."""
    parts = file.split("/")
    if parts[0] == "logs":
        prefix = re.match("[A-Z]+", parts[2])
        parts = ["logs", "<server>", LOGS[prefix[0]] if prefix else parts[2]]
    elif parts[0] in ("mailboxes", "external"):
        parts[1] = "<database>.jsonl" if parts[0] == "mailboxes" else "<server>.jsonl"
    known = "/".join(parts)
    assert known in {*named(rows(sections(PAGE)["Logs"])), *table_of_files()}, f"{file}: no line"
    return f"`{known}`"


def table_of_files() -> set[str]:
    return set(named(rows(sections(PAGE)["A run folder"])))


def keys_said(table: Mapping[str, Any], event: str) -> str:
    """The further keys of an event; where its line says "the same", with those of the line above,
    and where it names another event, with that one's."""
    said = str(table[event][-1])
    above = list(table)[list(table).index(event) - 1]
    if said.startswith("the same"):
        said += keys_said(table, above)
    for other in CODE.findall(said):
        if said.startswith("as ") and other in table and other != event:
            said += keys_said(table, other)
    return said


def unnamed(row: Mapping[str, Any], heading: str) -> set[str]:
    """Keys of a line that the page does not name; an event's own keys are said by its event."""
    known = dict(described(heading))
    if heading.endswith("/lifecycle.jsonl`"):
        return set()
    if f"{heading}, for people" in sections(PAGE):
        known |= described(f"{heading}, for people")
    return set(paths(row, known)) - set(known)


def paths(value: Mapping[str, Any], known: Mapping[str, str], before: str = "") -> Iterator[str]:
    """`verdict`, `claims[].name`, `delivery.lost`: down to where the page describes no more."""
    for key, inner in value.items():
        path = f"{before}{key}"
        yield path
        if isinstance(inner, Mapping) and _goes_on(f"{path}.", known):
            yield from paths(inner, known, f"{path}.")
        if isinstance(inner, list) and _goes_on(f"{path}[].", known):
            for each in inner:
                yield from paths(each, known, f"{path}[].")


def _goes_on(start: str, known: Mapping[str, str]) -> bool:
    return any(name.startswith(start) for name in known)


def missing_and_extra(heading: str, value: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Keys that the page lacks, and keys of the page that the value lacks."""
    known = described(heading)
    there = set(paths(value, known))
    return there - set(known), set(known) - there


def suite() -> Mapping[str, Any]:
    task = SuiteTask(
        "calm on simulator", "run", "calm", "calm.yaml", "simulator", 7, "pass", 1.0, 1.0
    )
    record = SuiteRecord(tasks=[task], ended={task.name: Ended(0, 0, 1.0)})
    return suite_content(Path(), record, 0)


def comparison() -> Comparison:
    side: Any = SimpleNamespace(
        name="containers",
        folder=SimpleNamespace(run="r", host="h", path=Path("p"), scenario="calm", seed=7),
        verdict={"verdict": "pass"},
    )
    same = Compared("verdict", "pass", "pass", "same")
    return Comparison((side, side), "agrees", 0, same, (), (), {}, ())
