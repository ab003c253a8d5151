"""Briefs of what is asked for and how exemplars are written; never evidence."""

from rag_assets.evidence.briefing.demands import (
    Demand,
    InstructionText,
    find_demands,
    gather_instructions,
)
from rag_assets.evidence.briefing.writing import Briefs, Style, measure_style, write_briefs
