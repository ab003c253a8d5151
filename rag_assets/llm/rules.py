"""A model whose answers are computed: for tasks that have one right answer."""

from collections.abc import Callable, Iterator

from rag_assets.llm.budget import Budget, estimate_tokens
from rag_assets.llm.contract import ChatRequest, Completion, Piece, Usage, stream_whole


class RulesModel:
    """Answers by a function of the request; asks nobody.

    Args:
        name: of the rules; raise a number in it when the same request is answered otherwise.
        answer: from the request to the text of the answer.
    """

    def __init__(self, name: str, answer: Callable[[ChatRequest], str]) -> None:
        self._name = name
        self._answer = answer

    @property
    def name(self) -> str:
        """`rules:<name>`."""
        return f"rules:{self._name}"

    def describe(self) -> dict[str, str | int | float]:
        """Return the kind and the name."""
        return {"kind": "rules", "model": self._name}

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Return what the function says. It costs no tokens, so a budget limits time alone."""
        if budget is not None:
            budget.require_time()
        text = self._answer(request)
        prompt = estimate_tokens(*(message.content for message in request.messages))
        usage = Usage(prompt, estimate_tokens(text), is_estimated=True)
        return Completion(text, "stop", usage, self._name)

    def stream(self, request: ChatRequest, budget: Budget | None = None) -> Iterator[Piece]:
        """Yield the same answer word by word."""
        yield from stream_whole(self.complete(request, budget))
