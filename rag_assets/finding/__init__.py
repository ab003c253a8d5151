"""The sentences of one document that decide a statement, by statement and document alone."""

from rag_assets.finding.features import FEATURES, DocumentFeatures
from rag_assets.finding.finder import (
    FINDING_VERSION,
    MOST_WINDOWS,
    WINDOW_TOKENS,
    EvidenceFinder,
    EvidenceWindow,
    OpenDocument,
)
from rag_assets.finding.imprint import is_imprint
from rag_assets.finding.questions import KINDS, is_question, measure_kinds, without_asking
from rag_assets.finding.sentences import PassageLike, Sentence, read_sentences
from rag_assets.finding.sizes import text_size
from rag_assets.finding.speakers import authors_speak, cites_others, without_references
from rag_assets.finding.weights import WEIGHTS_FILE, FindingWeights, load_weights
from rag_assets.finding.words import read_units

__all__ = [
    "FEATURES",
    "FINDING_VERSION",
    "KINDS",
    "MOST_WINDOWS",
    "WEIGHTS_FILE",
    "WINDOW_TOKENS",
    "DocumentFeatures",
    "EvidenceFinder",
    "EvidenceWindow",
    "FindingWeights",
    "OpenDocument",
    "PassageLike",
    "Sentence",
    "authors_speak",
    "cites_others",
    "is_imprint",
    "is_question",
    "load_weights",
    "measure_kinds",
    "read_sentences",
    "read_units",
    "text_size",
    "without_asking",
    "without_references",
]
