"""The type of the fixture that makes publications."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rag_assets.retrieval import Reader


class PublicationMaker(Protocol):
    def __call__(
        self, namespace: str, rows: Sequence[Mapping[str, Any]], dimension: int = ...
    ) -> Reader: ...
