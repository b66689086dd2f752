"""Run folders whose record is listed, as the lab lists it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


def with_list(folder: Path) -> Path:
    """The same folder, its manifest promising the list that is there now."""
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"file_list": "files.json"}))
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    entries = [
        {
            "file": path.relative_to(folder).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    ]
    (folder / "files.json").write_text(json.dumps({"version": 1, "files": entries}))
    return folder
