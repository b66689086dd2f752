"""Events of message tracking logs are counted by the place that their `#Fields:` line gives."""

from tests.scenarios.events import of_tracking_logs

LOG = ["#Fields: date-time,event-id,source", '"a, b",FAIL,SMTP', "c,DEFER,SMTP", "d,FAIL,SMTP"]


def test_events_are_those_of_tracking_logs_alone() -> None:
    files = {"logs/par-mbx1/MSGTRK2026010508-1.LOG": LOG, "ledger.jsonl": ["d,FAIL"]}
    assert list(of_tracking_logs(files)) == ["FAIL", "DEFER", "FAIL"]
