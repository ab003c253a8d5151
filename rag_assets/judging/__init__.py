"""Whether the passages of a cited document support a sentence: scorers behind one protocol."""

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
from rag_assets.judging.loading import load_scorer, open_verifying_model, try_model
from rag_assets.judging.similarity import MAX_UNKNOWN_SHARE, TextEncoder, cosines
from rag_assets.workspace.settings import ScorerName

__all__ = [
    "MAX_UNKNOWN_SHARE",
    "SCORE_DECIMALS",
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
    "load_scorer",
    "name_context",
    "open_verifying_model",
    "show_score",
    "try_model",
]
