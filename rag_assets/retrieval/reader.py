"""The catalogue of one publication, held open for several threads."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rag_assets.model import PublicationError, UsageError
from rag_assets.publishing import PublishedModel, Ranking, SearchTable, published_models, quote_text
from rag_assets.publishing.catalogue import (
    catalogue_errors_explained,
    catalogue_name,
    open_catalogue,
    read_table,
)
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.hits import HIT_COLUMNS, LAW_COLUMNS, Hit, ParentPassage
from rag_assets.retrieval.languages import usual_questions
from rag_assets.retrieval.laws import PublishedLaws
from rag_assets.storage import is_complete, read_manifest
from rag_assets.workspace import shipped_settings

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from rag_assets.model.settings import QuestionSubject, TextSettings
    from rag_assets.publishing import Language
    from rag_assets.retrieval.asked import AskedPassages
    from rag_assets.retrieval.entities import EntityGraph


class HeldCatalogue:
    """A catalogue that is opened when it is first read, until it is closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # A connection of DuckDB answers one thread at a time.
        self._reading = threading.Lock()
        self._connection: DuckDBPyConnection | None = None

    def close(self) -> None:
        """Close it; reading opens it again."""
        with self._reading:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @cached_property
    def entity_graph(self) -> "EntityGraph":
        """The entities of the publication, which must have tables of them."""
        from rag_assets.retrieval.entities import EntityGraph

        entities, mentions, relations = map(self.read, ("entities", "mentions", "relations"))
        return EntityGraph(entities, mentions, relations)

    def read(self, name: str, column: str | None = None, values: Sequence[str] = ()) -> "pa.Table":
        """Return a published table, or its rows whose value in a column is one of `values`."""
        with self._reading, catalogue_errors_explained(self._path):
            if self._connection is None:
                self._connection = open_catalogue(self._path)
            return read_table(self._connection, name, column, values)


# One whole publication, read by any number of questions.


class Reader:
    """One publication of one namespace, which several threads may read.

    Args:
        folder: of the publication.
        namespace: the namespace that published it.
        name: of the publication.

    Raises:
        PublicationError: the folder is gone: the publication was retired.
        DamagedFileError: the search table cannot be read.
    """

    def __init__(self, folder: Path, namespace: str, name: str) -> None:
        if not is_complete(folder.parent, folder.name):
            raise PublicationError(
                f"{folder}: publication {name} of namespace '{namespace}' was retired or never "
                "made. Run `rag ingest`, or ask the current publication."
            )
        self.folder = folder
        self.namespace = namespace
        self.name = name
        self._table = SearchTable(folder)
        self._catalogue = HeldCatalogue(folder / catalogue_name(name))
        self._asking = threading.Lock()
        self._asked: dict[QuestionSubject, AskedPassages] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the catalogue."""
        self._catalogue.close()

    @property
    def knows_articles(self) -> bool:
        """Whether chunks say which articles they hold; publications of before do not."""
        return self._table.columns.issuperset(LAW_COLUMNS)

    @property
    def rows(self) -> int:
        """How many chunks can be found."""
        return self._table.rows

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What the publication says of itself."""
        return read_manifest(self.folder)

    @cached_property
    def models(self) -> tuple[PublishedModel, ...]:
        """The models whose vectors this publication holds, in the order of the settings.

        Raises:
            UsageError: a model of that name is another one now; its vectors would not compare.
        """
        return published_models(self.manifest)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """Fingerprints of the models whose vectors this publication holds, there or not.

        Sparse encoders are left out: nothing but their own questions can be compared with them.
        """
        dense = self._table.dimensions
        return tuple(key for key, column in self._columns.items() if column in dense)

    @cached_property
    def _hit_columns(self) -> list[str]:
        """What hits are made of, as far as a publication of an older version has it."""
        return [name for name in HIT_COLUMNS if name in self._table.columns]

    @cached_property
    def _columns(self) -> dict[str, str]:
        """The vector column of each model's fingerprint, whether or not the model is there now."""
        return {one["fingerprint"]: one["column"] for one in self.manifest["embedders"]}

    def rank_text(
        self,
        query: str,
        limit: int,
        filters: SearchFilters = EVERYTHING,
        text: "TextSettings | None" = None,
    ) -> Ranking:
        """Return ids and scores of chunks that share a word with `query`, without the chunks.

        BM25 over the text and, weighted, over title and headings; an exact term of the question
        (a quotation, a DOI, an article's number) counts once more where it stands as it was
        written. Nothing in `query` is syntax but quotation marks; without a word nothing is found.

        Args:
            query: any text.
            limit: chunks at most, from 1.
            filters: applied before the search.
            text: how headings and exact terms count (`retrieve.text`); as shipped without.

        Returns:
            (chunk_id, score), best first, ties by id.
        """
        if filters.excludes_everything:
            return []
        return self._table.search_text(query, limit, filters.condition(), _weights(text))

    def find_pattern(
        self, pattern: str, filters: SearchFilters = EVERYTHING, doc_uid: str | None = None
    ) -> list[str]:
        """Return the ids of chunks whose headings or text a regular expression finds, in order.

        Args:
            pattern: as Rust's engine reads it.
            filters: applied before.
            doc_uid: only of this document; None for all.
        """
        if filters.excludes_everything:
            return []
        of_document = f" AND doc_uid = {quote_text(doc_uid)}" if doc_uid is not None else ""
        return self._table.find_pattern(pattern, filters.condition() + of_document)

    @property
    def entity_graph(self) -> "EntityGraph | None":
        """What passages name; None where the publication has no tables of entities."""
        return self._catalogue.entity_graph if "entities" in self.manifest["counts"] else None

    def asked_passages(self, subject: "QuestionSubject") -> "AskedPassages":
        """Return the passages with articles about which questions are known."""
        with self._asking:
            if subject not in self._asked:
                from rag_assets.embedding.taught import load_known_questions
                from rag_assets.retrieval.asked import AskedPassages

                table = self._table.fetch("law_title IS NOT NULL", ("chunk_id", "text"))
                ids, texts = (table.column(name).to_pylist() for name in ("chunk_id", "text"))
                known = load_known_questions(subject)
                self._asked[subject] = AskedPassages(zip(ids, texts, strict=True), known)
            return self._asked[subject]

    def rank_vectors(
        self,
        model_fingerprint: str,
        vector: Sequence[float],
        limit: int,
        filters: SearchFilters = EVERYTHING,
    ) -> Ranking:
        """Return ids and cosines of the chunks most similar to `vector`, without the chunks.

        For a sparse encoder dot products above 0 in place of cosines.

        Args:
            model_fingerprint: of the model that made `vector`; one of this publication's.
            vector: of that model's dimension, finite; all zeros finds nothing. Of a sparse encoder
                the pairs of words and weights (`token_weights`).
            limit: chunks at most, from 1.
            filters: applied before the search.

        Returns:
            (chunk_id, cosine in [-1, 1]), best first, ties by id; every vector is compared.

        Raises:
            UsageError: the publication holds no vectors of that model, or the vector has another
                dimension or is not finite.
        """
        column = self._column(model_fingerprint)
        if filters.excludes_everything:
            return []
        return self._table.search_vectors(column, vector, limit, filters.condition())

    def search_text(
        self,
        query: str,
        limit: int,
        filters: SearchFilters = EVERYTHING,
        text: "TextSettings | None" = None,
    ) -> list[tuple[Hit, float]]:
        """Return what `rank_text` does, with the chunks."""
        return self._with_hits(self.rank_text(query, limit, filters, text))

    def search_vectors(
        self,
        model_fingerprint: str,
        vector: Sequence[float],
        limit: int,
        filters: SearchFilters = EVERYTHING,
    ) -> list[tuple[Hit, float]]:
        """Return what `rank_vectors` does, with the chunks."""
        return self._with_hits(self.rank_vectors(model_fingerprint, vector, limit, filters))

    def score_text(
        self, query: str, chunk_ids: Sequence[str], text: "TextSettings | None" = None
    ) -> dict[str, float]:
        """Return the score that `rank_text` gives each of these chunks, 0.0 without a common word.

        Ids that the publication does not hold are left out.
        """
        return self._table.score_text(query, chunk_ids, _weights(text))

    def score_vectors(
        self, model_fingerprint: str, vector: Sequence[float], chunk_ids: Sequence[str]
    ) -> dict[str, float]:
        """Return the exact cosines of these chunks; those without a vector are left out.

        Of a sparse encoder the dot products, 0.0 for a chunk that shares no word.

        Raises:
            UsageError: as `rank_vectors`.
        """
        return self._table.score_vectors(self._column(model_fingerprint), vector, chunk_ids)

    def count_by_language(self, filters: SearchFilters = EVERYTHING) -> dict[str, int]:
        """Return how many chunks that pass the filters are written in each language."""
        if filters.excludes_everything:
            return {}
        return self._table.count_by_language(filters.condition())

    def sample_vectors(
        self, model_fingerprint: str, languages: Sequence[str], filters: SearchFilters, most: int
    ) -> "NDArray[np.float64]":
        """Return the vectors, of length 1, of chunks in some languages that pass the filters.

        At most `most`, evenly drawn; chunks without a vector of this model are left out.

        Raises:
            UsageError: the publication holds no vectors of that model.
        """
        return self._table.sample_vectors(
            self._column(model_fingerprint), languages, filters.condition(), most
        )

    def usual_questions(self, model_fingerprint: str) -> "Mapping[str, NDArray[np.float64]]":
        """Return questions of all kinds as a model sees them, by language, of length 1.

        Raises:
            UsageError: the publication holds no vectors of that model.
            ConfigurationError: no such model on this machine.
        """
        self._column(model_fingerprint)
        (model,) = (one for one in self.models if one.fingerprint == model_fingerprint)
        return usual_questions(model_fingerprint, model.settings)

    def fetch_hits(self, chunk_ids: Iterable[str]) -> dict[str, Hit]:
        """Return chunks by id, in the order asked for; ids that are not held are left out.

        Once for the candidates of all searchers costs less than once for each.
        """
        wanted = list(dict.fromkeys(chunk_ids))
        rows = self._table.fetch_rows(wanted, self._hit_columns).to_pylist() if wanted else []
        return {row["chunk_id"]: self._hit(row) for row in rows}

    def passage_languages(self, chunk_ids: Sequence[str]) -> "dict[str, Language]":
        """Return the language of each chunk by id; ids that are not held are left out."""
        if not chunk_ids:
            return {}
        table = self._table.fetch_rows(chunk_ids, ("chunk_id", "passage_language"))
        ids, languages = (table.column(name).to_pylist() for name in table.column_names)
        return dict(zip(ids, languages, strict=True))

    def fetch_vectors(
        self, model_fingerprint: str, chunk_ids: Sequence[str]
    ) -> "dict[str, NDArray[np.float32]]":
        """Return the vectors of these chunks by id; those without one are left out.

        Raises:
            UsageError: the publication holds no vectors of that model.
        """
        return self._table.fetch_vectors(self._column(model_fingerprint), chunk_ids)

    def fetch_rows(self, chunk_ids: Sequence[str], columns: Sequence[str]) -> "pa.Table":
        """Return columns of chunks in the order asked for."""
        return self._table.fetch_rows(chunk_ids, columns)

    def fetch_window(self, doc_uid: str, first: int, last: int) -> list[Hit]:
        """Return a document's chunks by their `chunk_index`, both ends included, in order.

        Args:
            doc_uid: none is found for an unknown one.
            first: may lie before the document's first chunk, `last` after its last.
        """
        ids = [f"{doc_uid}:{index}" for index in range(max(first, 0), last + 1)]
        return list(self.fetch_hits(ids).values())

    def fetch_chunks(self, doc_uid: str, columns: Sequence[str] | None = None) -> "pa.Table":
        """Return columns of a document's chunks in order, all of them without `columns`."""
        return self._table.fetch(f"doc_uid = {quote_text(doc_uid)}", columns)

    def fetch_heads(self, chunks: int) -> dict[str, str]:
        """Return how the text of each document begins, by uid.

        Args:
            chunks: as many of its first ones, joined by line feeds.
        """
        table = self._table.fetch(f"chunk_index < {chunks}", ("doc_uid", "chunk_index", "text"))
        heads: dict[str, list[str]] = {}
        for row in sorted(table.to_pylist(), key=itemgetter("doc_uid", "chunk_index")):
            heads.setdefault(row["doc_uid"], []).append(row["text"])
        return {uid: "\n".join(texts) for uid, texts in heads.items()}

    def fetch_columns(
        self, columns: Sequence[str], filters: SearchFilters = EVERYTHING
    ) -> "pa.Table":
        """Return some columns of all chunks that pass the filters, in no order."""
        where = "false" if filters.excludes_everything else filters.condition()
        return self._table.fetch(where, columns)

    def fetch_children(
        self, parent_ids: Iterable[str], filters: SearchFilters = EVERYTHING
    ) -> dict[str, tuple[Hit, ...]]:
        """Return the chunks of these parents in the order of their documents, without ranks.

        Args:
            parent_ids: those that the publication does not hold are left out.
            filters: which chunks.
        """
        wanted = sorted(set(parent_ids))
        if not wanted or filters.excludes_everything:
            return {}
        chosen = f"parent_id IN ({', '.join(map(quote_text, wanted))})"
        rows = self._table.fetch(f"{chosen} AND {filters.condition()}", self._hit_columns)
        found: dict[str, list[Hit]] = {}
        for row in sorted(rows.to_pylist(), key=itemgetter("doc_uid", "chunk_index")):
            found.setdefault(row["parent_id"], []).append(self._hit(row))
        return {key: tuple(own) for key, own in found.items()}

    def fetch_parents(self, parent_ids: Iterable[str]) -> dict[str, ParentPassage]:
        """Return parents by id; ids that the publication does not hold are left out."""
        rows = self._catalogue.read("parents", "parent_id", sorted(set(parent_ids))).to_pylist()
        return {row["parent_id"]: self._parent(row) for row in rows}

    def parents_of(self, doc_uid: str) -> list[ParentPassage]:
        """Return all parents of a document in order; none for an unknown uid."""
        rows = self._catalogue.read("parents", "doc_uid", [doc_uid]).to_pylist()
        return [self._parent(row) for row in rows]

    def fetch_documents(self, doc_uids: Iterable[str]) -> "pa.Table":
        """Return the catalogue's rows of these documents, by uid; unknown ones are left out."""
        return self._catalogue.read("documents", "doc_uid", sorted(set(doc_uids)))

    @cached_property
    def laws(self) -> PublishedLaws:
        """The laws of this publication, by name."""
        return PublishedLaws(self.namespace, self._documents)

    def passing(self, chunk_ids: Sequence[str], filters: SearchFilters) -> list[str]:
        """Return those of some chunks that pass the filters, in the order given."""
        if not chunk_ids or filters.excludes_everything:
            return []
        return self._table.passing(chunk_ids, filters.condition())

    def documents(self) -> "pa.Table":
        """Return the catalogue's `documents`, by uid."""
        return self._documents

    def sources(self) -> "pa.Table":
        """Return the catalogue's `sources`: every file, also those that are not published."""
        return self._catalogue.read("sources")

    @cached_property
    def document_paths(self) -> Mapping[str, tuple[str, ...]]:
        """The paths of each document's files, below their root and with its name."""
        found: dict[str, list[str]] = {}
        columns = ["doc_uid", "path", "file", "source_uri"]
        for row in self.sources().select(columns).to_pylist():
            if row["doc_uid"] is not None:
                # Publications had no column `file` once.
                places = (row["path"], row["file"] or row["source_uri"])
                found.setdefault(row["doc_uid"], []).extend(filter(None, places))
        return {uid: tuple(paths) for uid, paths in found.items()}

    @cached_property
    def _documents(self) -> "pa.Table":
        return self._catalogue.read("documents")

    @cached_property
    def _page_labels(self) -> Mapping[str, Sequence[str]]:
        """The numbers that pages bear in print, of each document where they are not the file's."""
        rows = self._documents.select(["doc_uid", "page_labels"]).to_pylist()
        return {row["doc_uid"]: row["page_labels"] for row in rows if row["page_labels"]}

    def _hit(self, row: Mapping[str, Any]) -> Hit:
        return Hit.from_row(row, self._labels_of(row))

    def _parent(self, row: Mapping[str, Any]) -> ParentPassage:
        return ParentPassage.from_row(row, self._labels_of(row))

    def _labels_of(self, row: Mapping[str, Any]) -> Sequence[str]:
        has_pages = row["page_start"] is not None
        return self._page_labels.get(row["doc_uid"], ()) if has_pages else ()

    def _column(self, model_fingerprint: str) -> str:
        column = self._columns.get(model_fingerprint)
        if column is None:
            raise UsageError(
                f"publication {self.name} of '{self.namespace}' holds no vectors of the model that "
                "made the question's vector: other files, prompts or numbers. Run `rag ingest "
                f"--namespace {self.namespace}` to encode it with the models configured now."
            )
        return column

    def _with_hits(self, ranking: Ranking) -> list[tuple[Hit, float]]:
        hits = self.fetch_hits(key for key, _ in ranking)
        return [(hits[key], score) for key, score in ranking]


def _weights(text: "TextSettings | None") -> "TextSettings":
    return text if text is not None else shipped_settings().retrieve.text
