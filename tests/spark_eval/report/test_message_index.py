"""The index by which a page finds a message: whole where it can be, bounded, and honest."""

from __future__ import annotations

import json

from spark_eval.report.message_index import MOST_BYTES, message_index
from tests.spark_eval.runs.report_rows import message


def test_says_of_each_recipient_when_it_had_the_message_or_why_not() -> None:
    index = json.loads(message_index([message(1, "lost"), message(2)], {"<m>": "story-1"}))
    [lost, made] = index["messages"]
    assert lost[0] + index["tails"][lost[1]] == message(1)["message_id"]
    assert (index["recipients"][lost[3]], lost[4]) == ("db1-user01@shadowlab.example", "lost")
    assert (made[2], made[4]) == (300, 122)
    assert (index["whole"], index["stories"]) == (True, {"<m>": "story-1"})


def test_is_bounded_and_says_that_it_is_not_whole() -> None:
    text = message_index([message(number) for number in range(40_000)], {})
    assert len(text.encode()) <= MOST_BYTES + 1000
    assert json.loads(text)["whole"] is False


def test_nothing_in_it_can_end_the_script_element_that_carries_it() -> None:
    row = message(1) | {"message_id": "<</script><b>@x>"}
    assert "<" not in message_index([row], {})
