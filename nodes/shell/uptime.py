"""How a node goes on counting over its own restarts: by its machine's monotonic clock (SM-18).

Times on disk are dates, and a wall clock that was set while the node was down would make spans
shorter or longer. So the node keeps how far the wall clock was ahead when it first started since
the machine was booted, and goes by that for as long as the machine is up. After a boot nothing but
the wall clock is left to go by.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

KEPT = "clock.json"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """Another one each time that the machine is booted. Raises OSError."""
    return BOOT_ID.read_text("ascii").strip()


def kept_skew_ms(data: Path, boot: str, today_ms: int) -> int:
    """The skew that nodes go by here; `today_ms` where none has started since the boot."""
    try:
        kept = json.loads((data / KEPT).read_text("utf-8"))
        return int(kept["skew_ms"]) if kept["boot_id"] == boot else today_ms
    except (OSError, ValueError, KeyError, TypeError):
        return today_ms


def keep_skew(data: Path, boot: str, skew_ms: int) -> None:
    """For the next start. Raises OSError."""
    path = data / KEPT
    path.with_suffix(".new").write_text(json.dumps({"boot_id": boot, "skew_ms": skew_ms}), "utf-8")
    os.replace(path.with_suffix(".new"), path)
