"""Which published documents speak of an assertion: the search that `rag query` makes."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from rag_assets.auditing.result_store import ResultStore
from rag_assets.model import hash_fields
from rag_assets.retrieval import NOT_EVIDENCE, Hit, Retriever, SearchFilters
from rag_assets.workspace import Workspace

# Part of the key of what is kept: raise it when the same question may be answered otherwise.
SEARCH_VERSION = 6
# Chunks asked for a document that is wanted: the best of one document often stand together.
_CHUNKS_A_DOCUMENT = 4

DocumentKey = tuple[str, str]
"""Namespace and `doc_uid`."""


class Index(Protocol):
    """Asks the published, citable passages."""

    @property
    def fingerprint(self) -> str:
        """Return SHA-256 of the publications and settings that decide what is found."""
        ...

    def ask(self, query: str, top_k: int) -> Sequence[Hit]:
        """Return citable chunks, best first."""
        ...


class PublishedIndex:
    """The search of `rag query` over the publications of an open retriever: what may be cited."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._fingerprint = hash_fields(
            {reader.namespace: reader.name for reader in retriever.readers},
            retriever.settings.model_dump(mode="json"),
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the publications and of the settings of the search."""
        return self._fingerprint

    def ask(self, query: str, top_k: int) -> Sequence[Hit]:
        """Return citable chunks, best first."""
        found = self._retriever.retrieve(
            query, top_k=top_k, filters=SearchFilters(citable_only=True)
        )
        return [hit for hit in found.hits if hit.kind not in NOT_EVIDENCE]


class SearchStore(ResultStore[tuple[DocumentKey, ...]]):
    """Documents found before, by all that decides them."""

    what: ClassVar[str] = "searches of claim audits"
    most: ClassVar[int] = 20_000  # some 4 MB

    @staticmethod
    def to_json(result: tuple[DocumentKey, ...]) -> Any:
        """Return documents as values that JSON knows."""
        return [list(key) for key in result]

    @staticmethod
    def from_json(stored: Any) -> tuple[DocumentKey, ...]:
        """Return what `to_json` made.

        Raises:
            TypeError, ValueError: it was made by another version of the product.
        """
        return tuple((str(namespace), str(uid)) for namespace, uid in stored)


def open_searches(workspace: Workspace) -> SearchStore:
    """Return the searches that a workspace keeps."""
    return SearchStore(
        workspace.store,
        workspace.key_of(workspace.judgements / "claim_searches.jsonl"),
        workspace.locks / "claim_searches.lock",
    )


@dataclass(slots=True)
class Searcher:
    """Asks the index which documents speak of something, each question once."""

    index: Index
    store: SearchStore
    searched_now: int = 0

    def find_documents(
        self, query: str, most: int, cited: Container[DocumentKey]
    ) -> tuple[DocumentKey, ...]:
        """Return the documents that a query finds, best first.

        Args:
            most: how many, from 1.
            cited: what is cited already, and not suggested once more.
        """
        key = hash_fields(SEARCH_VERSION, query, most, self.index.fingerprint)
        found = self.store.find(key)
        if found is None:
            hits = self.index.ask(query, most * _CHUNKS_A_DOCUMENT)
            found = tuple(
                dict.fromkeys((hit.namespace, hit.doc_uid) for hit in hits if hit.citable)
            )
            self.store.put([(key, found)])
            self.searched_now += 1
        return tuple(document for document in found if document not in cited)[:most]
