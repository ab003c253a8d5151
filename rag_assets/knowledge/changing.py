"""Sources that come and go together: any number of them, one run, one publication."""

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.chunking.editing import find_document
from rag_assets.knowledge.adding import Added, add_content, sidecar_of
from rag_assets.knowledge.config import (
    KnowledgeConfig,
    SparseEmbeddingConfig,
    part_of,
    with_sparse_embedder,
)
from rag_assets.knowledge.source import KnowledgeSource
from rag_assets.knowledge.stores import declare_namespace, open_namespace, planned_namespace
from rag_assets.model import (
    ParseFailure,
    PublicationError,
    RagError,
    ServiceError,
    UsageError,
    hide_credentials,
)
from rag_assets.publishing import DocumentLine, original_uri
from rag_assets.storage import reading_once
from rag_assets.workspace import (
    ARCHIVED,
    Namespace,
    current_identities,
    current_overrides,
    override_metadata,
    read_inventory,
)

if TYPE_CHECKING:
    from rag_assets.running import RunOutcome

# Changes that wait for one run; those beyond wait for a thread.
_changes = ThreadPoolExecutor(max_workers=64, thread_name_prefix="rag-change")
_RETIRED = "retired from Python"
_TAKEN_IN = "ingested again from Python"


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """What became of a source.

    Args:
        doc_uid: what a person cites; `doc_uid` of hits.
        path: where its bytes lie below raw/.
        is_new: False where the same bytes lay there already; then nothing was added.
        run: of the assets.
    """

    doc_uid: str
    path: Path
    is_new: bool
    run: "RunOutcome" = field(repr=False)


@dataclass(frozen=True, slots=True)
class LibraryChange:
    """What one run has made of several sources.

    Args:
        ingested: the outcome of each source that is published now, in their order.
        failed: each other source with why: it could not be fetched, read or added.
        retired: uids of the documents that were taken out.
        run: of the assets; None where there was nothing to run for.
    """

    ingested: tuple[IngestOutcome, ...]
    failed: tuple[tuple[KnowledgeSource, RagError], ...]
    retired: tuple[str, ...]
    run: "RunOutcome | None" = field(repr=False)

    def only(self) -> IngestOutcome:
        """Return the outcome of the one source that was ingested; raise why it failed."""
        for _, error in self.failed:
            raise error
        return self.ingested[0]


async def in_thread(change: Callable[..., LibraryChange], *args: Any, **more: Any) -> LibraryChange:
    """Return what a function makes of a library; other work of the event loop goes on meanwhile.

    Not in a thread of the loop's own: these are few, and a change waits long for its turn.
    """
    call = functools.partial(change, *args, **more)
    return await asyncio.get_running_loop().run_in_executor(_changes, call)


async def ingest_many(
    sources: Sequence[KnowledgeSource],
    *,
    namespace: str,
    config: KnowledgeConfig | Mapping[str, Any] | None = None,
    sparse_embedder: SparseEmbeddingConfig | Mapping[str, Any] | None = None,
    retire: Sequence[KnowledgeSource | str | Path] = (),
) -> LibraryChange:
    """Do what `ingest_many_sync` does, in a thread."""
    return await in_thread(
        ingest_many_sync,
        sources,
        namespace=namespace,
        config=config,
        sparse_embedder=sparse_embedder,
        retire=retire,
    )


@reading_once()
def ingest_many_sync(
    sources: Sequence[KnowledgeSource],
    *,
    namespace: str,
    config: KnowledgeConfig | Mapping[str, Any] | None = None,
    sparse_embedder: SparseEmbeddingConfig | Mapping[str, Any] | None = None,
    retire: Sequence[KnowledgeSource | str | Path] = (),
) -> LibraryChange:
    """Add sources to a namespace and take others out, with one run and one publication.

    Each is added as by `KnowledgeSource.ingest_sync`. A source that cannot be fetched or read harms
    no other: it stands in `failed`. One that was retired before is taken in again.

    Args:
        retire: taken out before: `retire_sync` says what may be named.

    Raises:
        UsageError: nothing that is to be retired is called so; nothing was changed.
        ConfigurationError: the namespace is built otherwise than the configuration says.
        PublicationError: the run failed; what was published before is still there.
    """
    _require_sources(sources, "sources", KnowledgeSource)
    _require_sources(retire, "retire", KnowledgeSource, str, Path)
    chosen = with_sparse_embedder(part_of(KnowledgeConfig, config, "config"), sparse_embedder)
    space = planned_namespace(namespace, chosen)
    retired = _retired(space, retire, _RETIRED)
    added: list[tuple[KnowledgeSource, Added]] = []
    failed: list[tuple[KnowledgeSource, RagError]] = []
    is_declared = False
    for source in sources:
        try:
            fetched = source.fetch(space.settings)
            uri, metadata = hide_credentials(str(source.source_uri)), source.describe(fetched)
            sidecar_of(uri, metadata)  # what is wrong with it is said before anything is written
            if not is_declared:
                space, is_declared = declare_namespace(space, chosen), True
            held = add_content(space, fetched.data, fetched.name, uri, metadata)
        except (UsageError, ServiceError) as error:
            failed.append((source, error))
        else:
            added.append((source, held))
    if not added and not retired:
        return LibraryChange((), tuple(failed), (), None)
    _take_in_again(space, [held.content_hash for _, held in added])
    run = _run(space, ", ".join(str(held.path) for _, held in added) or ", ".join(retired))
    lines = _lines_by_path(space) if added else {}
    ingested = []
    for source, held in added:
        try:
            uid = _published_uid(space, lines, held.path)
        except (ParseFailure, PublicationError) as error:
            failed.append((source, error))
        else:
            ingested.append(IngestOutcome(uid, held.path, held.is_new, run))
    return LibraryChange(tuple(ingested), tuple(failed), retired, run)


async def retire(
    *sources: KnowledgeSource | str | Path,
    namespace: str,
    config: KnowledgeConfig | Mapping[str, Any] | None = None,
    reason: str = _RETIRED,
) -> LibraryChange:
    """Do what `retire_sync` does, in a thread."""
    return await in_thread(retire_sync, *sources, namespace=namespace, config=config, reason=reason)


def retire_sync(
    *sources: KnowledgeSource | str | Path,
    namespace: str,
    config: KnowledgeConfig | Mapping[str, Any] | None = None,
    reason: str = _RETIRED,
) -> LibraryChange:
    """Take documents out of a namespace, with one run: no search finds them from then on.

    Their files stay in raw/, and they stand in the library as `archived`. `rag meta set UID
    archived=` takes one in again, or its source where it is ingested again.

    Args:
        sources: as they were ingested, or their URI: every document that came from there; else a
            uid, or a file of raw/.
        reason: stands in the journal.

    Raises:
        UsageError: one is not in the library; nothing was changed.
        PublicationError: the run failed; what was published before is still there.
    """
    space = open_namespace(namespace, part_of(KnowledgeConfig, config, "config"))
    retired = _retired(space, sources, reason)
    run = _run(space, ", ".join(retired)) if retired else None
    return LibraryChange((), (), retired, run)


def _require_sources(given: Sequence[object], name: str, *kinds: type) -> None:
    """Refuse a single text, which is a sequence of its letters, and what is no source."""
    wrong = given if isinstance(given, str) else next(
        (one for one in given if not isinstance(one, kinds)), None
    )  # fmt: skip
    if wrong is not None:
        raise UsageError(
            f"'{name}' is a list of {' or '.join(kind.__name__ for kind in kinds)}, got {wrong!r}."
        )


def _retired(
    namespace: Namespace, sources: Sequence[KnowledgeSource | str | Path], reason: str
) -> tuple[str, ...]:
    """Enter in the journal that documents are archived; all of them or none."""
    uids = [uid for source in sources for uid in _uids_from(namespace, source)]
    overrides = current_overrides(namespace)
    wanted = [u for u in dict.fromkeys(uids) if ARCHIVED not in overrides.get(u, {})]
    for uid in wanted:
        override_metadata(namespace, uid, {ARCHIVED: "true"}, reason)
    return tuple(wanted)


def _uids_from(namespace: Namespace, source: KnowledgeSource | str | Path) -> list[str]:
    given = source.source_uri if isinstance(source, KnowledgeSource) else source
    uri = hide_credentials(str(given))
    inventory = read_inventory(namespace)
    if inventory is not None:
        identities = current_identities(namespace, inventory)
        uids = {
            identities.uids[each.content_hash]: None
            for each in inventory.sources
            if original_uri(each) == uri and each.content_hash in identities.uids
        }
        if uids:
            return list(uids)
    return [find_document([namespace], uri)[1]]


def _take_in_again(namespace: Namespace, contents: Sequence[str]) -> None:
    overrides = current_overrides(namespace)
    inventory = read_inventory(namespace)
    if inventory is None or not any(ARCHIVED in fields for fields in overrides.values()):
        return
    uids = current_identities(namespace, inventory).uids
    for content in contents:
        uid = uids.get(content)
        if uid is not None and ARCHIVED in overrides.get(uid, {}):
            override_metadata(namespace, uid, {ARCHIVED: None}, _TAKEN_IN)


def _run(namespace: Namespace, what: str) -> "RunOutcome":
    from rag_assets.running import ingest_changes

    run = ingest_changes(namespace)
    if not run.is_published:
        said = list(run.errors) or [
            f"check {check.name}: {check.description}" for check in run.checks if not check.passed
        ]
        raise PublicationError(f"{what}: noted, but the run failed: {' '.join(said)}")
    return run


def _lines_by_path(namespace: Namespace) -> dict[str, DocumentLine]:
    from rag_assets.embedding import model_fingerprints
    from rag_assets.publishing import list_documents

    lines = list_documents(namespace, model_fingerprints(namespace.settings.embed))
    # Another document may have lain at a path that is taken again.
    held = (line for line in lines if line.status != "removed")
    return {path: line for line in held for path in line.paths}


def _published_uid(namespace: Namespace, lines: Mapping[str, DocumentLine], path: Path) -> str:
    """Return the uid of a published file; raise why it is not published."""
    uri, line = next(
        (uri, line) for uri, line in lines.items() if namespace.raw_file(uri) == path.absolute()
    )
    if line.status == "failed":
        raise ParseFailure(line.reason_code or "parser_crashed", line.message or line.status)
    if line.status != "published" or line.doc_uid is None:
        raise PublicationError(f"{uri} is not published ({line.status}: {line.message}).")
    return line.doc_uid
