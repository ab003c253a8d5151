"""Briefs of what is asked for and how exemplars are written; never evidence."""

from rag_assets.briefing.demands import Demand, find_demands
from rag_assets.briefing.gathering import InstructionText, gather_instructions
from rag_assets.briefing.style import Style, measure_style
from rag_assets.briefing.writing import Briefs, write_briefs

__all__ = [
    "Briefs",
    "Demand",
    "InstructionText",
    "Style",
    "find_demands",
    "gather_instructions",
    "measure_style",
    "write_briefs",
]
