"""What a record says twice, and not alike: each is damage of its file, of no server's log.

Only records that the lab made are asked: their plans name what they send.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.next.read.contradictions.clocks import of_clocks
from spark_eval.next.read.contradictions.journals import of_journals
from spark_eval.next.read.contradictions.messages import of_messages
from spark_eval.next.read.contradictions.servers import of_servers
from spark_eval.next.read.contradictions.whole_files import of_whole_files
from spark_eval.next.read.damage import Damage
from spark_eval.next.read.record import Record


def contradictions(record: Record) -> Iterator[Damage]:
    yield from of_whole_files(record)
    if record.is_made:
        for asked in (of_messages, of_journals, of_clocks, of_servers):
            yield from asked(record)
