"""An answer about law as a value, and as JSON. It carries its articles whole."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

from rag_assets.answering.agents import CheckedStatement, Trace
from rag_assets.answering.record import AnswerReader, Mode
from rag_assets.law.metadata import LawLevel
from rag_assets.law.versions import Standing
from rag_assets.storage import restore_json

SCHEMA = "rag-assets/law-answer/1"
# Of rendering.py: raise it when the same answer is laid out otherwise.
LAYOUT_VERSION = 2
_STRICT = ConfigDict(extra="forbid")

Precedence = Literal["wording", "rank", "date", "undecided"]
"""By what one provision prevails: a newer wording of the same law, a higher rank, a newer law of
the same rank; `undecided` where none of these tells."""


@dataclass(frozen=True, slots=True)
class LawSource:
    """An article that was found, as the library knows it on the day that was asked for.

    Args:
        citation: `[文件 > 章节 > 条款]`, which leads back to it.
        key: of the article, `133-1`.
        level: rank of its law; None where it is not known.
        version_date: the day of its wording, ISO; `holds_from` since when that holds.
        is_stated: whether the text says since when.
        repealed_by: another law and its sentence that repeals this one.
        change_of: alias of the article of which it is another wording; None where it was found.
    """

    alias: str
    citation: str
    law: str
    path: tuple[str, ...]
    article: str
    key: str
    level: LawLevel | None
    standing: Standing
    version_date: str | None
    holds_from: str | None
    is_stated: bool
    issuer: str | None
    file: str
    repealed_by: str | None = None
    change_of: str | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class LawPoint:
    """A statement of the answer.

    Args:
        statement: with the aliases that it cites, and the words that support it.
        citations: as they are shown, with the clause where one is named.
        exceptions: sentences of these articles that except something, and that the statement does
            not repeat.
    """

    statement: CheckedStatement
    citations: tuple[str, ...]
    exceptions: tuple[str, ...] = ()

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class LawConflict:
    """Two provisions on the same matter, of which one prevails.

    Args:
        by: what decides; `undecided` where the first is not said to prevail.
        prevails: alias; `yields` likewise.
        said: what each provides, in the model's words and checked; empty where rules put two
            wordings of one article side by side.
    """

    by: Precedence
    prevails: str
    yields: str
    said: tuple[LawPoint, ...] = ()

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class LawAnswer:
    """The answer to a question about law: what may be said, by which articles, on which day.

    Args:
        as_of: the day on which wordings have to hold, ISO.
        is_quoted: the points are articles, whole and word for word; no model wrote them.
        points: in their order, each supported by the articles that it cites.
        conflicts: provisions on one matter of which one prevails.
        dropped: statements that are no part of the answer, with the reason.
        words_found: share of the question's content words that the articles hold; None where
            there are none in its language.
        sources: every article that was found, by alias; its text is in `trace.passages`.
    """

    answer_id: str
    layout: int
    question: str
    as_of: str
    mode: Mode
    is_quoted: bool
    points: tuple[LawPoint, ...]
    conflicts: tuple[LawConflict, ...]
    dropped: tuple[LawPoint, ...]
    words_found: float | None
    notices: tuple[str, ...]
    sources: Mapping[str, LawSource]
    reader: AnswerReader
    namespaces: tuple[str, ...]
    publications: Mapping[str, str]
    build_ids: Mapping[str, str]
    trace: Trace

    __pydantic_config__ = _STRICT

    @property
    def cited(self) -> tuple[LawSource, ...]:
        """The articles of points and of what conflicts, in the order of the answer.

        Other wordings of these, which rules put beside them, are in `conflicts` alone.
        """
        said = [point for one in self.conflicts for point in one.said]
        named = [alias for point in (*self.points, *said) for alias in point.statement.citations]
        return tuple(self.sources[alias] for alias in dict.fromkeys(named))

    def only_beside(self, one: LawConflict) -> tuple[str, ...]:
        """Return the aliases of a conflict that are cited nowhere else: to be shown there."""
        cited = {source.alias for source in self.cited}
        return tuple(alias for alias in (one.prevails, one.yields) if alias not in cited)

    @property
    def levels(self) -> tuple[LawLevel | None, ...]:
        """The ranks of what is cited, the highest first; None last, where it is not known."""
        return tuple(sorted({one.level for one in self.cited}, key=_LEVELS.index))


_LEVELS: list[LawLevel | None] = [*LawLevel, None]


def law_answer_to_json(answer: LawAnswer) -> dict[str, Any]:
    """Return an answer as values that JSON knows: `schema`, then its fields, then `levels`."""
    return {"schema": SCHEMA, **asdict(answer), "levels": list(answer.levels)}


def write_law_answer(answer: LawAnswer) -> str:
    """Return an answer as the text of its JSON file."""
    return json.dumps(law_answer_to_json(answer), indent=1, ensure_ascii=False) + "\n"


def law_answer_from_json(data: Mapping[str, Any]) -> LawAnswer:
    """Return the answer that `law_answer_to_json` wrote.

    Raises:
        DamagedFileError: another schema; a field is missing, unknown or of another type.
    """
    found = {key: value for key, value in data.items() if key != "levels"}
    return restore_json(_type(), found, "answer", SCHEMA)


@cache
def _type() -> TypeAdapter[LawAnswer]:
    return TypeAdapter(LawAnswer)
