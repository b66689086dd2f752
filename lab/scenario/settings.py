"""`settings:` of a scenario: Exchange's parameters, for the organisation and for servers.

The models are made from the one table of parameters, so that a name, a range or a default is
written in one place only. A group such as `SendConnector` directly under `settings` holds for
every mailbox server and front end; under `servers:` for that server alone, and the nearer one
wins.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import Field, create_model, model_validator

from lab.plan.parts import Section, Settings
from lab.plan.topology import Server
from lab.scenario.parameter_type import description, parameter_type
from lab.scenario.random_settings import RandomSettings
from lab.scenario.strict import Strict
from nodes.core.config.error import ConfigurationError
from nodes.core.config.parameters import (
    BACKGROUND_CLEANUP,
    PARAMETERS,
    SERVER_SECTIONS,
    TRACK_DUPLICATES,
    Value,
    defaults,
)

SET_UP = ("mailbox", "frontend")
"""The roles whose servers have settings."""


class SectionModel(Strict):
    """One group of parameters as written; what is left out keeps its default."""

    def given(self) -> dict[str, Value]:
        """The parameters that the file names, parsed."""
        return {name: getattr(self, name) for name in sorted(self.model_fields_set)}


def _section_model(section: str) -> type[SectionModel]:
    """A model with one optional field for every parameter of that section."""
    fields: dict[str, Any] = {
        name: (parameter_type(parameter), Field(default=None, description=description(parameter)))
        for name, parameter in PARAMETERS[section].items()
    }
    return create_model(section, __base__=SectionModel, __module__=__name__, **fields)


TransportConfig = _section_model("TransportConfig")


class _OfServer(Strict):
    """What a server has; a word is kept for what it has not."""

    @model_validator(mode="before")
    @classmethod
    def _holds_no_window(cls, raw: object) -> object:
        if isinstance(raw, dict) and DATABASE in raw:
            rule = f"{DATABASE} belongs to a mailbox database, not to a server"
            hint = "write it under databases in the topology, or under settings for all of them"
            raise ConfigurationError(rule, hint)
        return raw


DATABASE = TRACK_DUPLICATES.section
DatabaseSettings = _section_model(DATABASE)
Window = parameter_type(TRACK_DUPLICATES)
Cleanup = parameter_type(BACKGROUND_CLEANUP)
_SERVER_FIELDS: dict[str, Any] = {
    section: (model, Field(default_factory=model, description=f"{section} of mailbox servers"))
    for section, model in ((name, _section_model(name)) for name in SERVER_SECTIONS)
}
ServerSettings = create_model(
    "ServerSettings", __base__=_OfServer, __module__=__name__, **_SERVER_FIELDS
)
_RANDOM: Any = (
    RandomSettings | None,
    Field(default=None, description="what is drawn from the seed: parameter by parameter"),
)
SettingsModel = create_model(
    "Settings",
    __base__=Strict,
    __module__=__name__,
    TransportConfig=(
        TransportConfig,
        Field(default_factory=TransportConfig, description="of the whole organisation"),
    ),
    servers=(
        dict[str, ServerSettings],  # type: ignore[valid-type]  # made at run time
        Field(default_factory=dict, description="settings of one server, by its name"),
    ),
    MailboxDatabase=(
        DatabaseSettings,
        Field(
            default_factory=DatabaseSettings,
            description="of mailbox databases for which the topology says nothing else",
        ),
    ),
    random=_RANDOM,
    **_SERVER_FIELDS,
)


def organisation(settings: Any) -> dict[str, Value]:
    """TransportConfig as the file gives it."""
    given: dict[str, Value] = settings.TransportConfig.given()
    return given


class DeliveredTo(NamedTuple):
    """For how long a mailbox database knows what it took, and how often it removes what it does not
    know any more (DD-5).
    """

    window_ms: int
    cleanup_ms: int


DELIVERED_TO = DeliveredTo(int(TRACK_DUPLICATES.default), int(BACKGROUND_CLEANUP.default))


def delivered_to(settings: Any) -> DeliveredTo:
    """Of every mailbox database that has nothing of its own."""
    given: dict[str, Value] = settings.MailboxDatabase.given()
    window, cleanup = TRACK_DUPLICATES, BACKGROUND_CLEANUP
    return DeliveredTo(
        int(given.get(window.name, window.default)), int(given.get(cleanup.name, cleanup.default))
    )


def written_for(settings: Any, server: str) -> dict[str, dict[str, Value]]:
    """section -> name -> value as the file gives them for that server, the nearer one winning."""
    own = settings.servers.get(server)
    return {
        section: getattr(settings, section).given()
        | (getattr(own, section).given() if own is not None else {})
        for section in SERVER_SECTIONS
    }


def resolve_settings(settings: Any, servers: tuple[Server, ...]) -> Settings:
    """Every parameter of the organisation and of each server, defaults written out.

    An external server is no Exchange server of ours: it has the defaults.
    """
    written = {
        server.name: written_for(settings, server.name) if server.role in SET_UP else {}
        for server in servers
    }
    return Settings(
        TransportConfig=_complete("TransportConfig", organisation(settings)),
        servers={
            name: {
                section: _complete(section, sections.get(section, {}))
                for section in SERVER_SECTIONS
            }
            for name, sections in written.items()
        },
    )


def _complete(section: str, given: Mapping[str, Value]) -> Section:
    return defaults(section) | dict(given)
