"""Whether the passages of a cited document support a sentence: scorers behind one protocol."""

from rag_assets.judging.abbreviations import Abbreviation, find_abbreviations, reword, spell_out
from rag_assets.judging.clauses import is_fragment
from rag_assets.judging.contract import (
    SCORE_DECIMALS,
    Judgement,
    PassageText,
    ReasonCode,
    Scorer,
    Sign,
    SignKind,
    Status,
    Thresholds,
    name_context,
    show_score,
)
from rag_assets.judging.cues import read_cues
from rag_assets.judging.loading import load_scorer
from rag_assets.judging.similarity import MAX_UNKNOWN_SHARE, TextEncoder, cosines
from rag_assets.judging.term_weights import term_weight
from rag_assets.workspace.settings import ScorerName

__all__ = [
    "MAX_UNKNOWN_SHARE",
    "SCORE_DECIMALS",
    "Abbreviation",
    "Judgement",
    "PassageText",
    "ReasonCode",
    "Scorer",
    "ScorerName",
    "Sign",
    "SignKind",
    "Status",
    "TextEncoder",
    "Thresholds",
    "cosines",
    "find_abbreviations",
    "is_fragment",
    "load_scorer",
    "name_context",
    "read_cues",
    "reword",
    "show_score",
    "spell_out",
    "term_weight",
]
