"""Statutes: how a text names their articles, where these begin, and which law is meant."""

from rag_assets.law.articles import (
    ArticleBegin,
    article_key,
    article_pattern,
    find_begins,
    has_articles,
)
from rag_assets.law.names import LawNames
from rag_assets.law.numbers import NUMBER, read_number, write_number
from rag_assets.law.references import ArticleReference, find_references

__all__ = [
    "NUMBER",
    "ArticleBegin",
    "ArticleReference",
    "LawNames",
    "article_key",
    "article_pattern",
    "find_begins",
    "find_references",
    "has_articles",
    "read_number",
    "write_number",
]
