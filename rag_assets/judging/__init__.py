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
from rag_assets.judging.facts import check_facts
from rag_assets.judging.framing import Frame, find_frame, hold_to_source
from rag_assets.judging.quantities import read_numerals, read_quantities
from rag_assets.judging.scorers import (
    MAX_UNKNOWN_SHARE,
    TextEncoder,
    cosines,
    load_scorer,
    open_verifying_model,
)
from rag_assets.judging.words import is_negated
from rag_assets.model.settings import ScorerName

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("numbers", "quantities", "readers", "statement", "words")
