"""One source: previewed without a trace, or taken into a namespace (spec 001)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding import joint_tokenizer
from rag_assets.knowledge.adding import Fetched, is_web_address, name_of_address, read_uri
from rag_assets.knowledge.config import (
    ChunkConfig,
    KnowledgeConfig,
    SparseEmbeddingConfig,
    chunk_settings,
    laid_over,
    part_of,
)
from rag_assets.knowledge.passages import ChunkPreview, describe_preview
from rag_assets.knowledge.previewing import PreviewSource
from rag_assets.model import ParsedDocument, UsageError, hide_credentials, require_text
from rag_assets.model.settings import ChunkSettings
from rag_assets.workspace import Settings, shipped_settings

if TYPE_CHECKING:
    from rag_assets.knowledge.changing import IngestOutcome


@dataclass(frozen=True, slots=True)
class KnowledgeSource:
    """A file, a page behind http(s), or content that is in neither.

    Args:
        source_uri: a path or an address; with `content` any name, whose extension decides between
            text formats.
        content: taken instead of what the URI leads to.
        password: of a protected file.
        metadata: fields of a sidecar (`title`, `authors`, `year`, `tags`, `citable` …) and
            whatever else should be kept with the source.
    """

    source_uri: str | Path
    content: str | bytes | None = None
    password: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what can be no source.

        Raises:
            UsageError: says which part.
        """
        uri = self.source_uri
        if "\0" in require_text(str(uri) if isinstance(uri, Path) else uri, "'source_uri'"):
            raise UsageError("'source_uri' holds U+0000, which no file's name does.")
        if not isinstance(self.content, bytes | None):
            require_text(self.content, "'content'")
        if self.password is not None:
            require_text(self.password, "'password'")
        if not isinstance(self.metadata, Mapping):
            raise UsageError(f"'metadata' must be a mapping, got {type(self.metadata).__name__}.")

    def chunk(
        self,
        chunk_config: ChunkConfig | ChunkSettings | Mapping[str, Any] | None = None,
        *,
        settings: Settings | None = None,
    ) -> ChunkPreview:
        """Parse and cut the source as a build would, in a worker under the same limits.

        Args:
            chunk_config: with the names of spec 001, or of the settings below `chunk:`; only what
                it names is changed.
            settings: of a namespace; without it the shipped ones.

        Raises:
            ParseFailure: the source cannot be read; its reason code and message say why.
            UsageError, ServiceError: there is no such file, or the address does not answer.
            ConfigurationError: `chunk_config` names a key or value that is not allowed.
        """
        chosen = settings or shipped_settings()
        cutting = _cutting(chosen.chunk, chunk_config)
        made = self._here(chosen).chunk(cutting, settings=chosen)
        return describe_preview(made, joint_tokenizer(chosen.embed))

    def parse(self, settings: Settings | None = None) -> ParsedDocument:
        """Parse the source in a worker, under the limits of a build.

        Raises:
            ParseFailure, UsageError, ServiceError: as `chunk`.
        """
        chosen = settings or shipped_settings()
        return self._here(chosen).parse(chosen)

    async def ingest(
        self,
        *,
        namespace: str,
        config: KnowledgeConfig | Mapping[str, Any] | None = None,
        sparse_embedder: SparseEmbeddingConfig | Mapping[str, Any] | None = None,
    ) -> "IngestOutcome":
        """Do what `ingest_sync` does, in a thread."""
        from rag_assets.knowledge.changing import ingest_many

        change = await ingest_many(
            [self], namespace=namespace, config=config, sparse_embedder=sparse_embedder
        )
        return change.only()

    def ingest_sync(
        self,
        *,
        namespace: str,
        config: KnowledgeConfig | Mapping[str, Any] | None = None,
        sparse_embedder: SparseEmbeddingConfig | Mapping[str, Any] | None = None,
    ) -> "IngestOutcome":
        """Add the source to a namespace's raw/ and run its assets, up to a publication.

        The bytes go below `evidence/ingested/` with a sidecar that says where they are from.
        Nothing that lies there is changed: the same bytes again add nothing, changed bytes are
        another document. A workspace or namespace that the configuration names is made.

        Args:
            sparse_embedder: a sparse encoder that stands beside BM25, as
                `base_config.sparse_embedding` would name it.

        Raises:
            ParseFailure: the source was added and cannot be read; its reason code says why.
            UsageError, ServiceError: there is no such file, or the address does not answer.
            ConfigurationError: the namespace is built otherwise than the configuration says.
            PublicationError: the run failed; what was published before is still there.
        """
        from rag_assets.knowledge.changing import ingest_many_sync

        change = ingest_many_sync(
            [self], namespace=namespace, config=config, sparse_embedder=sparse_embedder
        )
        return change.only()

    def fetch(self, settings: Settings) -> Fetched:
        """Return the bytes with a name for their file.

        Raises:
            UsageError, ServiceError: there is no such file, or the address does not answer.
        """
        uri = str(self.source_uri)
        if self.content is not None:
            data = self.content.encode() if isinstance(self.content, str) else self.content
            name = name_of_address(uri) if is_web_address(uri) else Path(uri).name
            return Fetched(data, name, {"kind": "content", "bytes": len(data)})
        return read_uri(
            uri,
            max_megabytes=settings.parse.max_megabytes,
            max_seconds=settings.parse.seconds_per_document,
            allow_private=settings.download.private_addresses,
        )

    def describe(self, fetched: Fetched) -> dict[str, Any]:
        """Return the metadata with what is known of the source (spec 001, `source_info`)."""
        metadata = dict(self.metadata)
        key = "source_info_auto" if "source_info" in metadata else "source_info"
        metadata[key] = fetched.info
        if self.password is not None:
            metadata["password"] = self.password
        if is_web_address(str(self.source_uri)):
            metadata.setdefault("url", hide_credentials(str(self.source_uri)))
        return metadata

    def _here(self, settings: Settings) -> PreviewSource:
        """Return what is read, with its content where it lies behind HTTP."""
        if not is_web_address(str(self.source_uri)):
            return PreviewSource(self.source_uri, self.content, self.password)
        fetched = self.fetch(settings)
        return PreviewSource(fetched.name, fetched.data, self.password)


def _cutting(
    base: ChunkSettings, changes: ChunkConfig | ChunkSettings | Mapping[str, Any] | None
) -> ChunkSettings:
    if isinstance(changes, ChunkSettings):
        return changes
    if isinstance(changes, Mapping) and not changes.keys() & {"general", "parent_child"}:
        return laid_over(base, changes, "chunk_config")
    return chunk_settings(base, part_of(ChunkConfig, changes, "chunk_config"))
