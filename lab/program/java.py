"""The Java that Spark takes: looked at before anything is started, so that nobody waits in vain.

As a program, for `make`, it also installs Debian's where it may: as root, and where JAVA_HOME names
no other.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from lab.program.errors import GroundError
from lab.program.outer_edge import guarded

OLDEST = 17
PACKAGE = "openjdk-17-jre-headless"
HINT = f"install {PACKAGE} (or a newer one), and set JAVA_HOME to it if it is set"


def require_java() -> None:
    """Raises GroundError where there is none, or one that is too old."""
    found = _major()
    if found is None or found < OLDEST:
        said = "not found" if found is None else str(found)
        raise GroundError(f"Spark needs Java {OLDEST} or newer; Java {said}", HINT)


def _major() -> int | None:
    """Of the one that Spark would start; None: there is none, or what it says is no version."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else "java"
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found[1]) if found else None


def main() -> int:
    """`make installed-java`. Raises GroundError."""
    try:
        require_java()
    except GroundError as error:
        if shutil.which("apt-get") is None or os.geteuid() != 0 or os.environ.get("JAVA_HOME"):
            raise
        print(f"{error.cause}: installing {PACKAGE}", file=sys.stderr)
        for words in (
            ["update", "-q"],
            ["install", "-q", "-y", "--no-install-recommends", PACKAGE],
        ):
            if subprocess.run(["apt-get", *words], stdout=sys.stderr, check=False).returncode:
                break
        require_java()
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
