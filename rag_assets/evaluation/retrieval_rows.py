"""Evaluation sets in the layout of BEIR: a corpus, queries, judgements (Thakur et al., 2021)."""

import csv
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from rag_assets.evaluation.json_rows import read_rows
from rag_assets.model import UsageError

CORPUS, QUERIES, JUDGEMENTS = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv"

# Some sets write their ids as numbers, some leave a missing title out or write null.
_Id = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if isinstance(value, int) else value),
    Field(min_length=1),
]
_Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


class IdentifiedRow(_Row):
    """A row that others name by its id."""

    id: _Id = Field(alias="_id")


class CorpusRow(IdentifiedRow):
    """One line of corpus.jsonl: a document. Title and text may be empty."""

    title: _Text = ""
    text: _Text = ""


class QueryRow(IdentifiedRow):
    """One line of queries.jsonl."""

    text: Annotated[str, Field(min_length=1)]


_AnyRow = TypeVar("_AnyRow", bound="IdentifiedRow")


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """One evaluation set.

    Args:
        name: of its folder.
        corpus: its documents, in order, each id once.
        queries: with at least one relevant document, in order.
        judgements: document id → relevance (above 0), by query id.
        digest: SHA-256 of corpus.jsonl.
        unjudged: queries that have no relevant document and are left out.
        unknown_documents: judgements of documents that the corpus lacks; they count as not found.
    """

    name: str
    corpus: tuple[CorpusRow, ...]
    queries: tuple[QueryRow, ...]
    judgements: Mapping[str, Mapping[str, float]]
    digest: str
    unjudged: int
    unknown_documents: int


def find_sets(folder: Path) -> list[Path]:
    """Return the folders of the sets: `folder` itself, or those directly in it, sorted.

    Raises:
        UsageError: there is none.
    """
    if (folder / CORPUS).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"[!.]*/{CORPUS}"))
    if not found:
        raise UsageError(
            f"{folder} holds no evaluation set: {CORPUS}, {QUERIES} and {JUDGEMENTS} are expected "
            "in it or in its folders."
        )
    return found


def read_retrieval_set(folder: Path, limit: int | None = None) -> RetrievalSet:
    """Return the set in `folder`.

    Args:
        limit: questions at most, the first ones; the corpus stays whole.

    Raises:
        UsageError: a file is missing, a row has another shape, an id stands twice, or no query
            has a relevant document.
    """
    folder = folder.absolute()
    corpus = read_unique(folder / CORPUS, CorpusRow)
    queries = read_unique(folder / QUERIES, QueryRow)
    judgements = read_judgements(folder / JUDGEMENTS)
    known = {row.id for row in corpus}
    unknown_queries = judgements.keys() - {query.id for query in queries}
    asked = tuple(query for query in queries if query.id in judgements)
    if not asked:
        named = f" (they name {min(unknown_queries)!r}, which is none)"
        raise UsageError(
            f"{folder / JUDGEMENTS}: no query of {QUERIES} has a relevant document"
            f"{named if unknown_queries else ''}."
        )
    kept = asked[:limit]
    return RetrievalSet(
        folder.name,
        corpus,
        kept,
        {query.id: judgements[query.id] for query in kept},
        hashlib.sha256((folder / CORPUS).read_bytes()).hexdigest(),
        len(queries) - len(asked),
        sum(document not in known for query in kept for document in judgements[query.id]),
    )


def read_unique(file: Path, kind: type[_AnyRow]) -> tuple[_AnyRow, ...]:
    """Return the rows of a file of JSON lines, in order.

    Raises:
        UsageError: it cannot be read, is empty, or holds an id twice.
    """
    rows: dict[str, _AnyRow] = {}
    for number, row in read_rows(file, kind.model_validate, f"not a row of {file.name}"):
        if row.id in rows:
            raise UsageError(f"{file}, line {number}: '_id' {row.id!r} stands twice.")
        rows[row.id] = row
    if not rows:
        raise UsageError(f"{file} holds no rows.")
    return tuple(rows.values())


def read_judgements(file: Path) -> dict[str, dict[str, float]]:
    """Return document → relevance (above 0) by query; a first line of column names is passed over.

    Raises:
        UsageError: the file cannot be read, or a line has another form.
    """
    judgements: dict[str, dict[str, float]] = {}
    # Quotes are text here: ids may hold them.
    rows = csv.reader(_read_text(file).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    for number, row in enumerate(rows, 1):
        if not row or (number == 1 and row[-1].strip().lower() == "score"):
            continue
        try:
            query, document, score = row
            relevance = float(score)
        except ValueError as error:
            raise UsageError(
                f"{file}, line {number}: expected query-id, corpus-id and score between tabs, "
                f"got {row!r}."
            ) from error
        if relevance > 0:
            judgements.setdefault(query, {})[document] = relevance
    return judgements


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}. An evaluation set is {CORPUS}, {QUERIES} and "
            f"{JUDGEMENTS}."
        ) from error
