"""Settings of search by entities."""

from rag_assets.settings.section import Section


class GraphSettings(Section):
    """Search by entities, beside words and models."""

    enabled: bool
