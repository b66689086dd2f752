"""Strangers over real SMTP and TLS: what a real node says to each kind, and what the record has."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.clock import LabClock, parse_origin
from lab.hosts.containers.ground import certificates as authority
from lab.plan.parts import Stranger, StrangerKind, TooMuch, Trickle
from lab.workload.program import Container
from lab.workload.smtp_attempt import Patience, Target
from lab.workload.stranger_record import StrangerRecord
from lab.workload.strangers import Strangers, contexts
from tests.lab.workload.scripted_server import LOST, SILENT, Script, serving, unused_port
from tests.nodes.shell.organisation import DOMAIN, ORIGIN, Organisation, fqdn
from tests.nodes.shell.running import running
from tests.nodes.shell.waiting import DEADLINE_S, until_async

SERVER, OTHER = "par-mbx1", "par-mbx2"
SPEED = 600.0
NOT_ALLOWED = "550 5.7.1 Not authorized"
VERBS = ("XSHADOWREQUEST lyo-mbx1 x 1 x", "XQDISCARD lyo-mbx1 - 0")
FOR_ALL = (*VERBS, "XRESUBMIT LIST", "XMOUNT DB1 1")
TRICKLE = Trickle("trickler@outside.example", f"db1-user01@{DOMAIN}", 75_000, 21 * 60_000)

Row = dict[str, Any]
Call = Callable[..., list[Row]]


def stranger(kind: StrangerKind, commands: tuple[str, ...] = (), **more: Any) -> Stranger:
    certificate = OTHER if kind == "other-server" else None
    trickle = more.get("trickle", TRICKLE if kind == "trickles" else None)
    return Stranger("s1", kind, 0, SERVER, certificate, commands, trickle)


def replies(rows: list[Row]) -> list[tuple[str, str]]:
    return [(row["command"], row["reply"]) for row in rows if row["type"] == "reply"]


class Caller:
    """Calls a server at a port, with the certificates of a run in a folder."""

    def __init__(self, folder: Path, zero_ns: int, step_seconds: float = 10) -> None:
        self._tls = contexts(folder)
        self._clock = LabClock(parse_origin(ORIGIN), SPEED, zero_ns)
        self._patience = Patience(step_seconds, step_seconds)
        self.lines: list[str] = []

    async def call(self, port: int, who: Stranger) -> None:
        target = {SERVER: Target(SERVER, "127.0.0.1", port, fqdn(SERVER))}
        record = StrangerRecord(self.lines.append, self._clock.lab_ms)
        calling = Strangers([who], target, self._clock, record, self._tls, self._patience)
        await asyncio.wait_for(calling.run(), DEADLINE_S)

    @property
    def rows(self) -> list[Row]:
        return [json.loads(line) for line in self.lines]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """What a stranger hears of a real node, whose authority also made the certificates."""
    organisation = Organisation(tmp_path / "organisation", speed=SPEED)
    tls = tmp_path / "tls"

    async def act(who: Stranger) -> list[Row]:
        zero_ns = time.monotonic_ns()
        organisation.start_lab_time(zero_ns)
        _certify(organisation, tls)
        caller = Caller(tls, zero_ns)
        async with running(organisation, SERVER) as port:
            await caller.call(port, who)
        return caller.rows

    return lambda who: asyncio.run(act(who))


def _certify(organisation: Organisation, tls: Path) -> None:
    """As `lab.hosts.containers.ground.certificates` does it; the foreign one is that of another
    run.
    """
    authority.issue(tls.parent / "another", {SERVER: fqdn(SERVER)}, [])
    foreign = tls.parent / "another" / "workload" / "tls" / "strangers"
    (tls / "strangers").mkdir(parents=True)
    (tls / "authority.pem").write_bytes(organisation.authority.file.read_bytes())
    files = {"foreign": (foreign / "foreign.pem", foreign / "foreign.key")}
    files[OTHER] = organisation.authority.issue(fqdn(OTHER))
    for name, (certificate, key) in files.items():
        (tls / "strangers" / f"{name}.pem").write_bytes(certificate.read_bytes())
        (tls / "strangers" / f"{name}.key").write_bytes(key.read_bytes())


def test_who_shows_no_certificate_is_refused_over_tls(call: Call) -> None:
    rows = call(stranger("no-certificate", FOR_ALL))
    banner, hello, tls, again, *answers = replies(rows)
    assert [banner[0], hello[0], tls[0], again[0]] == ["banner", "EHLO", "STARTTLS", "EHLO"]
    assert "STARTTLS" in hello[1]
    assert "XSHADOWREQUEST" not in hello[1] + again[1]
    assert answers == [(command, NOT_ALLOWED) for command in FOR_ALL]
    assert (rows[-1]["type"], rows[-1]["outcome"]) == ("end", "done")


def test_a_foreign_certificate_ends_the_session(call: Call) -> None:
    rows = call(stranger("foreign-certificate", FOR_ALL))
    assert [command for command, _ in replies(rows)][:2] == ["banner", "EHLO"]
    assert not [command for command, _ in replies(rows) if command in FOR_ALL]
    assert rows[-1]["outcome"] == "closed"


def test_a_server_is_refused_in_the_name_of_another(call: Call) -> None:
    rows = call(stranger("other-server", VERBS))
    *_, hello, first, second = replies(rows)
    assert "XSHADOWREQUEST " in hello[1]
    assert [first, second] == [(command, NOT_ALLOWED) for command in VERBS]


def test_a_server_may_use_the_verbs_that_are_its_own(call: Call) -> None:
    """So it is the certificate that counts."""
    own = f"XQDISCARD {OTHER} - 0"
    [*_, answer] = replies(call(stranger("other-server", (own,))))
    assert answer[1].startswith("250 DatabaseId=")


@pytest.mark.parametrize("number", range(5))
def test_who_has_bare_line_ends_is_refused_behind_the_dot(call: Call, number: int) -> None:
    at_once = Trickle("trickler@outside.example", f"db1-user01@{DOMAIN}", 0, 0)
    who = replace(stranger("bare-line-ends", trickle=at_once), id=f"s{number}")
    rows = call(who)
    assert [command for command, _ in replies(rows)][-2:] == ["DATA", "."]
    assert replies(rows)[-1][1].startswith("550 5.6.11 ")
    assert rows[-1]["outcome"] == "done"


AT_ONCE = Trickle("trickler@outside.example", f"db1-user01@{DOMAIN}", 0, 0)


@pytest.mark.parametrize(
    ("kind", "too_much", "reply"),
    [
        ("too-large", TooMuch((), 10 * 1_048_576 + 1), "552 5.3.4 Message size exceeds fixed"),
        ("too-many-hops", TooMuch(("elsewhere.example",) * 61, 0), "554 5.4.6 Hop count exceeded"),
        ("too-many-local-hops", TooMuch((fqdn(OTHER),) * 9, 0), "554 5.4.6 Hop count exceeded"),
    ],
)
def test_a_message_beyond_a_limit_is_refused_behind_its_dot(
    call: Call, kind: StrangerKind, too_much: TooMuch, reply: str
) -> None:
    rows = call(replace(stranger(kind, trickle=AT_ONCE), too_much=too_much))
    assert [command for command, _ in replies(rows)][-2:] == ["DATA", "."]
    assert replies(rows)[-1][1].startswith(reply)
    assert rows[-1]["outcome"] == "done"


def test_a_message_within_the_limits_is_taken(call: Call) -> None:
    within = TooMuch((fqdn(OTHER),) * 8, 4096)
    rows = call(replace(stranger("too-many-local-hops", trickle=AT_ONCE), too_much=within))
    assert replies(rows)[-1][1].startswith("250 2.6.0 <s1@stranger.example> ")


def test_whoever_says_no_commands_is_sent_away(call: Call) -> None:
    """The last word may come with the reply before it, and is not waited for then."""
    rows = call(stranger("no-commands", tuple(f"NONSENSE {number}" for number in range(7))))
    said = [reply for command, reply in replies(rows) if command.startswith("NONSENSE")]
    assert said == ["500 5.3.3 Unrecognized command"] * 5
    assert rows[-1]["outcome"] in ("refused", "closed")


def test_recipients_are_said_one_by_one(call: Call) -> None:
    """One of nobody is refused after TarpitInterval."""
    named = (f"db1-user01@{DOMAIN}", f"nobody1@{DOMAIN}")
    commands = ("MAIL FROM:<a@outside.example>", *(f"RCPT TO:<{each}>" for each in named))
    *_, known, unknown, end = call(stranger("unknown-recipients", commands))
    assert known["reply"] == "250 2.1.5 Recipient OK"
    assert unknown["reply"].startswith("550 5.1.10 ")
    assert unknown["at_ms"] - known["at_ms"] >= 5_000
    assert end["outcome"] == "done"


def test_who_trickles_is_cut_and_hears_why(call: Call) -> None:
    rows = call(stranger("trickles"))
    assert replies(rows)[-1][0] == "DATA"
    assert replies(rows)[-1][1].startswith("354")
    end = rows[-1]
    assert (end["outcome"], end["reply"]) == ("refused", "421 4.4.1 Connection timed out")
    assert 1 <= end["sent_bytes"] <= 8


def heard_of(folder: Path, script: Script | None, who: Stranger, step_seconds: float = 10) -> Row:
    """The end of a call of a scripted server, or of nobody."""
    authority.issue(folder, {SERVER: fqdn(SERVER)}, [])
    caller = Caller(folder / "workload" / "tls", time.monotonic_ns(), step_seconds)

    async def act() -> None:
        if script is None:
            await caller.call(unused_port(), who)
            return
        async with serving(script) as port:
            await caller.call(port, who)

    asyncio.run(act())
    return caller.rows[-1]


@pytest.mark.parametrize(
    ("script", "outcome", "reply"),
    [
        (None, "closed", None),
        (Script(ehlo=LOST), "closed", None),
        (Script(ehlo=SILENT), "timed-out", None),
        (Script(banner="421 4.3.2 Service not active"), "refused", "421 4.3.2 Service not active"),
        (Script(rcpt="421 4.3.2 Service not active"), "refused", "421 4.3.2 Service not active"),
        (Script(rcpt="550 5.1.10 not here"), "refused", None),
        (Script(data="451 4.3.0 later"), "refused", None),
    ],
)
def test_a_call_that_comes_to_nothing_says_how_it_ended(
    tmp_path: Path, script: Script | None, outcome: str, reply: str | None
) -> None:
    waits_s = 0.3 if outcome == "timed-out" else 10
    end = heard_of(tmp_path, script, stranger("trickles"), waits_s)
    assert (end["type"], end["outcome"], end["reply"]) == ("end", outcome, reply)
    assert end["sent_bytes"] == 0


def test_who_is_never_cut_gives_up(tmp_path: Path) -> None:
    short = Trickle("trickler@outside.example", "a@b.example", 6_000, 60_000)
    end = heard_of(tmp_path, Script(), stranger("trickles", trickle=short))
    assert (end["outcome"], end["sent_bytes"]) == ("gave-up", 10)


def test_strangers_call_from_the_container_of_the_workload(tmp_path: Path) -> None:
    """Beside its mail; who is stopped in the middle says so."""
    authority.issue(tmp_path, {SERVER: fqdn(SERVER)}, [])
    folder = tmp_path / "workload"
    who = {"id": "s1", "kind": "trickles", "at_ms": 0, "server": SERVER, "certificate": None,
           "commands": [], "trickle": {"sender": "t@x.example", "recipient": "a@b.example",
                                       "every_ms": 60_000, "for_ms": 3_600_000}}  # fmt: skip
    plan = {"clock": {"origin": ORIGIN, "speed": 60}, "duration_ms": 600_000, "messages": [],
            "strangers": [who]}  # fmt: skip
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "start.json").write_text(json.dumps({"monotonic_zero_ns": time.monotonic_ns()}))

    def heard() -> list[Row]:
        file = folder / "strangers.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    async def act() -> None:
        async with serving(Script()) as port:
            target = {SERVER: {"address": f"127.0.0.1:{port}", "fqdn": fqdn(SERVER)}}
            (folder / "targets.json").write_text(json.dumps(target))
            container = Container(folder, folder / "start.json")
            living = asyncio.create_task(container.run("127.0.0.1", 0, lambda _: None))
            await until_async(lambda: len(heard()) == 3 or None, "its DATA", folder)
            container.stop()
            await living

    asyncio.run(act())
    assert [row.get("command") for row in heard()] == ["banner", "EHLO", "DATA", None]
    assert heard()[-1]["outcome"] == "stopped"
