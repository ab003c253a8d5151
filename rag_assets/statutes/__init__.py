"""Statutes of a library: an article cut out exactly, in the wording that held on a day."""

from rag_assets.law.citing import StatuteCitation, read_citation, write_citation
from rag_assets.statutes.shelf import FoundArticle, LawShelf, LawVersion

__all__ = [
    "FoundArticle",
    "LawShelf",
    "LawVersion",
    "StatuteCitation",
    "read_citation",
    "write_citation",
]
