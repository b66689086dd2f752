"""What a few lines can blow up is refused as a whole, at the entry that goes too far.

Each row exchanges one part of the sound scenario for something small that asks for very much.
"""

from pathlib import Path

import pytest

from lab.scenario.topology import MAILBOXES_IN_ALL_MAX
from lab.validation import limits
from lab.validation.model_reader import MISTAKES_MAX
from lab.validation.validate import check
from tests.lab.scenario.sample_scenario import SCENARIO, TOPOLOGY, changed, checked, said, write

STREAM = "{mail: inbound, at: 1m, for: 1000m, rate: 100/m, retry: 1h}"
OUTBOUND = "  - {mail: outbound, at: 1m, for: 20m, rate: 1/m, from: {database: DB1}}\n"
CUT = "  - {at: 12m, for: 5m, cut: {from: site lyon, to: site paris, kind: stall}}\n"
RESTART = "{at: 1m, restart: par-mbx2}"
DRAWN = "{random: {during: 1m..20m, faults: [slow], count: 0..200, for: 1s, at_most: none}}"

TOO_MUCH = {
    "a stream repeated by an alias": (
        OUTBOUND,
        f"  - &m {STREAM}\n" + "  - *m\n" * 2_800,
        "13:5: workload[1], 100200 with those before it, messages, and 100000 is the most of a"
        " scenario | send fewer",
    ),
    "recipients of many messages": (
        OUTBOUND,
        f"  - {STREAM[:-1]}, recipients: 4}}\n".replace("100/m", "90/m"),
        "13:5: workload[1], 360200 with those before it, recipients of messages, and 300000 is"
        " the most of a scenario | send fewer messages, or to fewer recipients",
    ),
    "large messages": (
        OUTBOUND,
        OUTBOUND.replace("rate: 1/m", "rate: 10/m, size: 10MiB"),
        "13:5: workload[1], 2001 with those before it, MiB of mail, and 1000 is the most of a"
        " scenario | send fewer messages, or smaller ones",
    ),
    "a sender that never rests": (
        OUTBOUND,
        OUTBOUND.replace("rate: 1/m", "rate: 10/m, retry: 00:00:00.001"),
        "13:5: workload[1], 360006000 with those before it, attempts if servers refuse to the end"
        " of the run, and 20000000 is the most of a scenario"
        " | make retry longer, send fewer messages, or let the run end earlier",
    ),
    "strangers without end": (
        "settle:",
        "strangers: [{who: trickles, at: 1m, for: 20m, rate: 10/s}]\nsettle:",
        "17:13: strangers[0], 12000, strangers, and 10000 is the most of a scenario | write fewer",
    ),
    "faults repeated by an alias": (
        CUT,
        f"  - &r {RESTART}\n" + "  - *r\n" * 500,
        "16:5: faults[400], 401 with those before it, faults, and 400 is the most of a scenario"
        " | write fewer",
    ),
    "schedules that may draw too many": (
        CUT,
        f"  - {DRAWN}\n" * 2,
        "17:5: faults[2], 401 with those before it, faults, and 400 is the most of a scenario"
        " | write fewer",
    ),
    "operations repeated by an alias": (
        "settle:",
        "operations:\n  - &o {at: 1m, failover: DB1}\n" + "  - *o\n" * 300 + "settle:",
        "18:5: operations[200], 301, operations, and 200 is the most of a scenario | write fewer",
    ),
    "a run over a year": (
        "settle: 10m",
        "settle: 300d",
        "17:9: settle, 300.00:21:00, is how long the run takes, and 30.00:00:00 is the most"
        " | let mail, faults, operations and settle end earlier",
    ),
    "a fault that ends too late": (
        "at: 12m, for: 5m,",
        "at: 12m, for: 40d,",
        "16:5: faults[1], 40.00:22:00, is how long the run takes, and 30.00:00:00 is the most"
        " | let mail, faults, operations and settle end earlier",
    ),
    "a time of a thousand years": (
        "settle: 10m",
        "settle: 365000d",
        "17:9: settle, '365000d', is out of range | a time is 365d at most",
    ),
    "a place that is reached too often": (
        "at: 12m,",
        f"when: {{server: par-mbx1, at: before-shadow-250, nth: {10**30}}},",
        f"16:59: faults[1].when.nth, {10**30}, must be at most 99999",
    ),
    "a loss that no number holds": (
        "lost: 0",
        f"lost: {10**40}",
        f"19:9: expect.lost, {10**30}, must be at most 999999",
    ),
    "a clock that hardly moves": (
        "speed: 60",
        "speed: 1.0e-300",
        "10:16: clock.speed, 1e-300, must be 0.1 or more",
    ),
}


@pytest.mark.parametrize(("old", "new", "mistake"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_a_few_lines_blow_up_is_refused(
    tmp_path: Path, old: str, new: str, mistake: str
) -> None:
    assert mistake in said(checked(tmp_path, changed(SCENARIO, old, new)))


def test_heartbeats_of_all_servers_over_the_whole_run_are_counted(tmp_path: Path) -> None:
    servers = "".join(f"  s{n}: {{role: mailbox, site: lyon, dag: DAG1}}\n" for n in range(20))
    text = changed(SCENARIO, "Frequency: 1m", "Frequency: 1s")
    text = changed(text, "settle: 10m", "settle: 29d")
    topology = changed(TOPOLOGY, "dags:", f"{servers}dags:")
    [mistake] = said(checked(tmp_path, text, topology))
    assert "heartbeats in the run, and 20000000 is the most of a scenario" in mistake
    assert mistake.startswith("8:47: settings.TransportConfig.ShadowHeartbeatFrequency, ")


def test_what_is_just_within_the_limits_is_no_mistake(tmp_path: Path) -> None:
    count = limits.MESSAGES_MAX - 200
    stream = f"  - {{mail: inbound, at: 1m, for: {count}s, rate: 1/s, retry: 1d}}\n"
    assert said(checked(tmp_path, changed(SCENARIO, OUTBOUND, stream))) == []


def test_mailboxes_of_all_databases_are_counted_together(tmp_path: Path) -> None:
    many = range(MAILBOXES_IN_ALL_MAX // 999 + 1)
    databases = "".join(f"  D{n}: {{copies: [par-mbx2]}}\n" for n in many)
    mailboxes = ", ".join(f"D{n}: 999" for n in many)
    topology = changed(TOPOLOGY, "databases:\n", f"databases:\n{databases}")
    topology = changed(topology, "{DB1: 4}", f"{{DB1: 4, {mailboxes}}}")
    [mistake] = said(checked(tmp_path, topology=topology))
    assert "mailboxes, 10993, mailboxes in all, and 10000 is the most of a topology" in mistake


def test_active_managers_count_as_servers(tmp_path: Path) -> None:
    managers = "{{active_manager: {{name: am{0}, site: lyon}}}}"
    dags = f"dags: {{DAG1: {managers.format(1)}, DAG2: {managers.format(2)}}}"
    more = (f"  s{n}: {{role: mailbox, site: lyon, dag: DAG2}}\n" for n in range(26))
    topology = changed(TOPOLOGY, "dags: {DAG1: {}}\n", f"{''.join(more)}{dags}\n")
    [mistake] = said(checked(tmp_path, topology=topology))
    said_so = "no room for 2 Active Managers beside 30 servers: 31 is the most in all"
    assert said_so in mistake
    assert said(checked(tmp_path, topology=changed(topology, "  s0: ", "# s0: "))) == []


def test_a_file_full_of_mistakes_names_the_first_hundred(tmp_path: Path) -> None:
    path = write(tmp_path, changed(SCENARIO, "tags: [nightly]", f"tags: [{'A, ' * 5_000}]"))
    found = check([path]).mistakes
    assert len(found) == MISTAKES_MAX + 1
    assert found[0].rule == "has at least 4900 mistakes more"


def test_names_that_are_not_there_are_named_a_hundred_times_at_most(tmp_path: Path) -> None:
    text = changed(SCENARIO, "via: par-mbx1", f"via: [{'par, ' * 5_000}]")
    assert len(check([write(tmp_path, text)]).mistakes) == MISTAKES_MAX
