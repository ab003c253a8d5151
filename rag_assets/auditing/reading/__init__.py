"""Drafts that are no text files: what they say, as Markdown in which citations stay."""

from rag_assets.auditing.reading.office import OFFICE_SUFFIXES, read_office_text

__all__ = ["OFFICE_SUFFIXES", "read_office_text"]
