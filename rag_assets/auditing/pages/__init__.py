"""Audits as pages of HTML: the draft itself, coloured, each note a click away."""

from rag_assets.auditing.pages.layout import LaidBlock, Span, lay_out
from rag_assets.auditing.pages.page import Tone

__all__ = ["LaidBlock", "Span", "Tone", "lay_out"]
