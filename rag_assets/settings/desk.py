"""Settings of the desk, the web page of a workspace."""

from typing import Annotated

from pydantic import Field

from rag_assets.settings.section import Section

_Address = Annotated[str, Field(pattern=r"^https?://[^\s/]+(/[^\s]*)?$")]


class DeskSettings(Section):
    """Where the desk and the Dagster UI are opened, for the links from one to the other.

    Args:
        url: of the desk; `dagster_url` of `rag ui`. They decide nothing but links.
    """

    url: _Address
    dagster_url: _Address
