"""What a suite leaves: junit.xml for CI, a page for people."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

from lab.planning.resolve import default_seed
from tests.lab.campaigns.suite.nightly import Night


def junit(folder: Path) -> dict[str, ET.Element]:
    """The testsuites by name."""
    root = ET.parse(folder / "junit.xml").getroot()
    return {suite.attrib["name"].removeprefix("shadowlab."): suite for suite in root}


def test_junit_has_a_testsuite_for_each_run_with_its_seed_host_verdict_and_folder(
    night: Night,
) -> None:
    night.acts({"beta on simulator": 1})
    suite = night.suite()
    suite.run()
    told = junit(suite.folder)
    assert list(told) == [
        "alpha.on.containers", "alpha.on.simulator", "alpha.compared", "beta.on.containers",
        "beta.on.simulator", "beta.compared", "gamma.on.simulator",
    ]  # fmt: skip
    told_of = told["beta.on.simulator"].iter("property")
    properties = {each.attrib["name"]: each.attrib["value"] for each in told_of}
    folder, seed = properties.pop("folder"), str(default_seed("beta"))
    assert properties == {"seed": seed, "host": "simulator", "verdict": "fail", "foretold": "pass"}
    assert (suite.folder / folder / "verdict.json").is_file()


def test_junit_counts_what_failed_what_broke_and_what_nobody_knows(night: Night) -> None:
    acts = {"alpha on containers": 1, "beta on containers": 3, "beta on simulator": 2}
    night.acts(acts)
    suite = night.suite()
    suite.run()
    told = {
        name: tuple(each.attrib[kind] for kind in ("tests", "failures", "errors", "skipped"))
        for name, each in junit(suite.folder).items()
    }
    assert told["alpha.on.containers"] == ("3", "2", "0", "1")
    assert told["alpha.on.simulator"] == ("3", "0", "0", "1")
    assert told["beta.on.containers"] == ("1", "0", "1", "0")
    assert told["beta.on.simulator"] == ("3", "0", "0", "3")
    assert told["beta.compared"] == ("1", "0", "0", "1")
    aside = junit(suite.folder)["alpha.on.simulator"].find("testcase[@name='dsn_sent']/skipped")
    assert aside is not None
    assert aside.get("message") == "not applicable: why"
    root = ET.parse(suite.folder / "junit.xml").getroot()
    assert (root.attrib["failures"], root.attrib["errors"]) == ("2", "1")


def test_a_violation_that_is_expected_is_told_and_is_no_failure(night: Night) -> None:
    night.expect("alpha", "fail")
    night.acts({"alpha on simulator": 1})
    suite = night.suite("alpha", on="simulator")
    assert suite.run() == 0
    told = junit(suite.folder)["alpha.on.simulator"]
    assert told.attrib["failures"] == "0"
    assert "1 of 3 checked are violated" in str(told.findtext("testcase/system-out"))


def test_the_page_links_every_report_and_shows_who_proved_what(night: Night) -> None:
    night.acts({"beta on simulator": 1})
    suite = night.suite(on="simulator")
    assert suite.run() == 1
    page = (suite.folder / "report.html").read_text()
    assert "http" not in page
    links = set(re.findall('href="([^"]+)"', page))
    assert len(links) == 3
    assert all((suite.folder / link).read_text() == "<p>a run" for link in links)
    rows = dict(
        re.findall(
            r"<tr><td>(?:<abbr[^>]*>)?(S[RM]-\d+)(?:</abbr>)?</td>(.*?)</tr>", page, re.DOTALL
        )
    )
    proven, violated, unknown, not_asked = rows["SR-1"].split("<td>")[1:]
    assert "alpha on simulator" in proven
    assert "gamma on simulator" in proven
    assert "beta on simulator" in violated
    assert "simulator" not in unknown + not_asked
    assert rows["SM-10"].count("on simulator") == 3
    assert "no claim checks it yet" in rows["SR-2"]
    assert "on simulator" not in rows["SR-2"]


def test_the_page_says_what_happened_on_the_way(night: Night) -> None:
    night.acts({"alpha on containers": "hang"})
    suite = night.suite("alpha", on="containers", at_most=1.0)
    suite.run()
    page = (suite.folder / "report.html").read_text()
    assert "alpha on containers hung and was ended after" in page
    assert "hung, and was ended" in page


def test_suite_json_names_folders_as_seen_from_its_own(night: Night) -> None:
    suite = night.suite("gamma")
    suite.run()
    content = json.loads((suite.folder / "suite.json").read_text())
    [task] = content["tasks"]
    assert task["folder"].startswith("../../gamma/")
    assert content["finished"]
