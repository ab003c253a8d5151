"""Statutes: how a text names their articles, where these begin, and which law is meant."""

from rag_assets.law.articles import (
    ENGLISH_ADDRESS,
    NUMBER,
    ArticleBegin,
    Clause,
    article_key,
    article_pattern,
    describe_missing,
    find_begins,
    find_clauses,
    find_statute_year,
    has_articles,
    pick_clause,
    read_number,
    wording_keys,
    write_number,
)
from rag_assets.law.names import (
    LAW_NOUNS,
    LawNames,
    is_name_of,
    mark_name,
    national_laws,
    own_name,
    plain_name,
)
from rag_assets.law.references import ONE_ARTICLE, ArticleReference, find_references

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("citing", "curating", "metadata", "structure", "versions")
