"""The strangers of a plan: who calls whom, when, and what it says."""

from pathlib import Path

import pytest

from lab.hosts.simulator.smtp.verbs import PARSERS, parse_command
from lab.plan.parts import Stranger, TooMuch
from lab.plan.plan import Plan
from lab.planning.moments import moments
from lab.planning.resolve import resolve
from nodes.shell.smtp.inbound_connection import InboundConnection
from tests.lab.hosts.simulator.plans import plan
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed, checked, said

MINUTE_MS = 60_000
ALL_KINDS = "[no-certificate, foreign-certificate, other-server, trickles]"


def planned(folder: Path, strangers: str = "", seed: int = 7) -> Plan:
    """The plan of the sound scenario, with a stream of strangers."""
    stream = f"strangers: [{strangers}]\nsettle:" if strangers else "settle:"
    found = checked(folder, changed(SCENARIO, "settle:", stream))
    assert said(found) == []
    [scenario] = found.scenarios
    return resolve(scenario.scenario, scenario.topology, seed)


@pytest.fixture
def eight(tmp_path: Path) -> tuple[Stranger, ...]:
    """Two of each kind."""
    return planned(tmp_path, f"{{who: {ALL_KINDS}, at: 2m, for: 8m, rate: 1/m}}").strangers


def test_kinds_take_turns_and_each_calls_the_servers_in_turn(eight: tuple[Stranger, ...]) -> None:
    assert [stranger.id for stranger in eight] == [f"s{number}" for number in range(1, 9)]
    kinds = [stranger.kind for stranger in eight]
    assert kinds[:4] == kinds[4:] == ALL_KINDS.strip("[]").split(", ")
    assert [stranger.server for stranger in eight] == ["par-mbx1"] * 4 + ["par-mbx2"] * 4


def test_each_has_a_moment_of_its_own_slot(eight: tuple[Stranger, ...]) -> None:
    assert [stranger.at_ms // MINUTE_MS for stranger in eight] == list(range(2, 10))


def test_who_shows_another_servers_certificate_asks_in_the_name_of_a_third(
    eight: tuple[Stranger, ...],
) -> None:
    for stranger in eight[2], eight[6]:
        named = {command.split()[1] for command in stranger.commands}
        assert stranger.certificate is not None
        assert len(named | {stranger.server, stranger.certificate}) == 3
        assert named.isdisjoint({stranger.server, stranger.certificate})


def test_who_trickles_is_never_quiet_for_long_and_goes_on_for_too_long(
    eight: tuple[Stranger, ...],
) -> None:
    trickle = eight[3].trickle
    assert trickle is not None
    assert eight[3].commands == ()
    assert trickle.every_ms < 5 * MINUTE_MS
    assert trickle.for_ms > 2 * 10 * MINUTE_MS


def test_who_has_bare_line_ends_says_a_message_at_once(tmp_path: Path) -> None:
    [stranger] = planned(tmp_path, "{who: bare-line-ends, at: 2m, for: 1m, rate: 1/m}").strangers
    assert stranger.commands == ()
    assert stranger.trickle is not None
    assert (stranger.trickle.every_ms, stranger.trickle.for_ms) == (0, 0)


def test_what_is_beyond_a_limit_is_just_beyond_it(tmp_path: Path) -> None:
    kinds = "[too-large, too-many-hops, too-many-local-hops]"
    stream = f"{{who: {kinds}, at: 2m, for: 3m, rate: 1/m}}"
    large, hops, local = (each.too_much for each in planned(tmp_path, stream).strangers)
    assert large == TooMuch((), 10 * 1_048_576 + 1)
    assert (hops and len(hops.received_by), local and len(local.received_by)) == (61, 9)
    assert local is not None
    assert {name.partition(".")[2] for name in local.received_by} == {"shadowlab.example"}


@pytest.mark.parametrize(
    ("kind", "count", "last"),
    [
        ("too-many-recipients", 203, "RCPT TO:<"),
        ("unknown-recipients", 3, "RCPT TO:<nobody2@"),
        ("no-commands", 7, "NONSENSE 7"),
    ],
)
def test_commands_beyond_a_limit_go_on_for_a_little(
    tmp_path: Path, kind: str, count: int, last: str
) -> None:
    [stranger] = planned(tmp_path, f"{{who: {kind}, at: 2m, for: 1m, rate: 1/m}}").strangers
    assert len(stranger.commands) == count
    assert stranger.commands[-1].startswith(last)
    assert (stranger.trickle, stranger.too_much) == (None, None)


def test_strangers_know_every_verb_of_the_organisation_and_its_grammar(
    eight: tuple[Stranger, ...],
) -> None:
    verbs = {name.removeprefix("smtp_") for name in vars(InboundConnection) if "smtp_X" in name}
    assert verbs == set(PARSERS)
    for_clients = {"XOUTBOX"}
    assert {command.split()[0] for command in eight[0].commands} == verbs - for_clients
    for stranger in eight:
        assert all(parse_command("in-1", command) for command in stranger.commands)
    assert parse_command("in-1", "XNOTHING x") is None
    assert parse_command("in-1", "XMOUNT DB1 soon") is None


def test_where_there_is_one_other_server_it_asks_in_the_name_of_whom_it_calls(
    tmp_path: Path,
) -> None:
    topology = TOPOLOGY.replace("  lyo-mbx1: {role: mailbox, site: lyon, dag: DAG1}\n", "")
    scenario = "".join(line for line in SCENARIO.splitlines(True) if "site lyon" not in line)
    called = "strangers: [{who: other-server, at: 1m, for: 1m, rate: 1/m}]\nsettle:"
    found = checked(tmp_path, changed(scenario, "settle:", called), topology)
    assert said(found) == []
    [stranger] = resolve(found.scenarios[0].scenario, found.scenarios[0].topology, 7).strangers
    assert (stranger.server, stranger.certificate) == ("par-mbx1", "par-mbx2")
    assert stranger.commands[1] == "XQDISCARD par-mbx1 - 0"


def test_another_server_takes_two(tmp_path: Path) -> None:
    topology = """\
version: 1
topology: pair
sites: {paris: {}, internet: {outside: true}}
servers: {par-mbx1: {role: mailbox, site: paris}}
databases: {DB1: {copies: [par-mbx1]}}
mailboxes: {DB1: 4}
"""
    scenario = """\
version: 1
scenario: sound
summary: One server.
topology: pair
workload: [{mail: inbound, at: 1m, for: 2m, rate: 1/m}]
strangers: [{who: [trickles, other-server], at: 1m, for: 2m, rate: 1/m}]
"""
    assert said(checked(tmp_path, scenario, topology)) == [
        "6:30: strangers[0].who[1], other-server, needs another mailbox server, whose certificate"
        " it shows | add a server, or leave it out"
    ]


def test_a_run_goes_on_after_the_last_of_them(tmp_path: Path) -> None:
    plan = planned(tmp_path, "{who: trickles, at: 30m, for: 10m, rate: 1/m}")
    assert plan.duration_ms == 50 * MINUTE_MS
    assert plan.workload_end_ms == 21 * MINUTE_MS
    assert "first stranger" in [moment.what for moment in moments(plan)]


def test_strangers_change_nothing_else_that_is_drawn(tmp_path: Path) -> None:
    without = planned(tmp_path)
    among = planned(tmp_path, f"{{who: {ALL_KINDS}, at: 2m, for: 8m, rate: 1/m}}")
    assert (without.messages, without.faults) == (among.messages, among.faults)


def test_a_plan_without_strangers_does_not_name_them(tmp_path: Path) -> None:
    assert '"strangers"' not in planned(tmp_path).to_json()


def test_a_plan_with_strangers_is_read_back() -> None:
    called = plan("strangers-call", 1)
    assert called.strangers
    assert Plan.from_json(called.to_json()) == called
