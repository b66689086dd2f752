"""What all shadow messages that one server holds for another one show together."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class MailOfPairs:
    """Sums: parts of a run's mail add up to the whole.

    `first`: when the first may have come; `oldest`: of those promoted after the same last contact,
    when the oldest came.
    """

    first: dict[tuple[str, str], int] = field(default_factory=dict)
    oldest: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def first_came_ms(self, server: str, primary: str) -> int | None:
        return self.first.get((server, primary))

    def oldest_ms(self, server: str, primary: str, contact_ms: int) -> int | None:
        return self.oldest.get((server, primary, contact_ms))
