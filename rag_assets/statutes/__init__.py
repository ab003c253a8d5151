"""Statutes of a library: an article cut out exactly, in the wording that held on a day."""

from typing import TYPE_CHECKING

from rag_assets.law.citing import StatuteCitation, read_citation, write_citation
from rag_assets.lazily import lazy_names
from rag_assets.statutes.exceptions import (
    dropped_limit,
    exception_end,
    exceptions_of,
    excepts,
    misplaced_lead,
)
from rag_assets.statutes.searching import (
    FoundStatute,
    StatuteSearch,
    group_by_rank,
    search_shelf,
    search_statutes,
)
from rag_assets.statutes.shelf import FoundArticle, LawShelf, LawVersion, UnknownLawError

if TYPE_CHECKING:
    from rag_assets.statutes.curating import (
        Curation,
        curate_namespace,
        place_of,
        write_curation_reports,
    )
    from rag_assets.statutes.verifying import CutFaults, find_cut_faults, unresolved_citations

__all__ = [
    "Curation",
    "CutFaults",
    "FoundArticle",
    "FoundStatute",
    "LawShelf",
    "LawVersion",
    "StatuteCitation",
    "StatuteSearch",
    "UnknownLawError",
    "curate_namespace",
    "dropped_limit",
    "exception_end",
    "exceptions_of",
    "excepts",
    "find_cut_faults",
    "group_by_rank",
    "misplaced_lead",
    "place_of",
    "read_citation",
    "search_shelf",
    "search_statutes",
    "unresolved_citations",
    "write_citation",
    "write_curation_reports",
]

# Imported on first use: who looks an article up must not wait for what looks through a vault.
__getattr__ = lazy_names(
    __name__,
    {
        "Curation": "curating",
        "CutFaults": "verifying",
        "curate_namespace": "curating",
        "find_cut_faults": "verifying",
        "place_of": "curating",
        "unresolved_citations": "verifying",
        "write_curation_reports": "curating",
    },
)
