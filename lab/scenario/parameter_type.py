"""One of Exchange's parameters as a person may write it: how it is read, and its JSON Schema."""

from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from lab.scenario.quantities import TIMESPAN_PATTERN
from nodes.core.config.parameters import Parameter, format_value, parse_value


def parameter_type(parameter: Parameter) -> Any:
    """What a person may write for it, as pydantic reads it."""
    parse = BeforeValidator(partial(parse_value, parameter))
    return Annotated[Any, parse, WithJsonSchema(parameter_schema(parameter))]


def parameter_schema(parameter: Parameter) -> dict[str, Any]:
    """The JSON Schema of a value of it."""
    if parameter.kind == "bool":
        return {"type": "boolean"}
    if parameter.kind == "choice":
        return {"enum": list(parameter.choices)}
    if parameter.kind == "timespan":
        written = {"type": "string", "pattern": TIMESPAN_PATTERN}
        named = list(parameter.presets)
        return {"anyOf": [written, {"enum": named}]} if named else written
    if parameter.kind == "size":
        return {"type": "string", "pattern": "^[0-9]{1,10}(B|KB|KiB|MB|MiB)$"}
    number = {"type": "integer", "minimum": parameter.low, "maximum": parameter.high}
    if parameter.choices:
        return {"anyOf": [number, {"enum": list(parameter.choices)}]}
    return number


def description(parameter: Parameter) -> str:
    """What an editor says of it."""
    default = format_value(parameter, parameter.default)
    default = "that of the organisation" if default == "" else default
    presets = [f"; {name} is {format_value(parameter, v)}" for name, v in parameter.presets.items()]
    return f"Exchange's {parameter.name}; by default {default}{''.join(presets)}"
