"""Files of known truth: one JSON object a line."""

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from rag_assets.model import UsageError, first_fault

Row = TypeVar("Row")


def read_rows(file: Path, read: Callable[[Any], Row], form: str) -> Iterator[tuple[int, Row]]:
    """Yield (number of the line, from 1; its row) for every line that is not blank.

    Args:
        file: UTF-8, its lines ended by line feeds alone: other marks may stand in a text.
        read: makes a row of a line's value; raises ValueError, as pydantic's models do.
        form: what a row is, for the message where a line is none.

    Raises:
        UsageError: the file cannot be read, or names the line that is no row, and why.
    """
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        try:
            row = read(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file}, line {number}: {form}: {_told(error)}.") from error
        yield number, row


def read_lines(file: Path) -> list[str]:
    """Return the lines of a UTF-8 text, split at line feeds alone.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.") from error


def _told(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error).rstrip(".")
    return "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'the line'}: {each['msg']}" for each in error.errors()
    )


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
        UsageError: a file is missing, a row has another shape, an id occurs twice, or no query
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
        named = f" (they name {min(unknown_queries)!r}, which does not exist)"
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
            raise UsageError(f"{file}, line {number}: '_id' {row.id!r} occurs twice.")
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


_Name = Annotated[str, Field(min_length=1)]
_Relevance = Annotated[float, Field(ge=0, allow_inf_nan=False)]
DEFAULT_K = (1, 3, 5, 10)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EvalDocument(_Part):
    """A document: its text is built as a Markdown file, its title stands beside it."""

    doc_id: _Name
    text: str
    title: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)


class EvalQuery(_Part):
    """A question and what it should find.

    Args:
        expected_chunk_ids: `<doc_id>:<number>`, chunks counted from 0 as the settings cut them.
        relevance_doc: by document id; expected documents without one have 1.
        relevance_chunk: by chunk id, likewise.
    """

    query_id: _Name
    query: _Name
    expected_doc_ids: tuple[_Name, ...] = ()
    expected_chunk_ids: tuple[_Name, ...] = ()
    relevance_doc: Mapping[str, _Relevance] = Field(default_factory=dict)
    relevance_chunk: Mapping[str, _Relevance] = Field(default_factory=dict)

    @property
    def documents(self) -> dict[str, float]:
        """Relevance by document id, above 0."""
        return _relevance(self.expected_doc_ids, self.relevance_doc)

    @property
    def chunks(self) -> dict[str, float]:
        """Relevance by chunk id, above 0."""
        return _relevance(self.expected_chunk_ids, self.relevance_chunk)


class EvalSet(_Part):
    """An evaluation set whose parts fit together."""

    evalset_id: _Name
    documents: Annotated[tuple[EvalDocument, ...], Field(min_length=1)]
    queries: Annotated[tuple[EvalQuery, ...], Field(min_length=1)]
    k_values: Annotated[tuple[Annotated[int, Field(ge=1, le=100)], ...], Field(min_length=1)] = (
        DEFAULT_K
    )

    @model_validator(mode="after")
    def _check_names(self) -> "EvalSet":
        _refuse_twice("documents: doc_id", (document.doc_id for document in self.documents))
        _refuse_twice("queries: query_id", (query.query_id for query in self.queries))
        known = {document.doc_id for document in self.documents}
        for query in self.queries:
            where = f"query '{query.query_id}'"
            for field in ("expected_doc_ids", "relevance_doc"):
                for identity in getattr(query, field):
                    if identity not in known:
                        raise ValueError(f"{where}: {field}: no document '{identity}'")
            for field in ("expected_chunk_ids", "relevance_chunk"):
                for identity in getattr(query, field):
                    document, colon, number = identity.rpartition(":")
                    if not (colon and number.isascii() and number.isdigit()):
                        raise ValueError(
                            f"{where}: {field}: '{identity}' is not <doc_id>:<number from 0>"
                        )
                    if document not in known:
                        raise ValueError(f"{where}: {field}: no document '{document}'")
            if not query.documents and not query.chunks:
                raise ValueError(
                    f"{where}: nothing is expected: give expected_doc_ids, expected_chunk_ids or a "
                    "relevance above 0"
                )
        return self


def load_eval_set(path: Path | str) -> EvalSet:
    """Return the evaluation set in a JSON file.

    Raises:
        UsageError: no such file, not JSON, a missing or unknown key, an id that occurs twice, or
            an expectation of a document that is not there; the text names the place and the rule.
    """
    file = Path(path)
    try:
        values = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: not JSON: {error}.") from error
    try:
        return EvalSet.model_validate(values)
    except ValidationError as error:
        key, said, _ = first_fault(error)
        rule = said.removeprefix("Value error, ")
        raise UsageError(f"{file}: {f'{key}: ' if key else ''}{rule}.") from error


def _relevance(expected: Iterable[str], graded: Mapping[str, float]) -> dict[str, float]:
    relevance = {**dict.fromkeys(expected, 1.0), **graded}
    return {identity: value for identity, value in relevance.items() if value > 0}


def _refuse_twice(what: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{what} '{twice[0]}' occurs twice")


def sets_in(folder: Path) -> dict[str, Path]:
    """Return the sets of a workspace's `evaluations/` by name: BEIR folders and JSON files.

    Raises:
        UsageError: two sets share a name.
    """
    found = [path.parent for path in folder.glob(f"[!.]*/{CORPUS}")]
    found += [path for path in folder.glob("[!.]*.json") if not path.match("*.baseline.json")]
    sets: dict[str, Path] = {}
    for path in sorted(found):
        name = path.name if path.is_dir() else path.stem
        if name in sets:
            raise UsageError(f"{path} and {sets[name]} share the name '{name}'. Rename one.")
        sets[name] = path
    return sets
