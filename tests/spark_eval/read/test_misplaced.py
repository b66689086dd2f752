"""Logs where the plan has no server, and servers without a log."""

from __future__ import annotations

from spark_eval.read.damage import NO_SUCH_SERVER, NO_TRACKING
from spark_eval.read.folder.files import MemoryFiles
from spark_eval.read.heading import heading_of
from spark_eval.read.misplaced import misplaced
from tests.spark_eval.runs.run_builder import healthy

LOG = "MSGTRK2026010508-1.LOG"
MESSAGE = {"message_id": "<a@b>", "at_ms": 0, "recipients": ["a@b"], "via": ["par-mbx1"]}


def found(*names: str, without: str = "") -> list[tuple[str, str]]:
    """Of a run that the lab made, with these files beside its own."""
    run = healthy()
    run.plan["messages"] = [MESSAGE]
    files = {name: text.encode() for name, text in run.texts().items()}
    files |= dict.fromkeys(names, b"")
    files.pop(without, None)
    return [(each.file, each.damage) for each in misplaced(heading_of(MemoryFiles(files)))]


def test_what_the_lab_logs_of_its_ground_is_no_servers() -> None:
    assert found("logs/ground/ansible.log", "logs/toxiproxy/stderr.log") == []


def test_a_log_of_a_server_that_the_plan_lacks_is_named() -> None:
    assert found(f"logs/ros-mbx1/{LOG}") == [(f"logs/ros-mbx1/{LOG}", NO_SUCH_SERVER)]


def test_a_server_without_its_log_is_named() -> None:
    lost = f"logs/lyo-mbx1/{LOG}"
    assert found(without=lost) == [("logs/lyo-mbx1/", NO_TRACKING)]
