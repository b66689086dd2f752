"""`shadowlab` as a suite sees it, without a lab: acts as `acts.json` says, and keeps `calls.log`.

Run as a program: `run PATH --on HOST --announce FILE …`, `compare A B --out DIR`, `down ID`.
Acts, by `<scenario> on <host>` or `<scenario> compared`: an exit code, `hang` (ends when asked to),
`deaf` (does not), `mute` (dies before it has a run folder), or `once-<act>` (0 the second time).
`not as expected` is what every verdict says of that.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

VERDICTS = {0: "pass", 1: "fail", 2: "unknown"}
STATUS = {0: ("holds", "proven"), 1: ("violated", "violated"), 2: ("unknown", "not asked")}


def main(words: list[str]) -> int:
    note(" ".join(words))
    if words[0] == "down":
        return 0
    if words[0] == "compare":
        return act_of(f"{Path(words[1]).parent.name} compared", lambda code: None)
    scenario, options = Path(words[1]).stem, dict(zip(words[2::2], words[3::2], strict=True))
    host, announce = options["--on"], Path(options["--announce"])
    folder = Path("runs") / scenario / f"{host}-{time.monotonic_ns()}"

    def begin() -> None:
        folder.mkdir(parents=True)
        manifest = {"run": f"{scenario}-{host}-id", "scenario": scenario, "host": host, "seed": 1}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        announce.write_text(f"{folder.absolute()}\n")

    return act_of(f"{scenario} on {host}", lambda code: judge(folder, code), begin)


def judge(folder: Path, code: object) -> None:
    if not isinstance(code, int) or code not in VERDICTS:
        return
    status, requirement = STATUS[code]
    claim = {"name": "no_loss", "status": status, "asked": 3, "violations": int(code == 1)}
    example = {"which": "first", "subject": "<m1> to a", "detail": "lost", "refs": []}
    told: dict[str, object] = {
        "verdict": VERDICTS[code],
        "requirements": {"SR-1": requirement, "SM-10": "not asked", "SR-2": "not checked"},
    }
    claim |= {"reason": "why", "examples": [example] if code == 1 else []}
    told["not_as_foretold"] = acts().get("not as expected", [])
    aside = claim | {"name": "dsn_sent", "status": "not applicable", "asked": 0, "violations": 0}
    (folder / "verdict.json").write_text(json.dumps(told | {"claims": [claim, aside]}))
    (folder / "report.html").write_text("<p>a run")


def act_of(
    name: str, judged: Callable[[object], None], begin: Callable[[], None] = lambda: None
) -> int:
    act = acts().get(name, 0)
    if str(act).startswith("once-"):
        act = 0 if lines().count(f"acted {name}") else str(act).removeprefix("once-")
        act = int(act) if str(act).isdigit() else act
    note(f"acted {name}")
    if act == "mute":
        os.kill(os.getpid(), signal.SIGKILL)
    begin()
    if act in ("hang", "deaf"):
        if act == "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note(f"hangs {name} {os.getpid()}")
        signal.pause()
        while act == "deaf":
            signal.pause()
    if act == 3:
        print("shadowlab: the ground shook\nhint: run away", file=sys.stderr)
    judged(act)
    return int(str(act))


def acts() -> dict[str, object]:
    found: dict[str, object] = json.loads(Path("acts.json").read_text())
    return found


def lines() -> list[str]:
    return Path("calls.log").read_text().splitlines()


def note(line: str) -> None:
    with Path("calls.log").open("a") as log:
        log.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
