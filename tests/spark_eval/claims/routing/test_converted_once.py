from __future__ import annotations

from collections.abc import Callable

import pytest

from spark_eval.claims.routing.converted_once import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import (
    HOUR,
    MINUTE,
    SECOND,
    Message,
    Row,
    Run,
    digest,
    empty,
    made,
    user,
)

QP = "quoted-printable"
BEFORE, AFTER = 4096, 4268
ONE, STAFF = user(1), "staff@shadowlab.example"
PRIMARY, SHADOW, HOLDER = "par-mbx1", "lyo-mbx1", "par-mbx2"
LATER = ("SEND", "DELIVER")


def organisation(encoder: str = "UseQP") -> Run:
    run = empty()
    run.plan["settings"]["TransportConfig"]["ByteEncoderTypeFor7BitCharsets"] = encoder
    return run


def transfer(run: Run, server: str, message: Message, at_ms: int, size: int = AFTER) -> Row:
    return run.log(server, "TRANSFER", "ROUTING", at_ms, message, total_bytes=size)


def stored(row: Row) -> None:
    """As it is where it was converted: what it says, once it is decoded, is what it said."""
    told = {f"decoded_{name.removeprefix('content_')}": row[name] for name in digest("")}
    row |= {**told, "content_bytes": AFTER, "body_sha256": "1" * 16, "header_sha256": "2" * 16}
    row["content_transfer_encoding"] = QP


def convert(run: Run, message: Message) -> None:
    """Whatever the primary server did with it, it did when it was converted."""
    for server, rows in run.tracking.items():
        for row in rows:
            is_its = row["message-id"] == message.message_id and row["event-id"] in LATER
            if is_its and server in (PRIMARY, HOLDER):
                row["total-bytes"] = AFTER
    for row in (*run.mailboxes["DB1"], *run.external["ext1"]):
        stored(row)
    for row in run.queues.get(PRIMARY, ()):
        row["content_transfer_encoding"] = QP


def one(*, to: str = ONE) -> tuple[Run, Message]:
    """Received, converted, delivered, let go."""
    run = organisation()
    message = run.deliver(MINUTE, [to])
    transfer(run, PRIMARY, message, MINUTE + 600)
    convert(run, message)
    return run, message


def well() -> Run:
    return one()[0]


def changed(change: Callable[[Run, Message], object]) -> Run:
    run, message = one()
    change(run, message)
    return run


def seen(run: Run) -> Row:
    return run.mailboxes["DB1"][0]


def sized(event: str, server: str, size: int) -> Run:
    run = well()
    for row in run.rows(server, event):
        row["total-bytes"] = size
    return run


def expanded(at_ms: int, size: int) -> Run:
    run, message = one()
    run.log(PRIMARY, "EXPAND", "ROUTING", at_ms, message, reference=STAFF, total_bytes=size)
    return run


def promoted(*, size: int = BEFORE, is_converted: bool = True) -> Run:
    run = organisation()
    message = run.accept(MINUTE, [ONE])
    transfer(run, PRIMARY, message, MINUTE + 600)
    row = run.promote(message, 2 * HOUR, "resubmit-time-span")
    row["total-bytes"] = size
    if is_converted:
        again = run.log(
            SHADOW, "TRANSFER", "ROUTING", 2 * HOUR + 100, message,
            internal_id=row["internal-message-id"], total_bytes=AFTER,
        )  # fmt: skip
        assert again["total-bytes"] == AFTER
    for server in (PRIMARY, SHADOW, HOLDER):
        for each in run.tracking[server]:
            if each["at_ms"] > 2 * HOUR + 200 and each["event-id"] != "HADISCARD":
                each["total-bytes"] = AFTER
    for each in run.mailboxes["DB1"]:
        stored(each)
    run.queues.clear()
    return run


def given_back(source: str, size: int) -> Run:
    """By the server that has a copy of it, which is not delivered again."""
    run, message = one()
    server, copy = (PRIMARY, 0) if source == "primary" else (SHADOW, 1000)
    custom = {"SafetyNet": source, "CopyInternalId": copy + message.internal_id}
    mine = run.next_id()
    run.log(
        server, "RESUBMIT", "SAFETYNET", HOUR, message, internal_id=mine, custom=custom,
        total_bytes=size,
    )  # fmt: skip
    if size == BEFORE:
        run.log(
            server, "TRANSFER", "ROUTING", HOUR + 10, message, internal_id=mine, total_bytes=AFTER
        )
    return run


def kept(server: str, encoding: str | None) -> Run:
    run = well()
    for row in run.queues[server]:
        row["content_transfer_encoding"] = encoding
    return run


def without_transfer(run: Run, _: Message) -> None:
    run.remove(PRIMARY, "TRANSFER")


def unencoded(run: Run, message: Message) -> None:
    for name in [each for each in seen(run) if "decoded" in each or "encoding" in each]:
        del seen(run)[name]
    seen(run).update(digest(message.message_id))


def elsewhere() -> Run:
    run = organisation("Use7Bit")
    run.deliver(MINUTE, [ONE])
    return run


HOLDS = {
    "once": well(),
    "outside": one(to="someone@partner.example")[0],
    "behind-its-groups": expanded(MINUTE + 550, BEFORE),
    "promoted": promoted(),
    "from-a-primary-safety-net": given_back("primary", AFTER),
    "from-a-shadow-safety-net": given_back("shadow", BEFORE),
}
VIOLATED = {
    "not-converted": (changed(without_transfer), "logs 0 conversions of 4096 bytes"),
    "seen-as-it-was-sent": (changed(unencoded), "DB1 has it as it was sent"),
    "in-another-encoding": (
        changed(lambda run, _: seen(run).update(content_transfer_encoding="base64")),
        "DB1 has it base64",
    ),
    "not-what-was-sent": (
        changed(lambda run, _: seen(run).update(decoded_body_sha256="3" * 16)),
        "decoded it is not what was sent",
    ),
    "of-another-size": (
        changed(lambda run, _: seen(run).update(content_bytes=AFTER + 1)), "4268 were made of it",
    ),
    "converted-twice": (
        changed(lambda run, message: transfer(run, PRIMARY, message, MINUTE + 700)),
        "logs 2 conversions",
    ),
    "sent-as-received": (sized("SEND", PRIMARY, BEFORE), "logs SEND of it with 4096 bytes"),
    "sent-before": (
        changed(lambda run, _: run.rows(PRIMARY, "TRANSFER")[0].update(
            at_ms=MINUTE + 3 * SECOND, custom={
                **run.rows(PRIMARY, "TRANSFER")[0]["custom"], "Mono": 9_000_000_000_000
            })),
        "logs SEND of it",
    ),
    "before-its-groups": (expanded(MINUTE + 800, BEFORE), f"expands {STAFF}"),
    "groups-of-the-converted": (expanded(MINUTE + 550, AFTER), f"expands {STAFF} with 4268"),
    "shadow-of-the-converted": (
        sized("HARECEIVE", SHADOW, AFTER), "4268 bytes; its primary server was given 4096",
    ),
    "promoted-converted": (
        promoted(size=AFTER, is_converted=False), "4268 bytes; it was held with 4096",
    ),
    "promoted-unconverted": (
        promoted(is_converted=False), "had it by RESUBMIT, logs 0 conversions",
    ),
    "primary-safety-net-as-received": (given_back("primary", BEFORE), "stored were 4268"),
    "shadow-safety-net-converted": (given_back("shadow", AFTER), "it was held with 4096"),
    "kept-as-received": (kept(PRIMARY, None), "primary-safety-net of par-mbx1 has it as it was"),
    "kept-converted": (kept(SHADOW, QP), "shadow-safety-net of lyo-mbx1 has it quoted-printable"),
    "nobody-asked-for-it": (
        changed(lambda run, _: run.plan["settings"]["TransportConfig"].update(
            ByteEncoderTypeFor7BitCharsets="Use7Bit")),
        "it was not due",
    ),
}  # fmt: skip
NOTHING = {"elsewhere": elsewhere(), "nothing-sent": organisation()}


def runs() -> dict[str, Run]:
    return made({**HOLDS, **{name: run for name, (run, _) in VIOLATED.items()}, **NOTHING})


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name: str, results: Results) -> None:
    assert results[name].status == "holds", results[name].examples


@pytest.mark.parametrize("name", VIOLATED)
def test_is_violated(name: str, results: Results) -> None:
    result = results[name]
    assert result.status == "violated"
    details = [each.detail for each in result.examples]
    assert any(VIOLATED[name][1] in detail for detail in details), details


@pytest.mark.parametrize("name", NOTHING)
def test_asks_nothing(name: str, results: Results) -> None:
    assert results[name].asked_nothing
