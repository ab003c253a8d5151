"""What a vault of laws is asked: citizens' questions with their articles, and look-ups.

Articles are named `path.md#第X条`, the path that of the file in the vault.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field

from rag_assets.evaluation.json_rows import read_lines
from rag_assets.evaluation.retrieval_rows import (
    JUDGEMENTS,
    QUERIES,
    QueryRow,
    read_judgements,
    read_unique,
)
from rag_assets.law.structure import read_laws
from rag_assets.model import UsageError

QUESTIONS, ALTERNATIVES, LOOKUPS = "stard", "alternatives.tsv", "lookups.jsonl"


class LookupRow(QueryRow):
    """One line of lookups.jsonl: words that name an article, and that article."""

    id: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1, alias="query")]
    relevant: str = Field(pattern=r".#.")
    styles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LawQuestions:
    """All that is asked.

    Args:
        questions: with at least one article that answers them.
        judgements: ids of these articles, by question.
        alternatives: article → the judged one that it is as good as, by question.
        lookups: each with the one article that it names.
        excluded: judgements and look-ups left out since their file is.
    """

    questions: tuple[QueryRow, ...]
    judgements: Mapping[str, frozenset[str]]
    alternatives: Mapping[str, Mapping[str, str]]
    lookups: tuple[LookupRow, ...]
    excluded: int

    @property
    def articles(self) -> frozenset[str]:
        """The articles that are asked for."""
        judged = {one for articles in self.judgements.values() for one in articles}
        return frozenset(judged | {row.relevant for row in self.lookups})

    @property
    def named(self) -> frozenset[str]:
        """The articles that are asked for, and those that are as good."""
        equal = {one for named in self.alternatives.values() for one in named}
        return self.articles | equal


def read_law_questions(
    folder: Path, exclude: Iterable[str] = (), limit: int | None = None
) -> LawQuestions:
    """Return what lies in `folder`: the set `stard/` and the file `lookups.jsonl`, or one of them.

    Args:
        exclude: patterns of files whose articles nobody is to find (`is_excluded`).
        limit: questions, and look-ups, at most.

    Raises:
        UsageError: neither is there, a file cannot be read, or a row has another shape.
    """
    stard, lookups = folder / QUESTIONS, folder / LOOKUPS
    if not stard.is_dir() and not lookups.is_file():
        raise UsageError(
            f"{folder} holds neither {QUESTIONS}/ ({QUERIES}, {JUDGEMENTS}) nor {LOOKUPS}."
        )
    patterns, left_out = tuple(exclude), 0
    rows: list[QueryRow] = []
    judgements: dict[str, frozenset[str]] = {}
    if stard.is_dir():
        judged = read_judgements(stard / JUDGEMENTS)
        for query in read_unique(stard / QUERIES, QueryRow):
            own = judged.get(query.id, {})
            kept = frozenset(one for one in own if not is_excluded(article_file(one), patterns))
            left_out += len(own) - len(kept)
            if kept:
                rows.append(query)
                judgements[query.id] = kept
    asked: tuple[LookupRow, ...] = ()
    if lookups.is_file():
        every = read_unique(lookups, LookupRow)
        asked = tuple(row for row in every if not is_excluded(article_file(row.relevant), patterns))
        left_out += len(every) - len(asked)
    chosen = tuple(rows[:limit])
    return LawQuestions(
        chosen,
        {row.id: judgements[row.id] for row in chosen},
        _read_alternatives(stard / ALTERNATIVES),
        asked[:limit],
        left_out,
    )


def is_excluded(path: str, patterns: Iterable[str]) -> bool:
    """Say whether a file is left out: a pattern fits its path, or an end of it (`DLC/**`)."""
    return any(fnmatchcase(tail, pattern) for tail in path_tails(path) for pattern in patterns)


def path_tails(path: str) -> tuple[str, ...]:
    """Return `a/b/c.md`, `b/c.md` and `c.md`."""
    parts = PurePosixPath(path).parts
    return tuple("/".join(parts[start:]) for start in range(len(parts)))


def article_file(article: str) -> str:
    """Return the file of `path.md#第X条`."""
    return article.rpartition("#")[0]


def article_number(article: str) -> str:
    """Return the key of `path.md#第X条`, as `ArticleMark` has it: `133-1`.

    Raises:
        UsageError: it names no article.
    """
    label = article.rpartition("#")[2]
    marks = [unit.article for law in read_laws(label) for unit in law.units if unit.article]
    if not marks:
        raise UsageError(f"'{article}' names no article: path.md#第X条 is expected.")
    return marks[0].key


def _read_alternatives(file: Path) -> dict[str, dict[str, str]]:
    """Return article → judged article by question; none where there is no such file."""
    found: dict[str, dict[str, str]] = {}
    if not file.is_file():
        return found
    for number, line in enumerate(read_lines(file)[1:], 2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < 3:
            raise UsageError(
                f"{file}, line {number}: expected query-id, corpus-id and alternative-id between "
                f"tabs, got {line!r}."
            )
        found.setdefault(cells[0], {})[cells[2]] = cells[1]
    return found
