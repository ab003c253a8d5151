"""Settings of judging: verification of citations, audits of claims."""

from typing import Annotated, Literal

from rag_assets.settings.section import Count, Off, Section, Share

ScorerName = Literal["auto", "reader", "facts", "similarity", "llm"]


class ReaderSettings(Section):
    """Thresholds of the scorers `reader` and `llm`; None: those that were fitted for the model."""

    threshold: Share | None
    weak_threshold: Share | None


class VerifySettings(Section):
    """Verification of citations (spec 000)."""

    scorer: ScorerName
    k: Count
    threshold: Share
    weak_threshold: Share
    llm: ReaderSettings


class AuditSettings(Section):
    """Audits of the claims of a draft (spec 000)."""

    counterevidence: Annotated[Literal["off", "soft", "strict"], Off]
    suggestions_top_k: Count
    counterevidence_top_k: Count
