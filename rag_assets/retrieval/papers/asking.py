"""The route of a question as a language model sees it."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.model import AnswerError
from rag_assets.retrieval.papers.routing import Intent, Route

if TYPE_CHECKING:
    from rag_assets.llm import Budget, ChatModel

ROUTE_TASK = "route_question"
# A question names a paper in a few ways; more is an answer, not what was asked for.
_MOST_KEYWORDS = 8


class _RouteAnswer(BaseModel):
    """What the model is asked for; also the JSON Schema that is sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intent: Intent
    target_paper_keywords: Annotated[list[str], Field(max_length=_MOST_KEYWORDS)] = []
    target_section_category: list[Literal[0, 1, 2, 3, 4, 5, 6]] = []


def ask_route(model: "ChatModel", question: str, budget: "Budget | None" = None) -> Route:
    """Return the route that a model gives.

    Raises:
        AnswerError: what came back is no route, or names what the question does not.
        LanguageModelError: the model cannot be asked.
        BudgetError: the task has no tokens or seconds left.
    """
    from rag_assets.llm import ChatRequest, Message, complete_as, load_prompt

    prompt = load_prompt(ROUTE_TASK)
    request = ChatRequest(
        (Message("system", prompt.text), Message("user", question)),
        task=ROUTE_TASK,
        prompt_hash=prompt.hash,
        temperature=0.0,
        shared_messages=1,
    )
    answer = complete_as(model, request, _RouteAnswer, budget)
    keywords = tuple(
        dict.fromkeys(
            filter(None, (" ".join(word.split()) for word in answer.target_paper_keywords))
        )
    )
    asked = _plain(question)
    invented = [word for word in keywords if _plain(word) not in asked]
    if answer.intent == "SPECIFIC_PAPER" and invented:
        # A paper that the model knows, not the one that was asked for.
        raise AnswerError(
            f"{model.name} was asked what paper {question!r} names, and named {invented[0]!r}, "
            "which does not stand there",
            str(answer),
        )
    return Route(
        answer.intent,
        keywords if answer.intent == "SPECIFIC_PAPER" else (),
        tuple(dict.fromkeys(answer.target_section_category)),
        model.name,
    )


def _plain(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())
