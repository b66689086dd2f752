"""What a person writes, as a model: no key that is not known, nothing changed once read."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """The base of every model of a file that people write."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
