"""A defect as a file: the catalogue in one archive that Python runs, beside a node's configuration.

The image stays the ordinary one, so a container differs from a sound one in this file and in its
command alone. Whoever starts it in `lab.campaigns.prove.on_containers` says which defect.
"""

import io
from pathlib import Path
from zipfile import ZipFile, ZipInfo

FILE = "defect.pyz"
PLACE = f"/etc/shadowlab/{FILE}"  # where a container sees its server's folder `etc`
BREAKABLE = ("mailbox", "frontend", "active_manager")  # roles whose programs take a defect
ENTRY = "import runpy\n\nrunpy.run_module('defects', run_name='__main__', alter_sys=True)\n"


def archive(root: Path) -> bytes:
    """The defects of the checkout at `root`; the same bytes for the same sources."""
    packed = io.BytesIO()
    with ZipFile(packed, "w") as file:
        file.writestr(ZipInfo("__main__.py"), ENTRY)
        for path in sorted((root / "defects").rglob("*.py")):
            file.writestr(ZipInfo(path.relative_to(root).as_posix()), path.read_bytes())
    return packed.getvalue()


def command(defect: str, program: str, config: str) -> list[str]:
    """What a container with that defect runs instead of `python3 -m PROGRAM CONFIG`."""
    return ["python3", PLACE, defect, program, config]
