"""The library of an audit: the current publication of every namespace, opened once."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rag_assets.auditing.library import CitedDocument, CitedDocumentRef, Passage
from rag_assets.embedding import Embedder, EmbeddingTokenizer, load_embedder, load_tokenizer
from rag_assets.publishing import published_models
from rag_assets.retrieval import NOT_EVIDENCE, Reader
from rag_assets.storage import current_folder, read_manifest, read_pointer
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PublishedLibrary:
    """Documents of all namespaces that are published. Pointers are resolved once, at the start."""

    def __init__(self, workspace: Workspace) -> None:
        self._stack = ExitStack()
        self._readers: dict[str, Reader] = {}
        self._manifests: dict[str, dict[str, Any]] = {}
        self._refs: dict[str, dict[str, CitedDocumentRef]] = {}
        for name in workspace.namespace_names:
            folder = workspace.namespace(name).publications
            if read_pointer(folder) is None:
                continue
            current = current_folder(folder, name)
            self._manifests[name] = read_manifest(current)
            self._readers[name] = self._stack.enter_context(Reader(current, name, current.name))
            self._refs[name] = _refs(self._readers[name])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def publications(self) -> Mapping[str, str]:
        """The publication's name for every namespace that has one."""
        return {name: manifest["publication"] for name, manifest in self._manifests.items()}

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the documents called `doc_uid`, in one namespace or, for None, in all."""
        names = [namespace] if namespace is not None else list(self._refs)
        return [self._refs[name][doc_uid] for name in names if doc_uid in self._refs.get(name, {})]

    def uids(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, doc_uid) of every document."""
        return [(name, uid) for name, refs in self._refs.items() for uid in refs]

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        """Return a document with its passages and their vectors, in order."""
        table = self._readers[ref.namespace].fetch_chunks(ref.doc_uid)
        matrix: NDArray[np.float32] = (
            table["vector"].combine_chunks().flatten().to_numpy().reshape(len(table), -1)
        )
        plain = [name for name in table.schema.names if not name.startswith("vector")]
        rows: Sequence[Mapping[str, Any]] = table.select(plain).to_pylist()
        # Words without a statement: the labels of a diagram, a heading, the title of a source.
        said = [row.get("kind") not in NOT_EVIDENCE for row in rows]
        passages = tuple(
            Passage(
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
                vector,
            )
            for row, vector, is_said in zip(rows, matrix, said, strict=True)
            if is_said
        )
        return CitedDocument(ref.namespace, ref.doc_uid, ref.title, ref.citable, passages)

    def encoders(self) -> dict[str, "PublicationEncoder"]:
        """Return, by namespace, the first of the models that made its vectors."""
        return {name: PublicationEncoder(manifest) for name, manifest in self._manifests.items()}


class PublicationEncoder:
    """The first model of one publication; loaded when something is first encoded."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        first = published_models(manifest)[0]
        self._model = first.settings
        self.fingerprint: str = first.fingerprint
        self._tokenizer: EmbeddingTokenizer = load_tokenizer(self._model)

    def _embedder(self) -> Embedder:
        return load_embedder(self._model)

    def encode_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one vector a sentence, shape (len(texts), dimension)."""
        return self._embedder().encode_queries(texts)

    def encode_passages(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one vector a passage, shape (len(texts), dimension)."""
        return self._embedder().encode_passages(texts)

    def unknown_share(self, text: str) -> float:
        """Return the share of tokens that the model cannot tell apart."""
        return self._tokenizer.unknown_share(text)


def _refs(reader: Reader) -> dict[str, CitedDocumentRef]:
    """Return every document of a publication, and those it withholds, by uid."""
    published = reader.documents().select(["doc_uid", "title", "citable"]).to_pylist()
    refs = {
        row["doc_uid"]: CitedDocumentRef(
            reader.namespace, row["doc_uid"], row["title"], bool(row["citable"])
        )
        for row in published
    }
    for row in reader.sources().to_pylist():
        uid = row["doc_uid"]
        if uid and uid not in refs:
            reason = f"{row['reason_code']}: {row['message']}"
            refs[uid] = CitedDocumentRef(reader.namespace, uid, None, False, reason)
    return refs
