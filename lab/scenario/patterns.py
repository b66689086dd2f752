"""The forms that names in files take, and how a hint says them.

A pattern is written once, in the type; a person who breaks it reads the words beside it.
"""

from typing import Annotated

from pydantic import Field

SLUG = r"^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$"
_SERVER = r"^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$"
_DATABASE = r"^[A-Za-z][A-Za-z0-9]{0,30}$"
_DAG = r"^[A-Za-z0-9]([A-Za-z0-9-]{0,60}[A-Za-z0-9])?$"
_DOMAIN = r"^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$"

PATTERN_WORDS = {
    SLUG: "use a to z, 0 to 9 and hyphens between them, at most 62",
    _SERVER: "begin with a letter; use a to z, 0 to 9 and hyphens between them, at most 30",
    _DAG: "use letters, digits and hyphens between them, at most 62",
    _DATABASE: "begin with a letter; use letters and digits, at most 31",
    _DOMAIN: "write a domain in lower case, such as partner.example",
}

Slug = Annotated[str, Field(pattern=SLUG)]
ServerName = Annotated[str, Field(pattern=_SERVER)]
DagName = Annotated[str, Field(pattern=_DAG)]
DatabaseName = Annotated[str, Field(pattern=_DATABASE)]
DomainName = Annotated[str, Field(pattern=_DOMAIN, max_length=200)]
