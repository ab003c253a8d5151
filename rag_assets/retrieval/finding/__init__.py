"""The sentences of one document that decide a statement, by statement and document alone."""

from rag_assets.retrieval.finding.finder import (
    FINDING_VERSION,
    MOST_WINDOWS,
    WINDOW_TOKENS,
    EvidenceFinder,
    EvidenceWindow,
    Nearness,
    OpenDocument,
)
from rag_assets.retrieval.finding.sentences import (
    PassageLike,
    Sentence,
    cites_others,
    is_imprint,
    is_question,
    read_sentences,
    shown_sentence,
    text_size,
    without_asking,
    without_references,
)
