"""Evaluation sets in one JSON file: documents, queries, what they should find (spec 001)."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rag_assets.model import UsageError

_Text = Annotated[str, Field(min_length=1)]
_Relevance = Annotated[float, Field(ge=0, allow_inf_nan=False)]
DEFAULT_K = (1, 3, 5, 10)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EvalDocument(_Part):
    """A document: its text is built as a Markdown file, its title stands beside it."""

    doc_id: _Text
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

    query_id: _Text
    query: _Text
    expected_doc_ids: tuple[_Text, ...] = ()
    expected_chunk_ids: tuple[_Text, ...] = ()
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

    evalset_id: _Text
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
        UsageError: no such file, not JSON, a missing or unknown key, an id that stands twice, or
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
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        rule = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{file}: {f'{place}: ' if place else ''}{rule}.") from error


def _relevance(expected: Iterable[str], graded: Mapping[str, float]) -> dict[str, float]:
    relevance = {**dict.fromkeys(expected, 1.0), **graded}
    return {identity: value for identity, value in relevance.items() if value > 0}


def _refuse_twice(what: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{what} '{twice[0]}' stands twice")
