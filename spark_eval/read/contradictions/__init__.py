"""What a record says twice, and not alike: each is damage of its file, of no server's log.

Only records that the lab made are asked: their plans name what they send.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.read.contradictions.clocks import of_clocks, of_senders_clocks
from spark_eval.read.contradictions.journals import of_journals
from spark_eval.read.contradictions.messages import of_messages
from spark_eval.read.contradictions.servers import of_servers
from spark_eval.read.contradictions.whole_files import of_whole_files
from spark_eval.read.damage import Damage
from spark_eval.read.heading import Heading
from spark_eval.read.logs import Logs
from spark_eval.read.mail import Mail
from spark_eval.read.record import Record


def contradictions(record: Record, logs: Logs) -> Iterator[Damage]:
    """Beside those of mail."""
    yield from of_whole_files(record.heading)
    if record.heading.is_made:
        yield from of_journals(record)
        yield from of_clocks(record)
        yield from of_servers(record, logs)


def of_mail(mail: Mail, heading: Heading) -> Iterator[Damage]:
    if heading.is_made:
        yield from of_messages(mail, heading)
        yield from of_senders_clocks(mail, heading)
