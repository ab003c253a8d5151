"""The index of a workspace, as claim audits ask it."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rag_assets.auditing.articles import read_articles, show_article
from rag_assets.auditing.library import CitedDocument, Library
from rag_assets.model import hash_fields
from rag_assets.retrieval import NOT_EVIDENCE, Hit, Retriever, SearchFilters
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel


class PublishedIndex:
    """Some publications, until it is left; only what may be cited is found.

    Args:
        publications: their names by namespace.
    """

    def __init__(self, workspace: Workspace, publications: Mapping[str, str]) -> None:
        self._retriever = Retriever(
            workspace, llm=_chat_model(workspace), publications=publications
        )
        self._fingerprint = ""

    def __enter__(self) -> Self:
        self._retriever.__enter__()
        publications = {
            name: manifest["publication"] for name, manifest in self._retriever.manifests.items()
        }
        self._fingerprint = hash_fields(
            publications, self._retriever.settings.model_dump(mode="json")
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._retriever.close()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the publications and of the settings of the search."""
        return self._fingerprint

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Names of the namespaces that are asked."""
        return tuple(reader.namespace for reader in self._retriever.readers)

    def ask(self, query: str, top_k: int) -> Sequence[Hit]:
        """Return citable chunks, best first."""
        found = self._retriever.retrieve(
            query, top_k=top_k, filters=SearchFilters(citable_only=True)
        )
        return [hit for hit in found.hits if hit.kind not in NOT_EVIDENCE]


class PublishedStatutes:
    """The articles of what a library holds. Each document is read once."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._read: dict[tuple[str, str], CitedDocument | None] = {}

    def article_of(self, hit: Hit, place: int) -> str | None:
        """Return the article, with its clause, that a place of a found chunk belongs to."""
        document = self._statute(hit.namespace, hit.doc_uid)
        if document is None:
            return None
        numbers = {passage.chunk_id: i for i, passage in enumerate(document.passages)}
        number = numbers.get(hit.chunk_id)
        return None if number is None else show_article(document, number, place)

    def _statute(self, namespace: str, doc_uid: str) -> CitedDocument | None:
        key = namespace, doc_uid
        if key not in self._read:
            refs = self._library.find(doc_uid, namespace)
            document = self._library.load(refs[0]) if refs else None
            # What is no statute need not be held.
            is_statute = document is not None and read_articles(document)
            self._read[key] = document if is_statute else None
        return self._read[key]


def _chat_model(workspace: Workspace) -> "ChatModel | None":
    if workspace.settings.llm.kind == "none":
        return None
    from rag_assets.llm import open_chat_model

    return open_chat_model(workspace)
