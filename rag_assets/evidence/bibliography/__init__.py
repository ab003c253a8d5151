"""The sources that a pack or an audit uses, for a reference manager."""

from rag_assets.evidence.bibliography.exporting import (
    FORMATS,
    ExportedSources,
    export_references,
    export_used_sources,
)
from rag_assets.evidence.bibliography.formats import render_bibtex, render_csl, render_ris
from rag_assets.evidence.bibliography.names import PersonName, split_name, split_names
from rag_assets.evidence.bibliography.reference import Reference

__all__ = [
    "FORMATS",
    "ExportedSources",
    "PersonName",
    "Reference",
    "export_references",
    "export_used_sources",
    "render_bibtex",
    "render_csl",
    "render_ris",
    "split_name",
    "split_names",
]
