"""Statutes: how a text names their articles, where these begin, and which law is meant."""

from rag_assets.law.articles import (
    ArticleBegin,
    ArticleReference,
    article_key,
    article_pattern,
    find_begins,
    has_articles,
)
from rag_assets.law.clauses import (
    ARTICLE_AND_CLAUSE,
    Clause,
    find_clauses,
    pick_clause,
    read_clause,
)
from rag_assets.law.dates import find_statute_year
from rag_assets.law.english_articles import ENGLISH_ADDRESS
from rag_assets.law.english_names import LAW_NOUNS
from rag_assets.law.english_references import find_english_references
from rag_assets.law.names import LawNames, is_name_of, mark_name, own_name, plain_name
from rag_assets.law.numbers import NUMBER, read_number, write_number
from rag_assets.law.references import find_references, names_articles

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("citing", "curating", "metadata", "repeals", "structure", "versions")

__all__ = [
    "ARTICLE_AND_CLAUSE",
    "ENGLISH_ADDRESS",
    "LAW_NOUNS",
    "NUMBER",
    "ArticleBegin",
    "ArticleReference",
    "Clause",
    "LawNames",
    "article_key",
    "article_pattern",
    "find_begins",
    "find_clauses",
    "find_english_references",
    "find_references",
    "find_statute_year",
    "has_articles",
    "is_name_of",
    "mark_name",
    "names_articles",
    "own_name",
    "pick_clause",
    "plain_name",
    "read_clause",
    "read_number",
    "write_number",
]
