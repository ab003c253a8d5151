"""The library of an audit: the documents of the publications that it holds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.auditing.library import (
    CitedDocument,
    CitedDocumentRef,
    Passage,
    cited_article,
    shown_repeal,
)
from rag_assets.auditing.pairing import Known
from rag_assets.auditing.references import BIBLIOGRAPHY_SUFFIXES, Entry, read_bibliography
from rag_assets.auditing.settling import entry_key, read_settlements
from rag_assets.embedding import (
    EmbeddingTokenizer,
    load_embedder,
    load_query_encoder,
    load_tokenizer,
)
from rag_assets.law.citing import StatuteCitation
from rag_assets.model import PageBox, UsageError, hash_text
from rag_assets.publishing import (
    PublishedModel,
    citation_ids,
    look_since_publication,
    published_models,
    removed_documents,
)
from rag_assets.retrieval import (
    NOT_EVIDENCE,
    Asked,
    ParentPassage,
    Publications,
    Reader,
    open_library,
)
from rag_assets.retrieval.statutes import LawShelf
from rag_assets.workspace import Namespace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.chunking import BoxFinder

# What a document prints in chunks that a person has disabled (`rag draft`).
#
# No search finds them, so they support nothing; but they are printed, and a quotation may be of
# them.


def disabled_passages(
    reader: Reader, doc_uid: str, chunks: Sequence[Mapping[str, Any]]
) -> list[Passage]:
    """Return what a document's parents print and none of its chunks in the search table holds.

    Args:
        chunks: its rows of the search table, with `char_start` and `char_end`.
    """
    if not reader.manifest["counts"].get("chunk_edits"):
        return []
    covered = sorted((row["char_start"], row["char_end"]) for row in chunks)
    return [
        Passage(
            f"{parent.parent_id}:{start}",
            parent.parent_id,
            text,
            parent.page_start,
            parent.page_end,
            start,
            start + len(text),
            parent.section_path,
            hash_text(text),
            citation_ids(reader.namespace, [doc_uid], [hash_text(text)])[0],
        )
        for parent in reader.parents_of(doc_uid)
        for start, text in _gaps(parent, covered)
    ]


def _gaps(parent: ParentPassage, covered: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield where text stands that no span covers, without white space around it."""
    reached, base = parent.char_start, parent.char_start
    for start, end in [*covered, (parent.char_end, parent.char_end)]:
        if end <= reached and start != parent.char_end:
            continue
        between = parent.text[reached - base : max(min(start, parent.char_end), reached) - base]
        text = between.strip()
        if text:
            yield reached + between.index(text), text
        reached = min(max(reached, end), parent.char_end)


# The library of an audit: the documents of the publications that it holds.

# Of the beginning of a document, where title, authors and year stand: chunks and characters.
_HEAD_CHUNKS, _HEAD = 8, 5000
# Whom the authors thank and whom they cite says nothing about what they found.
_UNSAID_SECTIONS = frozenset({"references", "acknowledgements"})
_COLUMNS = (
    "chunk_id", "parent_id", "text", "page_start", "page_end", "char_start", "char_end",
    "section_path", "section_subtype", "kind", "content_hash", "citation_id", "boxes", "context",
)  # fmt: skip


class PublishedLibrary:
    """Documents of the publications that are held, for the length of an audit.

    Args:
        held: publications.
        as_of: the day on which the wording of a statute has to hold; None where none is asked for.
    """

    def __init__(self, held: Publications, as_of: date | None = None) -> None:
        self._held, self._as_of = held, as_of
        self._laws: dict[tuple[tuple[str, ...], date], LawShelf] = {}
        self._data = held.workspace.root / "data"
        self._readers, self._manifests = held.readers, held.manifests
        self._shelves = {
            name: _Shelf(reader, held.workspace.namespace(name))
            for name, reader in held.readers.items()
        }

    @property
    def publications(self) -> Mapping[str, str]:
        """The publication's name for every namespace that has one."""
        return {name: manifest["publication"] for name, manifest in self._manifests.items()}

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the documents called `doc_uid`, in one namespace or, for None, in all; where there
        is none, those that were removed.
        """
        asked = self._asked(namespace)
        found = [self._judged(shelf.refs[doc_uid]) for shelf in asked if doc_uid in shelf.refs]
        return found or [shelf.removed[doc_uid] for shelf in asked if doc_uid in shelf.removed]

    def find_key(self, citation_key: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the documents with this key of the writer's bibliography, likewise."""
        return [
            self._judged(shelf.refs[uid])
            for shelf in self._asked(namespace)
            for uid in shelf.keys.get(citation_key, ())
        ]

    def find_article(
        self, citation: StatuteCitation, namespaces: Sequence[str], as_of: date | None = None
    ) -> CitedDocumentRef:
        """Return the document with the article that is cited, in the wording that is named, else in
        the one in force.

        Args:
            namespaces: that are asked; empty means all.
            as_of: another day than the library's.

        Raises:
            UnknownLawError: no law is called so.
            UsageError: the law has no such wording, article or clause, or no day is given.
        """
        day = as_of or self._as_of
        if day is None:
            raise UsageError(
                "a citation of a statute means the wording of a day, and none was given: pass "
                "`as_of`."
            )
        found = self._shelf_of(namespaces, day).article(citation)
        ref = self._shelves[found.version.law.namespace].refs[found.version.law.doc_uid]
        return replace(ref, article=cited_article(found), repeal=shown_repeal(found.version))

    def _shelf_of(self, namespaces: Sequence[str], day: date) -> LawShelf:
        names = tuple(namespaces) or tuple(self._held.readers)
        if (names, day) not in self._laws:
            readers = {name: self._held.readers[name] for name in names}
            self._laws[names, day] = LawShelf(replace(self._held, readers=readers), day)
        return self._laws[names, day]

    def _judged(self, ref: CitedDocumentRef) -> CitedDocumentRef:
        """Return a document with what repeals it on the library's day."""
        if self._as_of is None:
            return ref
        version = self._shelf_of((), self._as_of).version_at(ref.namespace, ref.doc_uid)
        return ref if version is None else replace(ref, repeal=shown_repeal(version))

    def _asked(self, namespace: str | None) -> Sequence["_Shelf"]:
        if namespace is None:
            return list(self._shelves.values())
        return [self._shelves[namespace]] if namespace in self._shelves else []

    def uids(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, doc_uid) of every document."""
        return [(name, uid) for name, shelf in self._shelves.items() for uid in shelf.refs]

    def keys(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, citation_key) of every document that has one."""
        return [(name, key) for name, shelf in self._shelves.items() for key in shelf.keys]

    def known(self, namespaces: Sequence[str]) -> Sequence[Known]:
        """Return what is known of the documents of some namespaces, of all for none."""
        names = tuple(namespaces) or tuple(self._shelves)
        return [known for name in names for known in self._shelves[name].known]

    def settled(self, entry: Entry) -> tuple[str, str] | Literal["open"] | None:
        """Return the document that a person has said an entry means, `open` without a decision."""
        return self._settlements.get(entry_key(entry), "open")

    @cached_property
    def _settlements(self) -> Mapping[str, tuple[str, str] | None]:
        return read_settlements(self._held.workspace)

    def bibliography(self) -> Sequence[Entry]:
        """Return the entries of the bibliography files of the workspace."""
        folder = self._held.workspace.bibliographies
        if not folder.is_dir():
            return ()
        files = sorted(p for p in folder.iterdir() if p.suffix.lower() in BIBLIOGRAPHY_SUFFIXES)
        return [entry for path in files for entry in read_bibliography(path)]

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        """Return a document with its passages, in order."""
        rows = self._readers[ref.namespace].fetch_chunks(ref.doc_uid, _COLUMNS).to_pylist()
        said = [_is_said(row) for row in rows]
        passages = [_passage(row) for row in rows]
        facts = self._shelves[ref.namespace].facts[ref.doc_uid]
        return CitedDocument(
            ref.namespace,
            ref.doc_uid,
            ref.title,
            ref.citable,
            tuple(p for p, is_said in zip(passages, said, strict=True) if is_said),
            (
                *(p for p, is_said in zip(passages, said, strict=True) if not is_said),
                *disabled_passages(self._readers[ref.namespace], ref.doc_uid, rows),
            ),
            facts["content_hash"],
            tuple(facts["page_labels"] or ()),
        )

    def find_boxes(
        self, ref: CitedDocumentRef, spans: Sequence[tuple[int, int]]
    ) -> list[tuple[PageBox, ...]]:
        """Return the rectangles around the printed lines of spans of the clean text."""
        finder = self._shelves[ref.namespace].box_finder(ref.doc_uid, self._data)
        return [finder.find(*span) if finder is not None else () for span in spans]

    def encoders(self) -> dict[str, tuple["PublicationEncoder", ...]]:
        """Return, by namespace, the models that made its dense vectors, in their order."""
        return {
            name: tuple(
                PublicationEncoder(model)
                for model in published_models(manifest)
                if not model.is_sparse
            )
            for name, manifest in self._manifests.items()
        }


@contextmanager
def open_published(asked: Asked, as_of: date | None = None) -> Iterator[PublishedLibrary]:
    """Yield the documents that are published now, until the end of the block.

    Args:
        as_of: as of `PublishedLibrary`.
    """
    with open_library(asked) as library, library.hold() as held:
        yield PublishedLibrary(held, as_of)


class PublicationEncoder:
    """A model of a publication; loaded when something is first encoded."""

    def __init__(self, model: PublishedModel) -> None:
        self._model = model.settings
        self.fingerprint: str = model.fingerprint

    @cached_property
    def _tokenizer(self) -> EmbeddingTokenizer:
        return load_tokenizer(self._model)

    def encode_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one vector a sentence, shape (len(texts), dimension)."""
        # As a search does: without torch, each by itself, however many are asked at once.
        return load_query_encoder(self._model).encode_queries(texts)

    def encode_passages(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one vector a passage, shape (len(texts), dimension)."""
        return load_embedder(self._model).encode_passages(texts)

    def unknown_share(self, text: str) -> float:
        """Return the share of tokens that the model cannot tell apart."""
        return self._tokenizer.unknown_share(text)


class _Shelf:
    """What one publication knows of its documents, and those it withholds."""

    def __init__(self, reader: Reader, namespace: Namespace) -> None:
        self._namespace, self._reader = namespace, reader
        columns = [
            "doc_uid", "title", "citable", "citation_key", "content_hash", "content_ref",
            "authors", "year", "doi", "page_labels",
        ]  # fmt: skip
        rows = reader.documents().select(columns).to_pylist()
        self.facts: dict[str, dict[str, Any]] = {row["doc_uid"]: row for row in rows}
        barred = look_since_publication(namespace).not_citable
        self.refs = {
            uid: CitedDocumentRef(
                reader.namespace, uid, row["title"], bool(row["citable"]) and uid not in barred
            )
            for uid, row in self.facts.items()
        }
        self.keys: dict[str, list[str]] = {}
        for row in rows:
            if row["citation_key"]:
                self.keys.setdefault(row["citation_key"], []).append(row["doc_uid"])
        for row in reader.sources().to_pylist():
            uid = row["doc_uid"]
            if uid and uid not in self.refs:
                reason = f"{row['reason_code']}: {row['message']}"
                self.refs[uid] = CitedDocumentRef(reader.namespace, uid, None, False, reason)
        self._finders: dict[str, BoxFinder | None] = {}

    @cached_property
    def removed(self) -> dict[str, CitedDocumentRef]:
        """Documents that no file holds any more."""
        return {
            uid: CitedDocumentRef(gone.namespace, uid, gone.title, False, str(gone), True)
            for uid, gone in removed_documents(self._namespace).items()
        }

    @cached_property
    def known(self) -> tuple[Known, ...]:
        """What is known of each document, to recognise it in a reference list."""
        heads = self._reader.fetch_heads(_HEAD_CHUNKS)
        paths = self._reader.document_paths
        return tuple(
            Known(
                self._reader.namespace,
                uid,
                row["title"] or "",
                tuple(row["authors"] or ()),
                str(row["year"] or ""),
                row["doi"] or "",
                row["citation_key"] or "",
                heads.get(uid, "")[:_HEAD],
                tuple(dict.fromkeys(Path(path).stem for path in paths.get(uid, ()))),
            )
            for uid, row in self.facts.items()
        )

    def box_finder(self, doc_uid: str, data: Path) -> "BoxFinder | None":
        """Return what finds rectangles in a document; None where its parse is not kept."""
        if doc_uid not in self._finders:
            from rag_assets.chunking import BoxFinder
            from rag_assets.parsing import read_parsed

            path, workspace = data / self.facts[doc_uid]["content_ref"], self._namespace.workspace
            stands = workspace.store.find(workspace.key_of(path)) is not None
            finder = BoxFinder(read_parsed(path)[0]) if stands else None
            self._finders[doc_uid] = finder
        return self._finders[doc_uid]


def _is_said(row: Mapping[str, Any]) -> bool:
    return row["kind"] not in NOT_EVIDENCE and row["section_subtype"] not in _UNSAID_SECTIONS


def _passage(row: Mapping[str, Any]) -> Passage:
    return Passage(
        row["chunk_id"],
        row["parent_id"],
        row["text"],
        row["page_start"],
        row["page_end"],
        row["char_start"],
        row["char_end"],
        tuple(row["section_path"] or ()),
        row["content_hash"],
        row["citation_id"],
        tuple(PageBox(**box) for box in row["boxes"] or ()),
        row["context"] or "",
    )
