"""Rules decide: search once, quote the first articles, whole; no model is asked."""

from typing import Any

from rag_assets.agents import AgentState, Decision, RulesPolicy
from rag_assets.answering.law.tools import TOP_K

# Counts as code: raise it when the same question is searched or answered otherwise.
RULES_NAME = "law-1"
QUOTES_NAME = f"rules:{RULES_NAME}"
# Articles that are quoted: of more the best are lost among the ranks.
MOST_ARTICLES = 8
SEARCH = "law_search"


def law_rules() -> RulesPolicy:
    """Return the rules for a question about law."""
    return RulesPolicy(RULES_NAME, _decide)


def first_search(question: str) -> Decision:
    """Return the search by which every answer begins."""
    return Decision(SEARCH, {"query": question, "k": TOP_K}, "The question as it was asked.")


def quote_articles(state: AgentState) -> dict[str, Any]:
    """Return the arguments of `finish`: the first articles that a search found, whole."""
    found = [alias for alias, passage in state.passages.items() if passage.score > 0]
    return {
        "points": [
            {"text": state.passages[alias].text, "citations": [alias]}
            for alias in found[:MOST_ARTICLES]
        ],
        "conflicts": None,
    }


def _decide(state: AgentState) -> Decision:
    if not any(step.action == SEARCH for step in state.acted):
        return first_search(state.question)
    return Decision("finish", quote_articles(state), "The articles that were found first.")
