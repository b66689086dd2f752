"""Where this program's own files lie: packages, playbooks, scenarios, side by side in one folder.

That is the root of a checkout, or site-packages once a wheel is installed; both are laid out alike,
so one path serves both. Nothing is ever written there: what a lab makes goes where a person stands.
"""

import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOKS = ROOT / "playbooks"
SCENARIOS = ROOT / "scenarios"


def search_path() -> list[str]:
    """What another process of this interpreter is given, so that it finds these packages before
    any that are installed; nothing where they are the installed ones."""
    return [] if Path(sysconfig.get_path("purelib")).resolve() == ROOT else [str(ROOT)]
