"""A draft under a person's eyes: what to look at first, judged, edited, taken along."""

from rag_assets.auditing.reviewing.editing import SentenceEdit, add_passage, replace_sentence
from rag_assets.auditing.reviewing.reviews import (
    Choice,
    CitedSource,
    Difference,
    DraftSummary,
    Item,
    LaidDraft,
    Review,
    Reviews,
    choices_of,
    cited_sources,
    differences,
    export_standing,
    find_choice,
    kept_report,
    lay_out_draft,
    make_review,
    marked_sentence,
    shown_parts,
)
