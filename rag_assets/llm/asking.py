"""Ask for values instead of text: the answer follows a pydantic model or is an error."""

from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from rag_assets.llm.budget import Budget
from rag_assets.llm.contract import ChatModel, ChatRequest
from rag_assets.model import AnswerError

_SHOWN_CHARACTERS = 200
_Answer = TypeVar("_Answer", bound=BaseModel)


def complete_as(
    model: ChatModel,
    request: ChatRequest,
    answer: type[_Answer],
    budget: Budget | None = None,
) -> _Answer:
    """Return the answer as values; its JSON Schema is sent with the request.

    Raises:
        AnswerError: what came back is not such values; `answer` holds it.
        LanguageModelError, BudgetError: as `ChatModel.complete`.
    """
    schema = answer.model_json_schema()
    completion = model.complete(replace(request, schema=schema), budget)
    try:
        return answer.model_validate_json(completion.text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise AnswerError(
            f"{model.name} was asked for {answer.__name__} as JSON; {key}: {first['msg']}, got "
            f"{completion.text[:_SHOWN_CHARACTERS]!r}. A model that follows JSON Schemas, or "
            "more 'llm.max_tokens', mends it.",
            completion.text,
        ) from error
