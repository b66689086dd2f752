"""What recipients see is in the record even where they have seen nothing."""

from dataclasses import replace

from lab.hosts.simulator.simulation import simulate
from tests.lab.hosts.simulator.plans import plan


def test_a_mailbox_database_that_never_had_mail_is_empty_and_not_missing() -> None:
    quiet = replace(plan("one-message-in", 1), messages=())
    record = simulate(quiet, keeps_inputs=False)
    mailboxes = {name: lines for name, lines in record.files.items() if "mailboxes/" in name}
    assert mailboxes == {"mailboxes/DB1.jsonl": [], "mailboxes/DB2.jsonl": []}
