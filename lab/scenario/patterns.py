"""The forms that names in files take, as types of a model.

A pattern is written once, in `lab.plan.names`; a person who breaks it reads the words beside it.
"""

from typing import Annotated

from pydantic import Field

from lab.plan.names import DAG, DATABASE, DOMAIN, SERVER, SLUG

Slug = Annotated[str, Field(pattern=SLUG)]
ServerName = Annotated[str, Field(pattern=SERVER)]
DagName = Annotated[str, Field(pattern=DAG)]
DatabaseName = Annotated[str, Field(pattern=DATABASE)]
DomainName = Annotated[str, Field(pattern=DOMAIN, max_length=200)]
