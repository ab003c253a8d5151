"""Whether a question is about one paper or about a field, and which sections may answer it."""

from dataclasses import dataclass
from typing import Any, Literal

Intent = Literal["SPECIFIC_PAPER", "TOPIC_SURVEY"]


@dataclass(frozen=True, slots=True)
class Route:
    """What a question asks for (spec 002 §3.3.1).

    Args:
        intent: one paper, or a topic across papers.
        target_paper_keywords: what the paper is called by, the surest first; empty for a topic, or
            where the question says no more than "this paper".
        target_section_category: 0 abstract to 6 related work; empty for the whole text.
        origin: who decided: `rules`, with the rule's id behind a colon, or a model's name.
        told: why it was not decided as it should have been: a model's answer that was none.
    """

    intent: Intent
    target_paper_keywords: tuple[str, ...] = ()
    target_section_category: tuple[int, ...] = ()
    origin: str = "rules"
    told: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return exactly the three fields of spec 002."""
        return {
            "intent": self.intent,
            "target_paper_keywords": list(self.target_paper_keywords),
            "target_section_category": list(self.target_section_category),
        }
