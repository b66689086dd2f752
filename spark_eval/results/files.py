"""verdict.json for programs and junit.xml for CI, as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from spark_eval.cases.case import UNKNOWN, VIOLATED
from spark_eval.judging.judged import JudgedRun
from spark_eval.judging.results import NOT_APPLICABLE, ClaimResult, CounterExample

SKIPPED = (UNKNOWN, NOT_APPLICABLE)


def as_text(content: Mapping[str, Any]) -> str:
    """verdict.json as it is written."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def verdict_content(run: JudgedRun) -> dict[str, Any]:
    """The verdict and its counts, then what explains it: `foretold`, `reasons` and the rest.
    `not_as_foretold` is what a failure did otherwise than `expect` says.
    """
    return {
        "version": 1,
        "run": run.folder.run,
        "scenario": run.folder.scenario,
        "host": run.folder.host,
        "seed": run.folder.seed,
        "verdict": run.verdict.verdict,
        "claims": [_claim(result) for result in run.results.values()],
        "delivery": run.delivery,
        "promotion": run.promotion,
        "safety_net": run.safety_net,
        "exposure": run.exposure,
        "requirements": dict(run.verdict.requirements),
        "foretold": run.verdict.expected,
        "not_as_foretold": list(run.verdict.not_as_expected),
        "reasons": list(run.verdict.reasons),
        "clocks_off": [dict(entry) for entry in run.clocks_off],
        "log_damage": [dict(entry) for entry in run.log_damage],
    }


def _claim(result: ClaimResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "status": result.status,
        "requirements": list(result.requirements),
        "asked": result.asked,
        "violations": result.violations,
        "unknown": result.unknown,
        "reason": result.reason,
        "examples": [_example(example) for example in result.examples],
    }


def _example(example: CounterExample) -> dict[str, Any]:
    refs = [{"file": file, "line": line} for file, line in example.refs]
    return {
        "which": example.which,
        "subject": example.subject,
        "at_ms": example.at_ms,
        "detail": example.detail,
        "refs": refs,
    }


def junit_xml(run: JudgedRun) -> str:
    """One testcase a claim: violated is a failure, unknown and not applicable are skipped, each
    under its own word, a crash is an error.
    """
    results = list(run.results.values())
    counts = {
        "tests": len(results),
        "failures": sum(r.status == VIOLATED for r in results),
        "errors": sum(r.crashed for r in results),
        "skipped": sum(r.status in SKIPPED and not r.crashed for r in results),
    }
    named = {"name": f"shadowlab.{run.folder.scenario}"}
    suite = ET.Element("testsuite", named | _texts(counts))
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(run).items():
        ET.SubElement(properties, "property", name=name, value=value)
    for result in results:
        _testcase(suite, run.folder.scenario, result)
    root = ET.Element("testsuites", _texts(counts))
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def _properties(run: JudgedRun) -> dict[str, str]:
    return {
        "run": run.folder.run,
        "seed": str(run.folder.seed),
        "verdict": run.verdict.verdict,
        "foretold": run.verdict.expected,
        "reasons": "; ".join(run.verdict.reasons),
    }


def _testcase(suite: ET.Element, scenario: str, result: ClaimResult) -> None:
    testcase = ET.SubElement(
        suite, "testcase", classname=f"shadowlab.{scenario}", name=result.name, time="0"
    )
    if result.crashed:
        ET.SubElement(testcase, "error", message=_legal(result.reason))
    elif result.status == VIOLATED:
        message = f"{result.violations} of {result.asked} checked are violated"
        failure = ET.SubElement(testcase, "failure", message=message)
        failure.text = _legal("\n".join(example_text(example) for example in result.examples))
    elif result.status in SKIPPED:
        ET.SubElement(testcase, "skipped", message=_legal(f"{result.status}: {result.reason}"))


def example_text(example: CounterExample) -> str:
    """`first: <m000001…> to …: what (file:line, file:line)`; no brackets where no line shows it."""
    places = ", ".join(f"{file}:{line}" for file, line in example.refs)
    told = f"{example.which}: {example.subject}: {example.detail}"
    return f"{told} ({places})" if places else told


def _legal(text: str) -> str:
    # XML 1.0 has no place for control characters, and log lines may hold some
    return "".join(sign for sign in text if sign >= " " or sign in "\n\t")
