"""Whether the passages of a cited document support a sentence: scorers behind one protocol."""

from typing import TYPE_CHECKING

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
from rag_assets.lazily import lazy_names
from rag_assets.settings import ScorerName

if TYPE_CHECKING:
    from rag_assets.judging.contract import MeasurableScorer
    from rag_assets.judging.facts import check_facts
    from rag_assets.judging.framing import Frame, find_frame, hold_to_source
    from rag_assets.judging.negation import is_negated
    from rag_assets.judging.numerals import read_numerals
    from rag_assets.judging.quantities import read_quantities
    from rag_assets.judging.reader_fit import ReaderFit, keep_fit

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("statement",)

__all__ = [
    "MAX_UNKNOWN_SHARE",
    "SCORE_DECIMALS",
    "Frame",
    "Judgement",
    "MeasurableScorer",
    "PassageText",
    "ReaderFit",
    "ReasonCode",
    "Scorer",
    "ScorerName",
    "Sign",
    "SignKind",
    "Status",
    "TextEncoder",
    "Thresholds",
    "check_facts",
    "cosines",
    "find_frame",
    "hold_to_source",
    "is_negated",
    "keep_fit",
    "load_scorer",
    "name_context",
    "open_verifying_model",
    "read_numerals",
    "read_quantities",
    "show_score",
    "try_model",
]

# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "Frame": "framing",
        "MeasurableScorer": "contract",
        "ReaderFit": "reader_fit",
        "check_facts": "facts",
        "find_frame": "framing",
        "hold_to_source": "framing",
        "is_negated": "negation",
        "keep_fit": "reader_fit",
        "read_numerals": "numerals",
        "read_quantities": "quantities",
    },
)
