"""Whether articles of a vault of laws are found, by number and by what they say."""

import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from rag_assets.evaluation.metrics import HEADLINE, Interval, mean_intervals, score_ranking
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    ReportTable,
    mean,
    settings_digest,
    share,
)
from rag_assets.evaluation.retrieval import (
    Latency,
    encode_questions,
    part_names,
    search_parts,
    search_whole,
)
from rag_assets.evaluation.sets import (
    JUDGEMENTS,
    QUERIES,
    QueryRow,
    read_judgements,
    read_lines,
    read_unique,
)
from rag_assets.evaluation.workspaces import MadeFile, built_workspace
from rag_assets.law.structure import read_laws
from rag_assets.model import Progress, UsageError
from rag_assets.model.settings import RetrieveSettings
from rag_assets.parsing import read_parsed
from rag_assets.storage import Notify
from rag_assets.workspace import Namespace, Settings

if TYPE_CHECKING:
    from rag_assets.retrieval import AskedDay, Hit, Reader, SearchFilters
    from rag_assets.workspace import Workspace
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


class LawArticles:
    """The articles of a publication that somebody asks for.

    Args:
        workspace: that holds the parsed texts.
        reader: of its publication.
        named: ids of articles.

    Raises:
        UsageError: an id names no article, or its file's path is that of two documents.
    """

    def __init__(self, workspace: "Workspace", reader: "Reader", named: Iterable[str]) -> None:
        self._paths = _paths(reader)
        by_file: dict[str, list[str]] = defaultdict(list)
        for article in named:
            by_file[article_file(article)].append(article)
        documents = _documents_of(self._paths, by_file)
        rows = {
            row["doc_uid"]: row for row in reader.fetch_documents(documents.values()).to_pylist()
        }
        self._articles: dict[str, list[str]] = defaultdict(list)
        found: set[str] = set()
        for file, uid in documents.items():
            keys = _chunks_by_article(workspace, reader, rows[uid])
            for article in by_file[file]:
                for key in keys.get(article_number(article), ()):
                    self._articles[key].append(article)
                    found.add(article)
        self.found: Collection[str] = found
        """Articles that some passage, one that can be found, holds."""

    def of_hits(self, hits: "Iterable[Hit]") -> list[str]:
        """Return the ids of the hits' articles, best first, each once; of others the chunk's key.

        A hit that stands for others of the same text (`copies`) brings these with it.
        """
        ranking: dict[str, None] = {}
        for hit in hits:
            for key in (hit.chunk_key, *hit.copies):
                ranking.update(dict.fromkeys(self._articles.get(key) or (key,)))
        return list(ranking)

    def of_hit(self, hit: "Hit") -> Collection[str]:
        """Return the articles of one hit, without those of its copies."""
        return self._articles.get(hit.chunk_key, ())

    def passing(self, exclude: Collection[str], without: Collection[str]) -> tuple[str, ...] | None:
        """Return the documents that are searched; None for all.

        Args:
            exclude: patterns of files.
            without: uids.
        """
        if not exclude and not without:
            return None
        left_out = {
            uid
            for uid, paths in self._paths.items()
            if uid in without or all(is_excluded(path, exclude) for path in paths)
        }
        return tuple(sorted(self._paths.keys() - left_out))


def _paths(reader: "Reader") -> dict[str, list[str]]:
    """Return the paths of each published document's files."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in reader.sources().select(["doc_uid", "path", "status"]).to_pylist():
        if row["status"] == "published":
            found[row["doc_uid"]].append(row["path"])
    return dict(found)


def _documents_of(paths: Mapping[str, list[str]], files: Collection[str]) -> dict[str, str]:
    """Return the document of each file that is there: its path is the file's, or ends with it."""
    found: dict[str, str] = {}
    for uid, own in paths.items():
        for path in own:
            for tail in path_tails(path):
                if tail not in files:
                    continue
                if found.setdefault(tail, uid) != uid:
                    raise UsageError(
                        f"{tail} is the path of two documents, {found[tail]} and {uid}. Ask a "
                        "library that holds the vault once."
                    )
    return found


def _chunks_by_article(
    workspace: "Workspace", reader: "Reader", document: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Return the keys of the chunks that hold each article, by its number."""
    text = read_parsed(workspace.root / "data" / document["content_ref"])[0].text
    columns = ["chunk_id", "char_start", "char_end", "kind"]
    chunks = [
        row
        for row in reader.fetch_chunks(document["doc_uid"], columns).to_pylist()
        if row["kind"] != "heading"
    ]
    found: dict[str, list[str]] = defaultdict(list)
    for law in read_laws(text):
        for unit in law.units:
            if unit.article is None:
                continue
            for chunk in chunks:
                if chunk["char_start"] < unit.end and unit.start < chunk["char_end"]:
                    found[unit.article.key].append(f"{reader.namespace}::{chunk['chunk_id']}")
    return found


LEAST_EXISTING = 0.998
"""Share of the articles asked for that must be there (specification of the law vault)."""
WHOLE, DEEP = "whole", "whole_deep"
_TITLES = {WHOLE: "as a user asks", DEEP: "with deep pools"}
_SHOWN = {"recall_at_10": "R@10", "recall_at_100": "R@100", "ndcg_at_10": "nDCG@10",
          "mrr_at_10": "MRR@10", "hit_at_1": "hit@1"}  # fmt: skip
_NAMED = "named_article"


@dataclass(slots=True)
class _Outcome:
    """What came out.

    Args:
        scores: figures of each question, by part.
        lookups: how each look-up ended: `exact`, `first`, `missed` or `wrong`.
        failing: what was asked, and what came first, where that was not the article.
    """

    missing: list[str]
    scores: dict[str, list[Mapping[str, float]]]
    chunks: int
    not_holding: int
    lookups: list[tuple[LookupRow, str]] = field(default_factory=list)
    failing: list[dict[str, Any]] = field(default_factory=list)
    latency: Latency = field(default_factory=Latency)
    lookup_latency: Latency = field(default_factory=Latency)


def evaluate_law(
    vault: Path | None,
    queries: Path,
    settings: Settings,
    *,
    library: Namespace | None = None,
    exclude: Collection[str] = (),
    as_of: date | None = None,
    limit: int | None = None,
    cache: Path | None = None,
    notify: Notify = lambda sentence: None,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Ask a vault of laws for articles, by their numbers and by citizens' questions.

    Rankings are of articles: the passages of one article count once, at the place of the best.
    An article that the set calls as good as a judged one counts as that one.

    Args:
        vault: folder of Markdown files, one law each; built with `settings` where no library is
            given.
        queries: folder that `read_law_questions` reads.
        library: holds the vault already; it is asked with its own settings of search.
        exclude: patterns of files that are neither searched nor asked for.
        as_of: wordings are not searched in whose place another one is in force on that day.
        limit: questions, and look-ups, at most.
        cache: folder of workspaces and vectors; None builds and forgets.

    Raises:
        UsageError: no vault and no library, or `queries` cannot be used.
    """
    asked = read_law_questions(queries, exclude, limit)
    with _opened(vault, settings, library, exclude, cache, notify, on_progress) as namespace:
        chosen = namespace.settings if library is not None else settings
        outcome = _ask(asked, namespace, chosen, exclude, as_of, on_progress)
    return _describe(asked, outcome, chosen)


@contextmanager
def _opened(
    vault: Path | None,
    settings: Settings,
    library: Namespace | None,
    exclude: Collection[str],
    cache: Path | None,
    notify: Notify,
    on_progress: Progress | None,
) -> Iterator[Namespace]:
    """Give the library that is asked."""
    if library is not None:
        yield library
        return
    if vault is None:
        raise UsageError("name the folder of the vault, or a workspace that holds it.")
    files = [
        MadeFile(path, (vault / path).read_text(encoding="utf-8"), path=path)
        for path in sorted(one.relative_to(vault).as_posix() for one in vault.rglob("*.md"))
        if not is_excluded(path, exclude)
    ]
    if not files:
        raise UsageError(f"{vault} holds no Markdown file (*.md) that is not left out.")
    with built_workspace(files, settings, cache, notify=notify, on_progress=on_progress) as built:
        yield built.namespace


def _ask(
    asked: LawQuestions,
    namespace: Namespace,
    settings: Settings,
    exclude: Collection[str],
    as_of: date | None,
    on_progress: Progress | None,
) -> _Outcome:
    from rag_assets.retrieval import AskedDay, HeldLaws, Retriever, SearchFilters

    retrieve = settings.retrieve
    told = on_progress or (lambda what, done, total: None)
    with Retriever(namespace.workspace, [namespace.name], retrieve) as retriever:
        reader = retriever.readers[0]
        day = AskedDay(HeldLaws([reader.laws]), as_of) if as_of is not None else None
        left_out = {law.doc_uid for law in day.left_out.values()} if day is not None else set()
        articles = LawArticles(namespace.workspace, reader, asked.named)
        filters = SearchFilters(citable_only=True, doc_uids=articles.passing(exclude, left_out))
        names = [WHOLE, DEEP, *part_names(reader, retrieve)]
        outcome = _Outcome(
            sorted(asked.articles - set(articles.found)), {name: [] for name in names}, reader.rows,
            len(left_out),
        )  # fmt: skip
        latency = outcome.latency
        texts = [row.text for row in asked.questions]
        encoded = encode_questions(
            texts, reader, retrieve, latency, on_progress=told
        ) if texts else []  # fmt: skip
        for done, (row, query) in enumerate(zip(asked.questions, encoded, strict=True)):
            told("asking questions", done, len(encoded))
            hits, deep = search_whole(reader, query, retrieve, filters, latency)
            found = {WHOLE: hits, DEEP: deep, **search_parts(reader, query, retrieve, filters)}
            equal = asked.alternatives.get(row.id, {})
            relevance = dict.fromkeys(asked.judgements[row.id], 1.0)
            for name, own in found.items():
                ranking = _with_equals(articles.of_hits(own), equal)
                outcome.scores[name].append(score_ranking(ranking, ranking, relevance))
        if asked.lookups:
            _look_up(asked.lookups, reader, retrieve, filters, day, articles, outcome, told)
    return outcome


def _look_up(
    rows: Sequence[LookupRow],
    reader: "Reader",
    retrieve: RetrieveSettings,
    filters: "SearchFilters",
    day: "AskedDay | None",
    articles: LawArticles,
    outcome: _Outcome,
    told: Progress,
) -> None:
    from rag_assets.retrieval import rank_chunks

    latency = outcome.lookup_latency
    encoded = encode_questions(
        [row.text for row in rows], reader, retrieve, latency, on_progress=told
    )
    for done, (row, query) in enumerate(zip(rows, encoded, strict=True)):
        told("looking articles up", done, len(rows))
        started = time.perf_counter()
        hits = rank_chunks([reader], query, retrieve, filters, day).hits
        latency.searching.append(time.perf_counter() - started)
        how = _ended(row, hits, articles)
        outcome.lookups.append((row, how))
        if how in {"missed", "wrong"}:
            first = hits[0] if hits else None
            outcome.failing.append(
                {"id": row.id, "query": row.text, "relevant": row.relevant, "how": how,
                 "first": f"{first.doc_title}: {first.text[:60]}" if first else None}
            )  # fmt: skip


def _ended(row: LookupRow, hits: "Sequence[Hit]", articles: LawArticles) -> str:
    """Say how a look-up ended.

    `exact`: the article stands first and is said to be the one that is named; `first`: it stands
    first; `wrong`: another one is said to be named; `missed`: another one stands first.
    """
    if not hits:
        return "missed"
    is_it = row.relevant in articles.of_hit(hits[0])
    if _NAMED in hits[0].explanation:
        return "exact" if is_it else "wrong"
    return "first" if is_it else "missed"


def _with_equals(ranking: Sequence[str], equal: Mapping[str, str]) -> list[str]:
    """Return a ranking with the judged article in the place of one that is as good."""
    return list(dict.fromkeys(equal.get(one, one) for one in ranking))


def _describe(asked: LawQuestions, outcome: _Outcome, settings: Settings) -> EvaluationReport:
    there = len(asked.articles) - len(outcome.missing)
    ends = Counter(how for _, how in outcome.lookups)
    metrics: dict[str, Figure] = {
        "existing_share": share(there, len(asked.articles)),
        "lookups_hit_at_1": share(ends["exact"] + ends["first"], len(outcome.lookups)),
        "lookups_wrong_as_exact": ends["wrong"] if outcome.lookups else None,
        "lookups_p50_ms": _median_ms(outcome.lookup_latency.searching),
        "search_p50_ms": _median_ms(outcome.latency.searching),
    }
    tables = []
    intervals = _intervals(outcome.scores) if asked.questions else {}
    for name, figures in intervals.items():
        prefix = "" if name == WHOLE else f"{name}_"
        for figure, interval in figures.items():
            metrics[f"{prefix}{figure}"] = interval.mean
            metrics[f"{prefix}{figure}_low"] = interval.low
            metrics[f"{prefix}{figure}_high"] = interval.high
    if intervals:
        tables.append(_questions_table(intervals))
    if outcome.lookups:
        tables.append(_styles_table(outcome.lookups))
    failures = []
    if there < LEAST_EXISTING * len(asked.articles):
        failures.append(
            f"{len(outcome.missing)} of {len(asked.articles)} articles asked for are not there "
            f"(at most {1 - LEAST_EXISTING:.1%} may be missing); 'missing' in the JSON names them."
        )
    if ends["wrong"]:
        failures.append(
            f"{ends['wrong']} look-ups were given another article as the one that they name; "
            "'failing_lookups' in the JSON shows them."
        )
    return EvaluationReport(
        "law",
        settings_digest(settings),
        metrics,
        {
            "questions": len(asked.questions),
            "judgements": sum(map(len, asked.judgements.values())),
            "lookups": len(asked.lookups),
            "excluded": asked.excluded,
            "not_holding": outcome.not_holding,
            "chunks": outcome.chunks,
        },
        tuple(tables),
        {
            "models": [model.model for model in settings.embed.models],
            "retrieve": settings.retrieve.model_dump(mode="json"),
            "missing": outcome.missing,
            "failing_lookups": outcome.failing,
            "ndcg_at_10_by_question": {
                row.id: score["ndcg_at_10"]
                for row, score in zip(asked.questions, outcome.scores[WHOLE], strict=True)
            },
        },
        tuple(failures),
    )


def _intervals(
    scores: Mapping[str, Sequence[Mapping[str, float]]],
) -> dict[str, dict[str, Interval]]:
    rows = [(name, figure) for name in scores for figure in HEADLINE]
    found = mean_intervals([[one[figure] for one in scores[name]] for name, figure in rows])
    by_row = dict(zip(rows, found, strict=True))
    return {name: {figure: by_row[name, figure] for figure in HEADLINE} for name in scores}


def _questions_table(intervals: Mapping[str, Mapping[str, Interval]]) -> ReportTable:
    heads = ("searched", *(head for shown in _SHOWN.values() for head in (shown, "95 %")))
    rows = tuple(
        (
            _TITLES.get(name, name),
            *(
                cell
                for figure in _SHOWN
                for cell in (
                    figures[figure].mean, f"{figures[figure].low:.3f} … {figures[figure].high:.3f}"
                )
            ),
        )
        for name, figures in intervals.items()
    )  # fmt: skip
    return ReportTable("Questions: articles found", heads, rows)


def _styles_table(lookups: Sequence[tuple[LookupRow, str]]) -> ReportTable:
    styles = list(dict.fromkeys(style for row, _ in lookups for style in row.styles))
    rows = []
    for style in ("all", *sorted(styles)):
        ends = [how for row, how in lookups if style == "all" or style in row.styles]
        hits = [how in {"exact", "first"} for how in ends]
        rows.append(
            (style, len(ends), mean([*map(float, hits)]), ends.count("exact"), ends.count("wrong"))
        )
    return ReportTable(
        "Look-ups by how they are written",
        ("written", "look-ups", "hit@1", "as named", "wrong as named"),
        tuple(rows),
    )


def _median_ms(seconds: Sequence[float]) -> float | None:
    return statistics.median(seconds) * 1000 if seconds else None
