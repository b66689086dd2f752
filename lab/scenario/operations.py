"""What an administrator does, as a person writes it: an entry of `operations:`.

The shape only. Whether database and server exist is asked in `lab.validation.scenario_names`.
"""

from pydantic import Field, model_validator

from lab.plan.parts import Operation, OperationKind
from lab.scenario.quantities import Instant
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError

OPERATION_KINDS: tuple[OperationKind, ...] = ("failover", "switchover")


class OperationModel(Strict):
    """One thing asked of Active Manager at a moment."""

    at: Instant = Field(description="when it is asked")
    failover: str | None = Field(
        default=None, description="a database whose other copy is to be active, whatever it lacks"
    )
    switchover: str | None = Field(
        default=None, description="the same, as soon as the other copy lacks nothing"
    )
    to: str | None = Field(
        default=None, description="the server of that copy; by default Active Manager chooses"
    )

    @model_validator(mode="after")
    def _is_one_operation(self) -> "OperationModel":
        if (self.failover is None) == (self.switchover is None):
            rule = f"an operation is one of {' and '.join(OPERATION_KINDS)}"
            raise ConfigurationError(rule, "give each operation an entry of its own")
        if self.switchover is not None and self.to is None:
            rule = "a switchover goes to a server"
            raise ConfigurationError(rule, "add to:, a server that has a copy")
        return self

    @property
    def kind(self) -> OperationKind:
        """Which of `OPERATION_KINDS` it is."""
        return "failover" if self.failover is not None else "switchover"

    @property
    def database(self) -> str:
        """Whose copies it is about."""
        return self.failover or self.switchover or ""


def resolve_operations(operations: list[OperationModel]) -> tuple[Operation, ...]:
    """In the order of time, numbered o1, o2 … in the order of the file."""
    found = [
        Operation(f"o{number}", each.kind, each.at, each.database, each.to)
        for number, each in enumerate(operations, start=1)
    ]
    return tuple(sorted(found, key=lambda operation: operation.at_ms))
