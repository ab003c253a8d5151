"""What looking again brings, on papers and on questions of several hops.

Papers with annotated evidence (QASPER): one search within the paper, the track of one paper, and
the agent. Sets whose questions need several paragraphs (HotpotQA, MuSiQue): one search, and the
agent's searches together. Citations are looked up, not judged: whether the words stand at the
place that is cited, and whether that place is annotated as evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.evaluation.agent_runs import AgentRun, Asker, Citations
from rag_assets.evaluation.bootstrap import (
    Interval,
    difference_interval,
    mean_interval,
    mean_intervals,
)
from rag_assets.evaluation.paper_rows import (
    PaperQuestion,
    WrittenPaper,
    read_papers,
    scored_questions,
    write_paper,
)
from rag_assets.evaluation.paragraphs import score_paragraphs
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    ReportTable,
    settings_digest,
    share,
)
from rag_assets.evaluation.retrieval_metrics import ndcg_at, recall_at
from rag_assets.evaluation.retrieval_rows import RetrievalSet, find_sets, read_retrieval_set
from rag_assets.evaluation.workspaces import (
    BuiltWorkspace,
    MadeFile,
    built_workspace,
    markdown_of,
)
from rag_assets.model import ConfigurationError, Progress, UsageError
from rag_assets.storage import Notify
from rag_assets.workspace import Settings

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel
    from rag_assets.retrieval import Retriever

SINGLE, TRACK, AGENT = "one search", "track of one paper", "agent"
_DEPTH = 10
_SHOWN = {"ndcg_at_10": "nDCG@10", "recall_at_5": "R@5", "all_at_10": "all in 10",
          "recall_at_10": "R@10"}  # fmt: skip


@dataclass(slots=True)
class _Outcome:
    """What came out for one set.

    Args:
        scores: figures of each question, by way of searching.
    """

    name: str
    kind: str
    scores: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    runs: list[AgentRun] = field(default_factory=list)
    citations: list[Citations] = field(default_factory=list)

    def add(self, way: str, scored: dict[str, float]) -> None:
        """Keep the figures of one question."""
        self.scores.setdefault(way, []).append(scored)

    def column(self, way: str, figure: str) -> list[float]:
        """Return one figure of every question."""
        return [scored[figure] for scored in self.scores[way]]


def evaluate_agent(
    path: Path,
    settings: Settings,
    *,
    limit: int | None = None,
    cache: Path | None = None,
    model: "ChatModel | None" = None,
    notify: Notify = lambda sentence: None,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Build a library of each set, ask its questions once and by the agent, and compare.

    Args:
        path: a file of papers (`paper_rows.Paper`), a set in the layout of BEIR whose questions
            need several documents, or a folder of such files and sets.
        settings: of every stage, of the search, of `answer` and of `verify`.
        limit: questions at most of each set, the first ones.
        cache: folder of workspaces and vectors; None builds and forgets.
        model: searches and answers; None for rules.

    Raises:
        UsageError: nothing of that kind there, or a row of another shape.
    """
    outcomes = []
    for found in _find(path):
        if found.is_file():
            outcome = _ask_papers(found, settings, limit, cache, model, notify, on_progress)
        else:
            outcome = _ask_hops(found, settings, limit, cache, model, notify, on_progress)
        outcomes.append(outcome)
    return _describe(outcomes, settings, model)


def open_live_model(settings: Settings) -> "ChatModel":
    """Return the model that `llm` names for the agent.

    Raises:
        ConfigurationError: it names none.
    """
    from rag_assets.llm import load_chat_model

    model = load_chat_model(settings.llm.for_role("agent"))
    if model is None:
        raise ConfigurationError(
            "--live asks a language model, and 'llm' names none. Set llm.kind and llm.model (or "
            "llm.roles.agent) in a file and give it by --config, or name a workspace that has one "
            "by --workspace; docs/language-models.md says how. Without --live rules answer."
        )
    return model


def _find(path: Path) -> list[Path]:
    """Return files of papers and folders of sets."""
    if path.is_file():
        return [path]
    papers = sorted(path.glob("papers.jsonl")) + sorted(path.glob("[!.]*/papers.jsonl"))
    try:
        return [*papers, *find_sets(path)]
    except UsageError:
        if papers:
            return papers
        raise


def _ask_papers(
    file: Path,
    settings: Settings,
    limit: int | None,
    cache: Path | None,
    model: "ChatModel | None",
    notify: Notify,
    on_progress: Progress | None,
) -> _Outcome:
    papers = read_papers(file)
    written = {paper.paper_id: write_paper(paper) for paper in papers}
    asked = [(paper, question) for paper in papers for question in scored_questions(paper)][:limit]
    if not asked:
        raise UsageError(f"{file}: no question has annotated evidence.")
    files = [MadeFile(paper.paper_id, written[paper.paper_id].text) for paper in papers]
    outcome = _Outcome(file.parent.name, "papers")
    with built_workspace(files, settings, cache, notify=notify, on_progress=on_progress) as built:
        uids = {identity: uid for uid, ids in built.ids.items() for identity in ids}
        with _retriever(built, settings) as retriever:
            asker = _asker(retriever, settings, model)
            for done, (paper, question) in enumerate(asked):
                if on_progress:
                    on_progress(f"{outcome.name}: asking", done, len(asked))
                uid = uids[paper.paper_id]
                _ask_paper(asker, uid, written[paper.paper_id], question, outcome)
    return outcome


def _ask_paper(
    asker: Asker,
    uid: str,
    written: WrittenPaper,
    question: PaperQuestion,
    outcome: _Outcome,
) -> None:
    from rag_assets.answering import PaperQuestion as Asked
    from rag_assets.retrieval import SearchFilters
    from rag_assets.retrieval.papers import route_question, search_by_section
    from rag_assets.retrieval.section_hints import neighbouring_sections

    retriever, text = asker.retriever, question.question
    filters = SearchFilters(citable_only=True)
    most = retriever.settings.rerank_k
    whole = retriever.retrieve(text, filters=filters, document_ids=(uid,), top_k=most)
    outcome.add(SINGLE, score_paragraphs(written, question, whole.hits))
    route = route_question(text)
    routed = search_by_section(
        retriever, text, (uid,), neighbouring_sections(route.target_section_category), most,
        filters=filters, favoured=route.target_section_category, asked=whole.query,
    )  # fmt: skip
    outcome.add(TRACK, score_paragraphs(written, question, routed.hits))
    run = asker.run(Asked(text, route, uid))
    own = [passage for passage in run.passages if passage.doc_uid == uid]
    outcome.add(AGENT, score_paragraphs(written, question, own))
    wanted = set(question.evidence)
    spans = [span for span in written.paragraphs if written.text[slice(*span)] in wanted]
    outcome.runs.append(run)
    outcome.citations.append(
        asker.check(
            run.answer,
            lambda of, start, end: of == uid and any(start < e and s < end for s, e in spans),
        )
    )


def _ask_hops(
    folder: Path,
    settings: Settings,
    limit: int | None,
    cache: Path | None,
    model: "ChatModel | None",
    notify: Notify,
    on_progress: Progress | None,
) -> _Outcome:
    rows = read_retrieval_set(folder, limit)
    files = [MadeFile(row.id, markdown_of(row.title, row.text)) for row in rows.corpus]
    outcome = _Outcome(rows.name, "hops")
    with (
        built_workspace(files, settings, cache, notify=notify, on_progress=on_progress) as built,
        _retriever(built, settings) as retriever,
    ):
        asker = _asker(retriever, settings, model)
        for done, row in enumerate(rows.queries):
            if on_progress:
                on_progress(f"{rows.name}: asking", done, len(rows.queries))
            _ask_hop(asker, rows, row.id, row.text, built.ids, outcome)
    return outcome


def _ask_hop(
    asker: Asker,
    rows: RetrievalSet,
    identity: str,
    text: str,
    ids: Mapping[str, Sequence[str]],
    outcome: _Outcome,
) -> None:
    from rag_assets.answering import PaperQuestion as Asked
    from rag_assets.evaluation.rankings import rank_documents
    from rag_assets.retrieval import SearchFilters
    from rag_assets.retrieval.papers import route_question

    relevance = rows.judgements[identity]
    found = asker.retriever.retrieve(
        text, filters=SearchFilters(citable_only=True), top_k=asker.retriever.settings.rerank_k
    )
    outcome.add(SINGLE, _score_documents(rank_documents(found.hits, ids), relevance))
    run = asker.run(Asked(text, route_question(text)))
    ranked = [one for passage in run.passages for one in ids.get(passage.doc_uid, ())]
    outcome.add(AGENT, _score_documents([*dict.fromkeys(ranked)], relevance))
    gold = {uid for uid, own in ids.items() if any(one in relevance for one in own)}
    outcome.runs.append(run)
    outcome.citations.append(asker.check(run.answer, lambda uid, start, end: uid in gold))


def _score_documents(ranking: Sequence[str], relevance: Mapping[str, float]) -> dict[str, float]:
    """Return whether all that is relevant stands in the first ten, its share, and nDCG@10."""
    relevant = {one for one, value in relevance.items() if value > 0}
    share = recall_at(ranking, relevant, _DEPTH)
    return {
        "all_at_10": float(share == 1.0),
        "recall_at_10": share,
        "ndcg_at_10": ndcg_at(ranking, relevance, _DEPTH),
    }


def _retriever(built: BuiltWorkspace, settings: Settings) -> "Retriever":
    from rag_assets.retrieval import Retriever

    name = built.namespace.name
    return Retriever(built.namespace.workspace, [name], settings.retrieve, looks_at_raw=False)


def _asker(retriever: "Retriever", settings: Settings, model: "ChatModel | None") -> Asker:
    from rag_assets.answering import answer_scorer, limits_of

    return Asker(retriever, limits_of(settings.answer), model, answer_scorer(settings))


def _describe(
    outcomes: Sequence[_Outcome], settings: Settings, model: "ChatModel | None"
) -> EvaluationReport:
    metrics: dict[str, Figure] = {}
    rows: list[tuple[Figure, ...]] = []
    cited: list[tuple[Figure, ...]] = []
    for outcome in outcomes:
        for way, scored in outcome.scores.items():
            for figure in scored[0]:
                found = mean_interval(outcome.column(way, figure))
                key = f"{outcome.name}_{way}_{figure}".replace(" ", "_")
                metrics |= {key: found.mean, f"{key}_low": found.low, f"{key}_high": found.high}
                gain: Interval | None = None
                if way != SINGLE:
                    columns = outcome.column(way, figure), outcome.column(SINGLE, figure)
                    gain = difference_interval(*columns)
                    metrics |= {
                        f"{key}_gain": gain.mean, f"{key}_gain_low": gain.low,
                        f"{key}_gain_high": gain.high,
                    }  # fmt: skip
                if figure in _SHOWN:
                    rows.append(
                        (
                            outcome.name, way, _SHOWN[figure], found.mean, _ends(found),
                            gain.mean if gain is not None else None, _ends(gain),
                        )
                    )  # fmt: skip
        means, counts = _citation_figures(outcome)
        for name, found in means.items():
            key = f"{outcome.name}_{name}"
            metrics |= {key: found.mean, f"{key}_low": found.low, f"{key}_high": found.high}
            cited.append((outcome.name, name.replace("_", " "), found.mean, _ends(found)))
        metrics |= {f"{outcome.name}_{name}": value for name, value in counts.items()}
        cited += [(outcome.name, name.replace("_", " "), v, None) for name, v in counts.items()]
    by = "rules" if model is None else model.name
    heads = ("set", "search", "figure", "mean", "95 %", "to one search", "95 % of that")
    return EvaluationReport(
        "agent",
        settings_digest(settings),
        {"asked": by, **metrics},
        {f"{one.name}_questions": len(one.runs) for one in outcomes},
        (
            ReportTable(f"Evidence found; the agent: {by}", heads, tuple(rows)),
            ReportTable(
                "Answers: what they took, and their citations",
                ("set", "figure", "mean", "95 %"),
                tuple(cited),
            ),
        ),
        {
            "models": [each.model for each in settings.embed.models],
            "answer": settings.answer.model_dump(mode="json"),
            "verify": settings.verify.scorer,
            "by_question": {
                one.name: {way: one.scores[way] for way in one.scores} for one in outcomes
            },
        },
        tuple(
            f"{one.name}: a quote does not stand where it is cited; 'by_question' has the rest."
            for one in outcomes
            if sum(c.standing for c in one.citations) < sum(c.made for c in one.citations)
        ),
    )


def _ends(interval: Interval | None) -> str | None:
    return f"{interval.low:.3f} … {interval.high:.3f}" if interval is not None else None


_MEANS = ("steps", "searches", "seconds", "processor_seconds", "gold_share", "questions_with_gold",
          "answered")  # fmt: skip


def _citation_figures(outcome: _Outcome) -> tuple[dict[str, Interval], dict[str, Figure]]:
    """Return means over questions with their intervals, and counts over all citations.

    `gold_share`: of a question's citations, whose place is evidence; `questions_with_gold`: that
    have one of these; `answered`: whose answer says that what was found seems to answer;
    `standing_share`: of all citations, whose words stand at the place.
    """
    runs, cited = outcome.runs, outcome.citations
    made = sum(one.made for one in cited)
    columns = (
        [float(run.steps) for run in runs],
        [float(run.searches) for run in runs],
        [run.seconds for run in runs],
        [run.processor_seconds for run in runs],
        [one.gold / one.made if one.made else 0.0 for one in cited],
        [float(one.gold > 0) for one in cited],
        [float(run.answer.match.is_good) for run in runs],
    )
    counts: dict[str, Figure] = {
        "citations": made,
        "standing_share": share(sum(one.standing for one in cited), made),
        "statements_dropped": sum(one.dropped for one in cited),
    }
    return dict(zip(_MEANS, mean_intervals(columns), strict=True)), counts
