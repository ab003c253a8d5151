"""Whether a question is about one paper or about a field, and which sections may answer it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.model import AnswerError

if TYPE_CHECKING:
    from rag_assets.llm import Budget, ChatModel

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


def route_question(
    question: str,
    known: Collection[str] = (),
    llm: "ChatModel | None" = None,
    budget: "Budget | None" = None,
) -> Route:
    """Return the route of a question: a model's where there is one, else that of the rules.

    Args:
        question: English or Chinese.
        known: names by which the library's papers are called (`PaperNames.known`).
        llm: asked instead of the rules; an answer that is no route leaves it to them, and `told`
            says so.
        budget: of the model.

    Raises:
        LanguageModelError: the model cannot be asked.
        BudgetError: no tokens or seconds are left.
    """
    from rag_assets.retrieval.papers.rules import route_by_rules

    if llm is None:
        return route_by_rules(question, known)
    from rag_assets.retrieval.papers.asking import ask_route

    try:
        return ask_route(llm, question, budget)
    except AnswerError as error:
        found = route_by_rules(question, known)
        why = f"the route is that of the rules: {error}"
        return Route(
            found.intent,
            found.target_paper_keywords,
            found.target_section_category,
            found.origin,
            (why,),
        )
