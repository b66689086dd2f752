"""Two runs whose settings alone differ: what each did, side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark_eval.compare.page import weighed_lines, weighed_page
from spark_eval.compare.side import open_sides
from spark_eval.compare.weighing import Weighed, Weighing, weigh
from tests.spark_eval.runs.evaluated import evaluated
from tests.spark_eval.runs.run_builder import MINUTE, Run, healthy, user

PREFERENCE = "ShadowMessagePreferenceSetting"
BARE = "exposure: accepted without a shadow message"


def _under(preference: str, name: str, *, shadow: str | None) -> Run:
    """A healthy run, and a message that stays on its way for nine minutes."""
    run = healthy()
    run.name = name
    run.plan["settings"]["TransportConfig"][PREFERENCE] = preference
    message = run.accept(20 * MINUTE, [user(1)], shadow=shadow)
    run.finish(message, 29 * MINUTE)
    return run


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Weighing:
    root = tmp_path_factory.mktemp("weighed")
    runs = (
        _under("PreferRemote", "remote", shadow="lyo-mbx1"),
        _under("LocalOnly", "local", shadow=None),
    )
    folders = [run.write(root) for run in runs]
    for folder in folders:
        evaluated(folder)
    return weigh(*open_sides(*folders))


def _figure(found: Weighing, name: str) -> tuple[str, str]:
    return next((each.a, each.b) for each in found.figures if each.name == name)


def test_the_settings_that_differ_come_first(found: Weighing) -> None:
    assert found.settings == (
        Weighed(f"TransportConfig.{PREFERENCE}", "PreferRemote", "LocalOnly"),
    )


def test_exposure_is_set_side_by_side_with_its_cause(found: Weighing) -> None:
    assert _figure(found, "exposure.messages") == ("0", "1")
    assert _figure(found, "exposure.longest") == ("0:00:00", "0:08:59")
    assert _figure(found, BARE) == ("–", "0:08:59 of 1 messages")


def test_so_is_how_long_senders_waited_and_mail_took(found: Weighing) -> None:
    assert _figure(found, "answered within, median") == ("0:00:00.900", "0:00:00.900")
    assert _figure(found, "delivered within, longest") == ("0:08:59.950", "0:08:59.950")


def test_of_what_neither_run_had_nothing_is_said(found: Weighing) -> None:
    assert "delivery.lost" not in {each.name for each in found.figures}


def test_lines_page_and_file_say_the_same(found: Weighing) -> None:
    said, page, content = "\n".join(weighed_lines(found)), weighed_page(found), found.content()
    for each in found.settings:
        assert all(word in said and word in page for word in (each.a, each.b))
    assert {row["name"] for row in content["figures"]} == {each.name for each in found.figures}
    assert (content["outcome"], json.loads(json.dumps(content))) == ("settings", content)


def test_plans_that_differ_beyond_settings_are_still_refused(tmp_path: Path) -> None:
    one, other = healthy(), healthy()
    one.name, other.name = "one", "other"
    other.plan["settings"]["TransportConfig"][PREFERENCE] = "LocalOnly"
    other.plan["seed"] = 8
    with pytest.raises(Exception, match="the runs have different plans: seed"):
        open_sides(one.write(tmp_path), other.write(tmp_path))
