"""The paragraphs of a paper that answer a question, found within that paper."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.evaluating.agent import (
    AnnotatedQuestion,
    Paper,
    WrittenPaper,
    read_papers,
    score_paragraphs,
    scored_questions,
    write_paper,
)
from rag_assets.evaluation.metrics import Interval, difference_interval, mean_intervals
from rag_assets.evaluation.report import EvaluationReport, Figure, ReportTable, settings_digest
from rag_assets.evaluation.retrieval import Latency, encode_questions, part_names, search_parts
from rag_assets.evaluation.workspaces import BuiltWorkspace, MadeFile, built_workspace
from rag_assets.model import Progress, UsageError
from rag_assets.retrieval.filters import SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.papers import route_by_rules, search_by_section
from rag_assets.retrieval.retriever import Retriever
from rag_assets.retrieval.searching import rank_chunks
from rag_assets.retrieval.section_hints import hinted_sections, neighbouring_sections
from rag_assets.storage import Notify
from rag_assets.workspace import Settings

CONTEXTS = ("none", "headings")
WHOLE, FILTERED, TRUE_SECTION = "whole", "section filter", "true section"
ROUTED = "track of one paper"
_PLACE = ["char_start", "char_end", "section_category"]
_FIGURES = ("ndcg_at_10", "recall_at_5", "mrr_at_10")
_SHOWN = {"ndcg_at_10": "nDCG@10", "recall_at_5": "R@5", "mrr_at_10": "MRR@10"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with the paper that it is about."""

    paper: Paper
    written: WrittenPaper
    question: AnnotatedQuestion

    @property
    def key(self) -> str:
        return f"{self.paper.paper_id}/{self.question.id}"


Scores = dict[str, list[dict[str, float]]]
"""Way of searching → one set of figures a question."""


def evaluate_qasper(
    file: Path,
    settings: Settings,
    *,
    limit: int | None = None,
    cache: Path | None = None,
    notify: Notify = lambda sentence: None,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Build a library of papers, put each question to its own paper, score the paragraphs found.

    Scored are questions with annotated evidence, over the paragraphs of their paper: those that
    are evidence are relevant. The plain figures are of the settings as they are. Beside them stand
    each searcher alone; the search as a paper that is located is searched (`ROUTED`); the search
    confined to the sections that the question's words ask for, and
    to those in which the evidence truly stands (what a perfect choice would bring); and the same
    with the other of `chunk.context` none and headings.

    Args:
        file: papers.jsonl, see `Paper`.
        limit: questions at most, the first ones.
        cache: folder of workspaces and vectors; None builds and forgets.

    Raises:
        UsageError: the file holds something else, or no question with annotated evidence.
        ConfigurationError: no such model on this machine.
    """
    papers = read_papers(file)
    written = {paper.paper_id: write_paper(paper) for paper in papers}
    asked = [
        _Asked(paper, written[paper.paper_id], question)
        for paper in papers
        for question in scored_questions(paper)
    ][:limit]
    if not asked:
        raise UsageError(f"{file}: no question has annotated evidence.")
    files = [MadeFile(paper.paper_id, written[paper.paper_id].text) for paper in papers]
    own = settings.chunk.context
    scores: dict[str, Scores] = {}
    counts = {}
    for context in (own, *(other for other in CONTEXTS if other != own)):
        chunk = settings.chunk.model_copy(update={"context": context})
        varied = settings.model_copy(update={"chunk": chunk})
        with built_workspace(files, varied, cache, notify=notify, on_progress=on_progress) as built:
            scores[context], counts[context] = _ask(asked, built, varied, on_progress)
    return _report(asked, len(papers), counts[own], scores, settings)


def _ask(
    asked: Sequence[_Asked],
    built: BuiltWorkspace,
    settings: Settings,
    on_progress: Progress | None,
) -> tuple[Scores, int]:
    """Return the scores of one library, and how many chunks it has."""
    namespace, retrieve = built.namespace, settings.retrieve
    uids = {identity: uid for uid, ids in built.ids.items() for identity in ids}
    with Retriever(namespace.workspace, [namespace.name], retrieve) as retriever:
        reader = retriever.readers[0]
        queries = encode_questions(
            [each.question.question for each in asked],
            reader, retrieve, Latency(), on_progress=on_progress,
        )  # fmt: skip
        ways = (WHOLE, ROUTED, FILTERED, TRUE_SECTION, *part_names(reader, retrieve))
        scores: Scores = {way: [] for way in ways}
        for done, (each, query) in enumerate(zip(asked, queries, strict=True)):
            if on_progress:
                on_progress("searching", done, len(asked))
            uid = uids[each.paper.paper_id]
            filters = SearchFilters(citable_only=True, doc_uids=(uid,))
            hits = rank_chunks([reader], query, retrieve, filters).hits
            scores[WHOLE].append(_score(each, hits))
            wanted = route_by_rules(each.question.question).target_section_category
            routed = search_by_section(
                retriever, query.text, (uid,), neighbouring_sections(wanted), retrieve.rerank_k,
                filters=filters, favoured=wanted, asked=query,
            )  # fmt: skip
            scores[ROUTED].append(_score(each, routed.hits))
            told = reader.fetch_chunks(uid).select(_PLACE).to_pylist()
            for way, sections in (
                (FILTERED, hinted_sections(each.question.question)),
                (TRUE_SECTION, _true_sections(each, told)),
            ):
                confined = hits
                if sections:
                    narrowed = replace(filters, section_categories=tuple(map(int, sections)))
                    confined = rank_chunks([reader], query, retrieve, narrowed).hits
                scores[way].append(_score(each, confined))
            for way, found in search_parts(reader, query, retrieve, filters).items():
                scores[way].append(_score(each, found))
        return scores, reader.rows


def _true_sections(asked: _Asked, chunks: Iterable[Mapping[str, Any]]) -> tuple[int, ...]:
    """Return the categories of the sections in which the evidence stands."""
    wanted = set(asked.question.evidence)
    spans = [
        (start, end)
        for start, end in asked.written.paragraphs
        if asked.written.text[start:end] in wanted
    ]
    return tuple(
        {
            chunk["section_category"]
            for chunk in chunks
            if any(chunk["char_start"] < end and start < chunk["char_end"] for start, end in spans)
        }
    )


def _score(asked: _Asked, hits: Iterable[Hit]) -> dict[str, float]:
    return score_paragraphs(asked.written, asked.question, hits)


def _report(
    asked: Sequence[_Asked],
    papers: int,
    chunks: int,
    scores: Mapping[str, Scores],
    settings: Settings,
) -> EvaluationReport:
    own = settings.chunk.context
    plain = _column(scores[own][WHOLE], "ndcg_at_10")
    intervals: dict[tuple[str, str], dict[str, Interval]] = {}
    gains: dict[tuple[str, str], Interval] = {}
    for context, ways in scores.items():
        for way, per_question in ways.items():
            columns = [_column(per_question, figure) for figure in _FIGURES]
            intervals[context, way] = dict(zip(_FIGURES, mean_intervals(columns), strict=True))
            gains[context, way] = difference_interval(columns[0], plain)
    whole = intervals[own, WHOLE]
    metrics: dict[str, Figure] = {name: whole[name].mean for name in _FIGURES}
    for name in _FIGURES:
        metrics |= {f"{name}_low": whole[name].low, f"{name}_high": whole[name].high}
    for (context, way), figures in intervals.items():
        if (context, way) == (own, WHOLE):
            continue
        prefix = "_".join([*([] if context == own else [f"context_{context}"]), way])
        prefix = prefix.replace(" ", "_")
        metrics |= {f"{prefix}_{name}": figures[name].mean for name in _FIGURES}
    wished = sum(hinted_sections(each.question.question) is not None for each in asked)
    rows = tuple(
        (
            f"{way}, context {context}",
            *(figures[name].mean for name in _FIGURES),
            None if (context, way) == (own, WHOLE) else gains[context, way].mean,
            None
            if (context, way) == (own, WHOLE)
            else f"{gains[context, way].low:.3f} … {gains[context, way].high:.3f}",
        )
        for (context, way), figures in intervals.items()
    )
    return EvaluationReport(
        "qasper",
        settings_digest(settings),
        metrics,
        {
            "papers": papers,
            "questions": len(asked),
            "confined_by_the_section_filter": wished,
            "chunks": chunks,
        },
        (
            ReportTable(
                "Paragraphs found within the paper",
                ("search", *_SHOWN.values(), "to the first row", "95 % of that"),
                rows,
            ),
        ),
        {
            "context": own,
            "ways": {
                f"{way}, context {context}": {
                    **{name: figures[name].mean for name in _FIGURES},
                    "gain": gains[context, way].mean,
                    "gain_low": gains[context, way].low,
                    "gain_high": gains[context, way].high,
                }
                for (context, way), figures in intervals.items()
            },
            "ndcg_at_10_by_question": dict(zip((each.key for each in asked), plain, strict=True)),
        },
    )


def _column(scores: Sequence[Mapping[str, float]], figure: str) -> list[float]:
    return [score[figure] for score in scores]
