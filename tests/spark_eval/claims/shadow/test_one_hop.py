"""Of what redundant_before_ack takes a server to have taken from another one of its boundary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spark_eval.claims.shadow.redundant_before_ack import CLAIM
from tests.spark_eval.claims.conftest import Ask, Results
from tests.spark_eval.runs.run_builder import DOMAIN, HOUR, MINUTE, Run, empty, user

SERVER, PEER = "par-mbx1", "par-mbx2"


def _brought(*, anew: bool) -> Run:
    """A server that had the message lost its queue database, and gets it as mail for a mailbox
    under the id that it had before; `anew`: as one that it answers for.
    """
    run = empty()
    run.kill(PEER, 30 * MINUTE, 31 * MINUTE, new_database=True)
    run.database_ids[PEER] = f"{PEER}-first"
    message = run.accept(MINUTE, [user(1)], primary=PEER, shadow=SERVER)
    run.database_ids[PEER] = f"{PEER}-second"
    mine = replace(message, primary=SERVER, internal_id=run.next_id())
    event, source = ("RECEIVE", "SMTP") if anew else ("DELIVER", "STOREDRIVER")
    run.log(PEER, event, source, HOUR, message, source_context="MDB:DB1")
    reply = f"250 2.6.0 {message.message_id} [InternalId={message.internal_id}, Hostname=x] ok"
    run.log(SERVER, "SEND", "SMTP", HOUR + 10, mine, source_context=reply,
            server_hostname=f"{PEER}.{DOMAIN}", custom={"Fork": "database:DB1"})  # fmt: skip
    return run


def runs() -> dict[str, Run]:
    return {"into-a-mailbox": _brought(anew=False), "anew": _brought(anew=True)}


@pytest.fixture(scope="module")
def results(ask: Ask) -> Results:
    return ask(CLAIM)


def test_an_id_of_the_queue_database_before_is_another_message(results: Results) -> None:
    asked = {
        name: [each.detail for each in result.examples if "received it anew" in each.detail]
        for name, result in results.items()
    }
    said = f"{SERVER} sent it to {PEER} in its own boundary, which received it anew"
    assert asked == {"into-a-mailbox": [], "anew": [said]}
