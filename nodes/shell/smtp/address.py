"""Where a server listens, or is reached."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen or to connect. Port 0 to listen: any that is free."""

    host: str
    port: int
