"""What the search knows of a reranker."""

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Judges how well passages answer a question, each by itself."""

    @property
    def name(self) -> str:
        """What a person calls the model."""

    @property
    def fingerprint(self) -> str:
        """Digest of all that decides a score, as far as it can be known from here."""

    def can_read(self, text: str) -> bool:
        """Return whether the model knows the language of `text`.

        A question it cannot read is not reranked, and a passage it cannot read keeps its place;
        both are said. A service that states no limit returns True.
        """

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one finite score a passage, in their order; the higher, the better the answer.

        Args:
            query: one question.
            passages: texts; may be empty.
        """


# Each provider is a module of this room (`bundled`, `cross_encoder`, `http`, `vertex`) with a
# function `reranker(settings: RerankSettings) -> Reranker`, imported when it is first asked for.
