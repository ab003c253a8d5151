"""A draft under a person's eyes: what to look at first, judged, edited, taken along."""

from rag_assets.reviewing.adding import add_passage
from rag_assets.reviewing.editing import SentenceEdit, replace_sentence
from rag_assets.reviewing.items import Item, Review, make_review
from rag_assets.reviewing.keeping import (
    CitedSource,
    cited_sources,
    export_standing,
    kept_report,
)
from rag_assets.reviewing.reviews import DraftSummary, Reviews
from rag_assets.reviewing.showing import (
    Choice,
    Difference,
    LaidDraft,
    choices_of,
    differences,
    find_choice,
    lay_out_draft,
    shown_parts,
)

__all__ = [
    "Choice",
    "CitedSource",
    "Difference",
    "DraftSummary",
    "Item",
    "LaidDraft",
    "Review",
    "Reviews",
    "SentenceEdit",
    "add_passage",
    "choices_of",
    "cited_sources",
    "differences",
    "export_standing",
    "find_choice",
    "kept_report",
    "lay_out_draft",
    "make_review",
    "replace_sentence",
    "shown_parts",
]
