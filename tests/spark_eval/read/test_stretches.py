"""A record that is read a stretch of lines at a time, file by file, and sent where each message is,
is the record that is read whole.
"""

from __future__ import annotations

import gzip
from dataclasses import astuple
from typing import Any
from unittest.mock import patch

import pytest

from spark_eval.histories.log_sums import asked_outside, no_log_sums
from spark_eval.read.folder.files import MemoryFiles, evidence
from spark_eval.read.heading import heading_of
from spark_eval.read.lines import UTF_16
from spark_eval.read.mail import Mail, mail_of
from spark_eval.read.record import read_record
from spark_eval.spread import reading
from spark_eval.spread.reading import Beside, Places, beside_mail, planned_in, rows_in
from tests.spark_eval.runs.run_builder import healthy

AT_ONCE = (1, 2, 3, 7, 1000)


def _files() -> dict[str, bytes]:
    return {name: text.encode() for name, text in healthy().texts().items()}


def _log(files: dict[str, bytes]) -> str:
    return next(name for name in sorted(files) if "/MSGTRK" in name)


def _in_stretches(files: dict[str, bytes], at_once: int, parts: int = 3) -> list[Any]:
    there = MemoryFiles(files)
    heading, places, mail = heading_of(there), Places(parts, {}), Mail()
    with patch.object(reading, "AT_ONCE", at_once):
        pairs = [
            pair
            for name in evidence(there)
            for pair in rows_in((name, there), heading.without_messages(), places)
        ]
        pairs += planned_in(heading, places)
    for _, each in reversed(pairs):
        if isinstance(each, Mail):
            mail.add(each)
    mail.sort()
    beside = (each for place, each in reversed(pairs) if place == parts)
    record, sums = beside_mail(heading, (each for each in beside if isinstance(each, Beside)))
    mail.go_by(record.lives)
    assert not record.tracking
    assert not record.rows.sent
    return [_said(mail), record.damage, record.probes, record.connectivity, record.rows.lifecycle,
            record.lives, record.off.far, sums.logs]  # fmt: skip


def _whole(files: dict[str, bytes]) -> list[Any]:
    record = read_record(MemoryFiles(files))
    sums = no_log_sums(record.heading)
    sums.take(record, asked_outside(record.heading))
    return [_said(mail_of(record)), record.damage, record.probes, record.connectivity,
            record.rows.lifecycle, record.lives, record.off.far, sums.logs]  # fmt: skip


def _said(mail: Mail) -> list[Any]:
    """Of tracking what names a message; planned messages by their ids."""
    planned, sent, attempts, outcomes, tracking, queues, visible = astuple(mail)
    return [sorted(planned), sent, attempts, outcomes,
            [row for row in tracking if row[6] is not None], queues, visible]  # fmt: skip


@pytest.mark.parametrize("at_once", AT_ONCE)
def test_a_sound_record(at_once: int) -> None:
    assert _in_stretches(_files(), at_once) == _whole(_files())


@pytest.mark.parametrize("at_once", AT_ONCE)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace(b"\n", b"\nno row\n"),
        lambda text: text[: len(text) * 2 // 3],
        lambda text: text + text,  # another #Fields line amid the rows
        lambda text: b"#TYPE Microsoft.Exchange\n" + text,
        lambda text: b"\xff\xfe" + text.decode().encode("utf-16-le"),
        lambda text: b"",
    ],
    ids=["a bad line after each", "cut", "several #Fields", "an export", UTF_16, "empty"],
)
def test_a_log_that_is_damaged(spoil: Any, at_once: int) -> None:
    files = _files()
    files[_log(files)] = spoil(files[_log(files)])
    assert _in_stretches(files, at_once) == _whole(files)


@pytest.mark.parametrize("at_once", AT_ONCE)
def test_a_packed_log_that_is_cut(at_once: int) -> None:
    files = _files()
    name = _log(files)
    packed = gzip.compress(files.pop(name))
    files[f"{name}.gz"] = packed[: len(packed) - 12]
    found, whole = _in_stretches(files, at_once), _whole(files)
    assert found == whole
    assert any("gzip" in each.damage for each in whole[1])
