"""The documents that drafts with known truth cite, parsed and cut as a build does."""

import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_assets.auditing import CitedDocument, CitedDocumentRef, Passage
from rag_assets.chunking import CHUNKING_VERSION, PARENTS_VERSION
from rag_assets.law.citing import StatuteCitation
from rag_assets.model import Chunk, PageBox, Progress, UsageError, hash_fields
from rag_assets.parsing import (
    ParseHints,
    media_type_of,
    parse_fingerprint,
    request_fingerprint,
)
from rag_assets.previewing import PreviewSource
from rag_assets.retrieval import NOT_EVIDENCE
from rag_assets.retrieval.statutes import UnknownLawError
from rag_assets.storage import write_bytes
from rag_assets.workspace import Settings

NAMESPACE = "drafts"
# Where the sources lie beside a file of drafts, unless others are named.
_BESIDE = (".", "../../papers", "../../retrieval/law/law_vault.tar.xz")
# As an audit reads a document: whom the authors thank and cite says nothing of what they found.
_UNSAID_SECTIONS = frozenset({"references", "acknowledgements"})
# Raise it when the same parse and chunks come to another document.
_VERSION = 1
_DOCUMENT = TypeAdapter(CitedDocument)


def sources_beside(file: Path) -> tuple[Path, ...]:
    """Return the folders and archives of sources that lie beside a file of drafts."""
    places = (file.parent / place for place in _BESIDE)
    return tuple(place.resolve() for place in places if place.exists())


def read_sources(
    papers: Iterable[str],
    places: Sequence[Path],
    settings: Settings,
    cache: Path | None,
    on_progress: Progress | None = None,
) -> dict[str, CitedDocument]:
    """Return the cited documents by their names in rows.

    Args:
        papers: paths below a folder of `places`, or inside of an archive (tar) among them.
        settings: how they are parsed and cut.
        cache: where what was read is kept by all that decides it; None keeps nothing.

    Raises:
        UsageError: a document lies in none of the places.
        ParseFailure: one cannot be read.
    """
    names = sorted(set(papers))
    found: dict[str, CitedDocument] = {}
    with tempfile.TemporaryDirectory(prefix="rag-drafts-") as folder:
        files = dict(_find(names, places, Path(folder)))
        if missing := [name for name in names if name not in files]:
            raise UsageError(
                f"{len(missing)} cited sources are not there, {missing[0]} among them (looked in "
                f"{', '.join(map(str, places)) or 'no folder'}). Name their folder, or the archive "
                "that holds them, by --sources."
            )
        for done, name in enumerate(names, 1):
            found[name] = _read(name, files[name], settings, cache)
            if on_progress is not None:
                on_progress("sources", done, len(names))
    return found


def _find(names: Sequence[str], places: Sequence[Path], folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield where each document lies; those in archives are unpacked into `folder`."""
    for place in places:
        if place.is_file():
            with tarfile.open(place) as archive:
                members = [member for member in archive if member.name in set(names)]
                archive.extractall(folder, members, filter="data")
    for name in names:
        for root in (*places, folder):
            if root.is_dir() and (root / name).is_file():
                yield name, root / name
                break


def _read(name: str, file: Path, settings: Settings, cache: Path | None) -> CitedDocument:
    data = file.read_bytes()
    digest = sha256(data).hexdigest()
    request = request_fingerprint(digest, file.suffix, None, settings.parse)
    media_type = media_type_of(data, ParseHints(file.suffix))
    parse = parse_fingerprint(request, media_type, settings.parse, file.stem)
    key = hash_fields(
        _VERSION, name, parse,
        PARENTS_VERSION, CHUNKING_VERSION, settings.chunk.model_dump(mode="json"),
        settings.embed.model_dump(mode="json"),
    )  # fmt: skip
    kept = cache / f"{key[:32]}.json" if cache is not None else None
    if kept is not None and kept.is_file():
        try:
            return _DOCUMENT.validate_json(kept.read_bytes())
        except ValidationError:
            kept.unlink()  # cut off, or of another version: it is read again
    preview = PreviewSource(file).chunk(settings=settings)
    document = CitedDocument(
        NAMESPACE,
        name,
        preview.document.title,
        citable=True,
        passages=[_passage(name, chunk) for chunk in preview.chunks if _is_said(chunk)],
        unsaid=[_passage(name, chunk) for chunk in preview.chunks if not _is_said(chunk)],
        content_version=digest,
    )
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(kept, _DOCUMENT.dump_json(document))
    return document


def _is_said(chunk: Chunk) -> bool:
    return chunk.kind not in NOT_EVIDENCE and chunk.section_subtype not in _UNSAID_SECTIONS


def _passage(name: str, chunk: Chunk) -> Passage:
    digest = sha256(chunk.text.encode()).hexdigest()
    return Passage(
        f"{name}:{chunk.order}", f"{name}:{chunk.parent_label}", chunk.text, chunk.page_start,
        chunk.page_end, chunk.char_start, chunk.char_end, chunk.section_path, digest, digest[:16],
        chunk.boxes,
    )  # fmt: skip


class DraftLibrary:
    """Documents in memory, as audits ask a library."""

    def __init__(self, documents: Mapping[str, CitedDocument]) -> None:
        self._documents = documents
        self.publications: Mapping[str, str] = {NAMESPACE: NAMESPACE}

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the document of this name."""
        document = self._documents.get(doc_uid)
        if document is None or namespace not in {None, NAMESPACE}:
            return []
        return [CitedDocumentRef(NAMESPACE, doc_uid, document.title, citable=True)]

    def find_key(self, citation_key: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return nothing: rows name their sources."""
        del citation_key, namespace
        return []

    def find_article(
        self, citation: StatuteCitation, namespaces: Sequence[str], as_of: date | None = None
    ) -> CitedDocumentRef:
        """Raise: rows name their sources."""
        del namespaces, as_of
        raise UnknownLawError(f"no law is cited here, but {citation.law} is.")

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        """Return a document with its passages."""
        return self._documents[ref.doc_uid]

    def find_boxes(
        self, ref: CitedDocumentRef, spans: Sequence[tuple[int, int]]
    ) -> list[tuple[PageBox, ...]]:
        """Return no rectangles: nothing here is drawn."""
        del ref
        return [() for _ in spans]

    def uids(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, name) of every document."""
        return [(NAMESPACE, name) for name in self._documents]

    def keys(self) -> Iterable[tuple[str, str]]:
        """Return nothing: rows name their sources."""
        return ()
