"""Ask one namespace or several from Python, with the names of spec 001."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator

from rag_assets.knowledge.config import (
    KnowledgeConfig,
    Part,
    RetrieveConfig,
    as_written,
    naming_keys,
    part_of,
    retrieve_settings,
    search_layer,
    search_part,
)
from rag_assets.knowledge.passages import KnowledgeChunk, describe_chunk
from rag_assets.knowledge.stores import open_namespace
from rag_assets.model import UsageError, require_text
from rag_assets.model.settings import InjectSettings
from rag_assets.workspace import Namespace

if TYPE_CHECKING:
    from rag_assets.retrieval import Retrieved, SearchFilters


class KnowledgeScope(Part):
    """What is searched. None of a part does not limit it.

    Args:
        namespaces: names; None for the retriever's own.
        document_ids: `doc_uid` or `doc_id` (SHA-256 of the text).
        tags: documents with at least one of them.
        years: first and last year of publication, both included; None for an open end.
        citable_only: only what may be cited as evidence.
    """

    namespaces: Sequence[str] | None = None
    document_ids: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    years: Annotated[tuple[int | None, int | None] | None, Field(strict=False)] = None
    citable_only: bool = False

    @model_validator(mode="after")
    def _are_texts(self) -> Self:
        for text in (*(self.namespaces or ()), *(self.document_ids or ()), *(self.tags or ())):
            require_text(text, f"{text!a} of the scope")
        return self


@dataclass(frozen=True, slots=True, repr=False)
class KnowledgeResult:
    """What was found.

    Args:
        hits: (chunk, score), best first; scores compare hits of one result only.
        retrieved: the same as the search returned it: settings as applied, filters in words,
            publications, parents.
        warnings: sentences a person can act on.
    """

    hits: tuple[tuple[KnowledgeChunk, float], ...]
    retrieved: "Retrieved"
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        shown = ", ".join(f"{chunk.chunk_id} {score:.3f}" for chunk, score in self.hits)
        return f"KnowledgeResult({shown or 'nothing was found'})"


class KnowledgeRetriever:
    """Answers questions from the publications that are current at each question.

    Every method is there twice: awaitable under the name that spec 001 gives it, and as
    `…_sync`. It may be used from several threads at once.
    """

    def __init__(self, namespace: Namespace, config: KnowledgeConfig) -> None:
        from rag_assets.llm import open_chat_model

        self._namespace = namespace
        self._workspace = namespace.workspace
        self._settings = retrieve_settings(namespace.settings.retrieve, config)
        self._layer = search_layer(config)
        self._llm = open_chat_model(self._workspace, namespace.settings.llm, role="rewrite")
        from rag_assets.retrieval import OpenedLibrary

        self._library = OpenedLibrary(self._workspace)

    @classmethod
    def from_config(
        cls, *, namespace: str, config: KnowledgeConfig | Mapping[str, Any] | None = None
    ) -> "KnowledgeRetriever":
        """Return a retriever of a namespace; nothing is opened before the first question.

        Raises:
            WorkspaceError: there is no workspace.
            UsageError: no such namespace.
            ConfigurationError: the namespace is built otherwise than the configuration says.
        """
        chosen = part_of(KnowledgeConfig, config, "config")
        return cls(open_namespace(namespace, chosen), chosen)

    async def retrieve(
        self,
        query: str,
        *,
        scope: KnowledgeScope | Mapping[str, Any] | None = None,
        document_ids: Sequence[str] | None = None,
        knowledge: KnowledgeConfig | RetrieveConfig | Mapping[str, Any] | None = None,
        top_k: int | None = None,
        filters: Sequence[str] = (),
        as_of: date | None = None,
        all_versions: bool = False,
    ) -> KnowledgeResult:
        """Do what `retrieve_sync` does, in a thread."""
        return await asyncio.to_thread(
            self.retrieve_sync,
            query,
            scope=scope,
            document_ids=document_ids,
            knowledge=knowledge,
            top_k=top_k,
            filters=filters,
            as_of=as_of,
            all_versions=all_versions,
        )

    def retrieve_sync(
        self,
        query: str,
        *,
        scope: KnowledgeScope | Mapping[str, Any] | None = None,
        document_ids: Sequence[str] | None = None,
        knowledge: KnowledgeConfig | RetrieveConfig | Mapping[str, Any] | None = None,
        top_k: int | None = None,
        filters: Sequence[str] = (),
        as_of: date | None = None,
        all_versions: bool = False,
    ) -> KnowledgeResult:
        """Return what the namespace, or the scope's namespaces, hold on a question.

        Several namespaces are one ranking: by score where they share a model, else fused by rank.

        Args:
            query: the question.
            scope: what is searched; None for the retriever's namespace.
            document_ids: narrows the scope further.
            knowledge: search settings for this question, laid over the retriever's.
            top_k: results at most; else the settings'.
            filters: further conditions as `rag query --filter` takes them: `year>=2020`.
            as_of: the day on which laws have to hold; None judges no wording and leaves none out.
            all_versions: of laws also the wordings in whose place another is in force.

        Raises:
            UsageError: no text in the query, an unknown namespace or document.
            ConfigurationError: `scope`, `knowledge` or `top_k` names what is not allowed.
            PublicationError: a namespace has no publication.
        """
        require_text(query, "the question")
        if as_of is not None and not isinstance(as_of, date):
            raise UsageError(f"'as_of' must be a date, got {as_of!r}.")
        wanted = part_of(KnowledgeScope, scope, "scope")
        # By the same rules: what narrows it further is a part of a scope.
        also = KnowledgeScope(document_ids=document_ids).document_ids
        names = tuple(dict.fromkeys(wanted.namespaces or (self._namespace.name,)))
        changes = RetrieveConfig() if top_k is None else RetrieveConfig(top_k=top_k)
        own = search_part(knowledge)
        settings = retrieve_settings(self._settings, own, changes)
        layers = [self._layer, search_layer(own)]
        from rag_assets.retrieval import Retriever

        with naming_keys(layers), Retriever(self._library, names, settings, self._llm) as retriever:
            found = retriever.retrieve(
                query,
                filters=_filters(wanted, filters),
                document_ids=_narrowed(wanted.document_ids, also),
                as_of=as_of,
                all_versions=all_versions,
            )
            uids = {hit.doc_uid for hit in found.hits}
            documents = {
                (reader.namespace, row["doc_uid"]): row
                for reader in (retriever.readers if uids else ())
                for row in reader.fetch_documents(uids).to_pylist()
            }
        warnings = tuple(as_written(warning, layers) for warning in found.warnings)
        return KnowledgeResult(self._described(found, documents), found, warnings)

    def resolve_inject_config(
        self, knowledge: KnowledgeConfig | RetrieveConfig | Mapping[str, Any] | None = None
    ) -> InjectSettings:
        """Return how contexts are built: the namespace's settings, the retriever's configuration
        over them, `knowledge` over both.
        """
        return retrieve_settings(self._settings, search_part(knowledge)).inject

    async def close(self) -> None:
        """Let go of the publications."""
        self.close_sync()

    def close_sync(self) -> None:
        """Let go of the publications; another question opens them again."""
        self._library.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_sync()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _described(
        self, found: "Retrieved", documents: Mapping[tuple[str, str], Mapping[str, Any]]
    ) -> tuple[tuple[KnowledgeChunk, float], ...]:
        from rag_assets.embedding import joint_tokenizer

        parents = {(p.parent.namespace, p.parent.parent_id): p.parent for p in found.parents}
        windows = {chunk.chunk_key: window for window in found.windows for chunk in window.found}
        tokenizers = {
            name: joint_tokenizer(self._workspace.namespace(name).settings.embed)
            for name in {hit.namespace for hit in found.hits}
        }
        return tuple(
            (
                describe_chunk(
                    hit,
                    parents.get((hit.namespace, hit.parent_id)),
                    windows.get(hit.chunk_key),
                    tokenizers[hit.namespace],
                    documents[hit.namespace, hit.doc_uid],
                ),
                hit.score,
            )
            for hit in found.hits
        )


def _filters(scope: KnowledgeScope, conditions: Sequence[str]) -> "SearchFilters":
    from rag_assets.retrieval import SearchFilters

    if isinstance(conditions, str) or not isinstance(conditions, Sequence):
        raise UsageError(f"'filters' must be a list such as ['year>=2020'], got {conditions!r}.")
    tags = tuple(scope.tags) if scope.tags is not None else None
    filters = SearchFilters(citable_only=scope.citable_only, tags=tags, years=scope.years)
    for condition in conditions:
        filters = filters.with_filter(condition)
    return filters


def _narrowed(
    scope: Sequence[str] | None, document_ids: Sequence[str] | None
) -> Sequence[str] | None:
    """Return the documents that both name; None where neither names any."""
    if scope is None or document_ids is None:
        return document_ids if scope is None else scope
    return [identity for identity in document_ids if identity in set(scope)]
