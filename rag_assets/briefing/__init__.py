"""Briefs of what is asked for and how exemplars are written; never evidence."""

from rag_assets.briefing.demands import Demand, InstructionText, find_demands, gather_instructions
from rag_assets.briefing.writing import Briefs, Style, measure_style, write_briefs

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
