"""The whole story of a message: every line that speaks of it, in order, across servers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spark_eval.__main__ import main
from spark_eval.judging.judged import JudgedRun
from spark_eval.read.folder.run_folder import RunFolder, RunFolderError, open_run_folder
from spark_eval.report.page import page_again
from spark_eval.story.terminal import story_lines
from tests.spark_eval.runs.evaluated import evaluated, rows_of
from tests.spark_eval.runs.failover_runs import lossy
from tests.spark_eval.runs.faulty_runs import KILL, Faulty, new_database
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, healthy, mono, user


def _told() -> Faulty:
    """Two messages promoted after a kill, one of them then lost, and a fault long before both."""
    faulty = new_database()
    run, queued = faulty.run, faulty.queued
    run.name = "told"
    run.kill("lyo-mbx2", MINUTE, 2 * MINUTE, fault="f2")
    run.cut("par-mbx2", "lyo-mbx2", 9 * MINUTE, 11 * MINUTE, fault="f3")
    notice = replace(queued, message_id="<dsn.1@par>", network_id="n-dsn")
    run.log("lyo-mbx1", "DSN", "DSN", 17 * MINUTE, notice, reference=queued.message_id)
    nameless = run.log("lyo-mbx1", "DEFER", "SMTP", 16 * MINUTE + 300, queued)
    nameless["message-id"] = ""
    run.mailboxes["DB1"] = [
        row for row in run.mailboxes["DB1"] if row["message_id"] != queued.message_id
    ]
    return faulty


@pytest.fixture(scope="module")
def faulty() -> Faulty:
    return _told()


@pytest.fixture(scope="module")
def folder(faulty: Faulty, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return open_run_folder(faulty.run.write(tmp_path_factory.mktemp("story")))


@pytest.fixture(scope="module")
def lines(folder: RunFolder, faulty: Faulty) -> list[str]:
    return story_lines(folder, faulty.queued.message_id)


@pytest.fixture(scope="module")
def judged(folder: RunFolder) -> JudgedRun:
    return evaluated(folder.path)


def _words(line: str) -> tuple[str, str]:
    """Place, and the first words of what happened there."""
    _, place, what = line.split("  ", 1)[0], *line.split(maxsplit=2)[1:]
    return place, " ".join(what.split("  (")[0].split(",")[0].split()[:4])


def test_a_story_is_every_line_of_a_message_in_order_of_time(lines: list[str]) -> None:
    assert [_words(line) for line in lines] == [
        ("f3", "cut refuse par-mbx2 →"),
        ("workload", "inbound from sender01@outside.example to"),
        ("workload", "attempt 1 at par-mbx1"),
        ("lyo-mbx1", "SMTP HARECEIVE"),
        ("par-mbx1", "SMTP HAREDIRECT"),
        ("par-mbx1", "SMTP RECEIVE"),
        ("workload", "attempt 1 at par-mbx1:"),
        ("f1", "kill par-mbx1: applied"),
        ("f3", "cut refuse par-mbx2 →"),
        ("f1", "kill par-mbx1: healed"),
        ("lyo-mbx1", "REDUNDANCY RESUBMIT"),
        ("lyo-mbx1", "SMTP DEFER"),
        ("par-mbx2", "SMTP HARECEIVE"),
        ("lyo-mbx1", "SMTP HAREDIRECT"),
        ("par-mbx2", "STOREDRIVER DELIVER"),
        ("lyo-mbx1", "SMTP SEND"),
        ("lyo-mbx1", "DSN DSN"),
        ("par-mbx2", "REDUNDANCY HADISCARD"),
        ("lyo-mbx1", "at the end in"),
        ("par-mbx2", "at the end in"),
    ]
    moments = [line.split()[0] for line in lines]
    assert moments == sorted(moments)


def test_each_line_ends_with_its_file_and_line(
    lines: list[str], folder: RunFolder, faulty: Faulty
) -> None:
    for line in lines:
        file, _, number = line.rpartition("(")[2].rstrip(")").rpartition(":")
        text = (folder.path / file).read_text().splitlines()[int(number) - 1]
        known = (faulty.queued.message_id, faulty.queued.network_id, '"fault"')
        assert any(each in text for each in known), (line, text)


def test_faults_that_were_over_before_a_message_was_sent_are_no_part_of_its_story(
    lines: list[str],
) -> None:
    assert not any(" f2 " in line for line in lines)
    assert any("kill par-mbx1: applied" in line for line in lines)
    assert lines[7].startswith(f"0:{KILL // MINUTE}:00.200")


def test_a_message_may_be_named_without_its_brackets(
    folder: RunFolder, faulty: Faulty, lines: list[str]
) -> None:
    assert story_lines(folder, faulty.queued.message_id.strip("<>")) == lines


def test_a_message_that_no_line_is_about_is_a_wrong_call(folder: RunFolder) -> None:
    with pytest.raises(RunFolderError, match="no line is about <nobody@nowhere>"):
        story_lines(folder, "nobody@nowhere")


def test_the_table_of_stories_has_the_lines_of_the_terminal(
    judged: JudgedRun, faulty: Faulty, lines: list[str]
) -> None:
    told = rows_of(judged, "stories")
    mine = [row for row in told if row["message_id"] == faulty.queued.message_id]
    refs = [line.rpartition("(")[2].rstrip(")") for line in lines]
    assert [f"{row['ref']['file']}:{row['ref']['line']}" for row in mine] == refs
    for row, line in zip(mine, lines, strict=True):
        assert f"{row['place']} " in line
        assert row["what"] in line


def test_an_unknown_message_gets_the_nearest_of_the_ledger(
    folder: RunFolder, faulty: Faulty
) -> None:
    mistyped = faulty.queued.message_id.replace("m", "n", 1)
    with pytest.raises(RunFolderError) as refused:
        story_lines(folder, mistyped)
    assert faulty.queued.message_id in refused.value.hint


def test_what_a_server_dated_by_a_wrong_clock_is_placed_in_lab_time(tmp_path: Path) -> None:
    run = healthy()
    run.host["monotonic_zero_ns"] = mono(0)
    run.host["clock_resolution_ms"] = 100
    message = run.deliver(8 * MINUTE, [user(1)])
    for row in run.tracking["lyo-mbx1"]:
        row["at_ms"] += 2 * HOUR
    folder = open_run_folder(run.write(tmp_path))
    lines = story_lines(folder, message.message_id)
    [held] = [line for line in lines if "HARECEIVE" in line]
    assert held.startswith("0:08:00.300")


def test_a_torn_row_is_no_line_of_a_story(tmp_path: Path) -> None:
    run = healthy()
    message_id = run.ledger[0]["message_id"]
    before = story_lines(open_run_folder(run.write(tmp_path)), message_id)
    run.name = "torn"
    run.tail["logs/par-mbx1/MSGTRK2026010508-1.LOG"] = f"2026-01-05T08:01:00.000Z,{message_id}"
    assert story_lines(open_run_folder(run.write(tmp_path)), message_id) == before


def test_the_page_tells_the_story_below_each_counter_example(
    judged: JudgedRun, lines: list[str]
) -> None:
    page = (judged.folder.path / "report.html").read_text()
    assert f"its whole story, {len(lines)} lines" in page
    block = page[page.index('<details class="story"') : page.index("</details>")]
    for line in lines:
        assert line.rpartition("(")[2].rstrip(")") in block


def test_a_page_made_again_tells_the_same_stories(judged: JudgedRun) -> None:
    page = judged.folder.path / "report.html"
    before = page.read_text()
    page_again(judged.folder)
    assert page.read_text() == before


def test_the_story_of_one_run_is_not_told_in_another(tmp_path: Path, judged: JudgedRun) -> None:
    other = new_database()
    other.run.name = "other"
    folder = evaluated(other.run.write(tmp_path)).folder.path
    assert "its whole story" not in (folder / "report.html").read_text()
    assert "its whole story" in (judged.folder.path / "report.html").read_text()


def test_the_program_says_that_story_wants_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere", "--story", "<m@x>"]) == 4
    assert "nowhere" in capsys.readouterr().err


def test_tells_which_copy_was_activated_meanwhile_and_what_came_back(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    told = lossy()
    folder = open_run_folder(told.run.write(tmp_path_factory.mktemp("failed-over")))
    text = "\n".join(story_lines(folder, told.lost.message_id))
    mounted = text.index("database-mounted DB1, epoch 1")
    assert text.index("STOREDRIVER DELIVER") < mounted < text.index("SAFETYNET RESUBMIT")
