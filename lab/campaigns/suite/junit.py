"""junit.xml of a suite: a testsuite for each run and each comparison.

A run's testcases are its claims, and `verdict`: whether it ended as its scenario expects. A claim
that is violated where a failure is expected is reported, and is no failure.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from lab.program.errors import FAIL, GROUND_FAILED, PASS, UNKNOWN
from lab.program.given_json import read_json

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
SKIPPED = ("unknown", "not applicable")
NAMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def junit_xml(folder: Path, content: Mapping[str, Any]) -> str:
    """`content` is suite.json, `folder` its folder."""
    suites = [_testsuite(folder, task) for task in content["tasks"]]
    totals = {
        name: str(sum(int(suite.get(name, "0")) for suite in suites))
        for name in ("tests", *NAMES.values())
    }
    root = ET.Element("testsuites", {"name": "shadowlab", **totals})
    root.extend(suites)
    ET.indent(root)
    return f"{DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n"


def _testsuite(folder: Path, task: Mapping[str, Any]) -> ET.Element:
    suite = ET.Element("testsuite", name=f"shadowlab.{task['name'].replace(' ', '.')}")
    properties = ET.SubElement(suite, "properties")
    for name in ("seed", "host", "verdict", "foretold", "folder"):
        value = task.get(name)
        ET.SubElement(properties, "property", name=name, value="" if value is None else str(value))
    suite.extend(_testcases(folder, task))
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for tag, name in NAMES.items():
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", str(task.get("seconds", 0)))
    return suite


def _testcases(folder: Path, task: Mapping[str, Any]) -> Iterator[ET.Element]:
    classname = f"shadowlab.{task['scenario']}"
    case = ET.Element("testcase", classname=classname, name=_question(task))
    case.set("time", str(task.get("seconds", 0)))
    if task["state"] != "done":
        ET.SubElement(case, "skipped", message="not done: the suite was ended before it")
    elif task["counts"] != PASS:
        tag = {FAIL: "failure", GROUND_FAILED: "error", UNKNOWN: "skipped"}[task["counts"]]
        ET.SubElement(case, tag, message=_legal(_told(task)))
    elif task["cause"]:
        ET.SubElement(case, "skipped", message=_legal(task["cause"]))
    yield case
    if task.get("verdict"):
        expected_failure = task["verdict"] == task["foretold"] == "fail"
        for claim in _claims(folder, task):
            yield _claim(classname, claim, expected_failure)


def _question(task: Mapping[str, Any]) -> str:
    return f"verdict on {task['host']}" if task["host"] else "both hosts agree"


def _told(task: Mapping[str, Any]) -> str:
    if task["cause"]:
        return str(task["cause"])
    if not task["host"]:
        return "the runs on containers and on the simulator disagree"
    return f"{task['verdict']}, and its scenario expects {task['foretold']}"


def _claim(classname: str, claim: Mapping[str, Any], expected_failure: bool) -> ET.Element:
    case = ET.Element("testcase", classname=classname, name=str(claim["name"]), time="0")
    if claim["status"] == "violated":
        tag = "system-out" if expected_failure else "failure"
        told = ET.SubElement(case, tag)
        counted = f"{claim['violations']} of {claim['asked']} checked are violated"
        examples = "\n".join(_example(example) for example in claim.get("examples", []))
        told.text = _legal(f"{counted}\n{examples}")
        if tag == "failure":
            told.set("message", counted)
    elif claim["status"] in SKIPPED:
        why = f"{claim['status']}: {claim.get('reason', '')}"
        ET.SubElement(case, "skipped", message=_legal(why))
    return case


def _example(example: Mapping[str, Any]) -> str:
    places = ", ".join(f"{ref['file']}:{ref['line']}" for ref in example.get("refs", []))
    return f"{example['which']}: {example['subject']}: {example['detail']} ({places})"


def _claims(folder: Path, task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    try:
        claims = read_json(folder / task["folder"] / "verdict.json")["claims"]
    except (ValueError, KeyError, TypeError):
        return []
    return claims if isinstance(claims, list) else []


def _legal(text: str) -> str:
    # XML 1.0 has no place for control characters, and log lines may hold some
    return "".join(sign for sign in text if sign >= " " or sign in "\n\t")
