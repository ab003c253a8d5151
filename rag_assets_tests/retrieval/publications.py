"""The type of the fixture that makes publications."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rag_assets.retrieval import Reader

# Names, and here also fingerprints, of the models of made-up publications.
MODELS = ("one", "two", "three")


class PublicationMaker(Protocol):
    def __call__(
        self, namespace: str, rows: Sequence[Mapping[str, Any]], *dimensions: int
    ) -> Reader: ...
