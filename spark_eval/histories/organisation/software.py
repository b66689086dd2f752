"""What the software of the servers fixes and no parameter of Exchange's sets: a plan has it beside
the parameters (`settings.software`).

The values that this page repeats serve plans of before, and those made by hand (docs/record.md);
they are those of the project's own nodes. Durations are lab milliseconds, sizes bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Software:
    """Of all servers of an organisation, Active Manager among them."""

    copy_status_interval_ms: int = 15_000
    copy_status_misses: int = 3
    management_answer_ms: int = 30_000
    announcement_retry_ms: int = 60_000
    announcement_reminder_ms: int = 300_000
    resubmit_request_retry_ms: int = 60_000
    primary_silence_ms: int = 43_200_000
    resubmit_margin_ms: int = 300_000
    requested_mount_ms: int = 600_000
    log_retry_ms: int = 10_000
    submission_retry_ms: int = 60_000
    commit_retry_ms: int = 60_000
    mail_in_memory_bytes: int = 134_217_728
    message_id_shown: int = 255

    @property
    def silent_ms(self) -> int:
        """Within so long a copy that answers no more is silent for Active Manager."""
        return self.copy_status_misses * (self.copy_status_interval_ms + self.management_answer_ms)

    @property
    def learnt_ms(self) -> int:
        """Within so long a server that was not reached at first learns of the active copy."""
        return 2 * self.announcement_retry_ms + self.management_answer_ms

    @property
    def reminded_ms(self) -> int:
        return self.announcement_reminder_ms + self.management_answer_ms

    @property
    def asked_ms(self) -> int:
        """Within so long a server learns of the active copy, or its Safety Net is asked."""
        retry_ms = max(self.announcement_retry_ms, self.resubmit_request_retry_ms)
        return 2 * retry_ms + self.management_answer_ms


def software(given: Mapping[str, int | None]) -> Software:
    """Of `settings.software` of a plan."""
    known = {each.name: given.get(each.name) for each in fields(Software)}
    return Software(**{name: value for name, value in known.items() if value is not None})
