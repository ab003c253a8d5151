"""What looking again brings, on papers and on questions of several hops.

Papers with annotated evidence (QASPER): one search within the paper, and the
agent. Sets whose questions need several paragraphs (HotpotQA, MuSiQue): one search, and the
agent's searches together. Citations are looked up, not judged: whether the words stand at the
place that is cited, and whether that place is annotated as evidence.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.answering import Answer, PaperQuestion, answer_papers
from rag_assets.answering.agents import Passage
from rag_assets.evaluation.knowledge_evaluator import Span
from rag_assets.evaluation.metrics import (
    Interval,
    difference_interval,
    mean_interval,
    mean_intervals,
    ndcg_at,
    recall_at,
    reciprocal_rank_at,
)
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    ReportTable,
    settings_digest,
    share,
)
from rag_assets.evaluation.sets import RetrievalSet, find_sets, read_retrieval_set, read_rows
from rag_assets.evaluation.workspaces import (
    BuiltWorkspace,
    MadeFile,
    built_workspace,
    markdown_of,
)
from rag_assets.model import ConfigurationError, Progress, UsageError
from rag_assets.parsing import read_parsed
from rag_assets.publishing.content_words import content_stems
from rag_assets.storage import Notify
from rag_assets.workspace import Settings

if TYPE_CHECKING:
    from rag_assets.answering.agents.trace import Limits
    from rag_assets.judging import Scorer
    from rag_assets.llm import ChatModel
    from rag_assets.retrieval import Retriever
ANNOTATED = "annotated"
# How QASPER writes the path of a section.
_STEP = " ::: "
# Of the nearest heading; Markdown has six.
_DEEPEST = 6


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class PaperSection(_Row):
    """A section: its path in `name`, steps apart by ` ::: `."""

    name: str | None = None
    paragraphs: tuple[str, ...] = ()


class AnnotatedQuestion(_Row):
    """A question; its evidence are paragraphs of the paper, character for character."""

    id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    evidence: tuple[str, ...] = ()
    evidence_source: str = ANNOTATED


class Paper(_Row):
    """One line of papers.jsonl."""

    paper_id: Annotated[str, Field(min_length=1)]
    title: str | None = None
    abstract: str | None = None
    sections: tuple[PaperSection, ...] = ()
    questions: tuple[AnnotatedQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenPaper:
    """A paper as Markdown, and where its paragraphs stand in it.

    Args:
        paragraphs: spans in order; the abstract's is one of them.
    """

    text: str
    paragraphs: tuple[Span, ...]


def read_papers(file: Path) -> list[Paper]:
    """Return the papers of a file.

    Raises:
        UsageError: it cannot be read, a row has another shape, a paper stands twice.
    """
    papers: dict[str, Paper] = {}
    for number, paper in read_rows(file, Paper.model_validate, "not a paper"):
        if paper.paper_id in papers:
            raise UsageError(f"{file}, line {number}: paper '{paper.paper_id}' stands twice.")
        papers[paper.paper_id] = paper
    if not papers:
        raise UsageError(f"{file} holds no papers.")
    return list(papers.values())


def scored_questions(paper: Paper) -> list[AnnotatedQuestion]:
    """Return the questions with annotated evidence."""
    return [
        question
        for question in paper.questions
        if question.evidence and question.evidence_source == ANNOTATED
    ]


def write_paper(paper: Paper) -> WrittenPaper:
    """Return a paper as Markdown: title, abstract, sections under their headings."""
    parts: list[str] = []
    spans: list[Span] = []
    length = 0
    for part, is_paragraph in _parts(paper):
        if parts:
            length += 2  # the blank line between two parts
        if is_paragraph:
            spans.append((length, length + len(part)))
        parts.append(part)
        length += len(part)
    return WrittenPaper("\n\n".join(parts) + "\n", tuple(spans))


def _parts(paper: Paper) -> Iterator[tuple[str, bool]]:
    """Yield headings and paragraphs in order, and which of the two each is."""
    if paper.title:
        yield f"# {_one_line(paper.title)}", False
    if paper.abstract and paper.abstract.strip():
        yield "## Abstract", False
        yield paper.abstract.strip(), True
    before: Sequence[str] = ()
    for section in paper.sections:
        path = [_one_line(step) for step in (section.name or "").split(_STEP) if step.strip()]
        same = 0
        while same < min(len(path), len(before)) and path[same] == before[same]:
            same += 1
        # A section that follows one of its own name is still told where it begins.
        for depth in range(min(same, len(path) - 1) if path else 0, len(path)):
            yield f"{'#' * min(depth + 2, _DEEPEST)} {path[depth]}", False
        before = path
        for paragraph in section.paragraphs:
            if paragraph.strip():
                yield paragraph, True


def _one_line(text: str) -> str:
    return " ".join(text.split())


def rank_paragraphs(
    hits: Iterable[Any], paragraphs: Sequence[Span], question: str, text: str
) -> list[int]:
    """Return paragraphs by their best chunk, best first: numbers in order of the document.

    Of the paragraphs that one chunk holds the one that shares most words with the question comes
    first, as an evidence pack chooses the sentence of a chunk that it quotes; then the one of
    which the chunk holds most.

    Args:
        hits: chunks of the paragraphs' document with char_start and char_end, best first.
        paragraphs: spans in the document's clean text.
        text: the document's clean text.
    """
    asked = content_stems(question)
    ranking: dict[int, None] = {}
    for hit in hits:
        held = []
        for number, (start, end) in enumerate(paragraphs):
            first, last = max(start, hit.char_start), min(end, hit.char_end)
            if first < last:
                shared = len(asked & content_stems(text[first:last]))
                held.append((-shared, first - last, number))
        ranking.update((number, None) for _, _, number in sorted(held))
    return list(ranking)


def score_paragraphs(
    written: WrittenPaper, question: AnnotatedQuestion, hits: Iterable[Any]
) -> dict[str, float]:
    """Return nDCG@10, R@5 and MRR@10 of a search; equal paragraphs are one, at the first place.

    Args:
        hits: passages of the paper, best first.
    """
    texts = [written.text[start:end] for start, end in written.paragraphs]
    found = rank_paragraphs(hits, written.paragraphs, question.question, written.text)
    ranking = list(dict.fromkeys(texts[number] for number in found))
    relevance = dict.fromkeys(question.evidence, 1.0)
    return {
        "ndcg_at_10": ndcg_at(ranking, relevance, 10),
        "recall_at_5": recall_at(ranking, relevance, 5),
        "mrr_at_10": reciprocal_rank_at(ranking, relevance, 10),
    }


# Of reciprocal rank fusion, as searches have it.
_RRF_K = 60


@dataclass(frozen=True, slots=True)
class Citations:
    """What the citations of one answer are worth, looked up and not judged.

    Args:
        made: quotes of the sentences that are kept.
        standing: those whose words stand at the cited place of the parsed document.
        gold: those whose place is annotated as evidence.
        dropped: sentences that were not kept.
    """

    made: int
    standing: int
    gold: int
    dropped: int


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What came of one question.

    Args:
        passages: that were found, the likeliest first.
        steps: actions, `finish` among them; `searches` of passages or abstracts.
        seconds: from the question to the answer; `processor_seconds` of this process.
    """

    answer: Answer
    passages: tuple[Passage, ...]
    steps: int
    searches: int
    seconds: float
    processor_seconds: float


@dataclass(frozen=True, slots=True)
class Asker:
    """Who answers: rules, or a language model."""

    retriever: "Retriever"
    limits: "Limits"
    model: "ChatModel | None"
    scorer: "Scorer"

    def run(self, asked: PaperQuestion) -> AgentRun:
        """Return what comes of a question."""
        started, used = time.perf_counter(), time.process_time()
        answer = answer_papers(
            self.retriever, asked, self.limits, model=self.model, scorer=self.scorer,
            clock=time.perf_counter,
        )  # fmt: skip
        seconds, used = time.perf_counter() - started, time.process_time() - used
        steps = [step for step in answer.trace.steps if step.action is not None]
        searches = sum((step.action or "").startswith("search") for step in steps)
        return AgentRun(answer, fuse_passages(answer), len(steps), searches, seconds, used)

    def check(self, answer: Answer, is_gold: Callable[[str, int, int], bool]) -> Citations:
        """Return what the citations of an answer are worth.

        Args:
            is_gold: whether a place, [start, end) of a document by uid, is annotated as evidence.
        """
        quotes = [one.quote for one in answer.statements if one.quote is not None]
        readers = {reader.namespace: reader for reader in self.retriever.readers}
        texts: dict[tuple[str, str], str] = {}
        standing = 0
        for quote in quotes:
            key = quote.namespace, quote.doc_uid
            if key not in texts:
                (row,) = readers[key[0]].fetch_documents([key[1]]).to_pylist()
                parse = self.retriever.workspace.root / "data" / row["content_ref"]
                texts[key] = read_parsed(parse)[0].text
            standing += texts[key][quote.char_start : quote.char_end] == quote.text
        gold = sum(is_gold(quote.doc_uid, quote.char_start, quote.char_end) for quote in quotes)
        return Citations(len(quotes), standing, gold, len(answer.unsupported))


def fuse_passages(answer: Answer) -> tuple[Passage, ...]:
    """Return the passages that a run found, by reciprocal ranks over its searches.

    What abstracts were looked at for finding papers stands last: they were no answers.
    """
    found = answer.trace.passages
    score: dict[str, float] = dict.fromkeys(found, 0.0)
    for step in answer.trace.steps:
        if step.observation is None or step.action == "search_abstracts":
            continue
        aliases = [line.alias for line in step.observation.lines if line.alias is not None]
        for rank, alias in enumerate(aliases, start=1):
            score[alias] += 1 / (_RRF_K + rank)
    return tuple(found[alias] for alias in sorted(found, key=lambda one: -score[one]))


SINGLE, AGENT = "one search", "agent"
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
            "by --workspace; docs/models.md says how. Without --live rules answer."
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
    question: AnnotatedQuestion,
    outcome: _Outcome,
) -> None:
    from rag_assets.retrieval import SearchFilters
    from rag_assets.retrieval.papers import route_question

    retriever, text = asker.retriever, question.question
    filters = SearchFilters(citable_only=True)
    most = retriever.settings.rerank_k
    whole = retriever.retrieve(text, filters=filters, document_ids=(uid,), top_k=most)
    outcome.add(SINGLE, score_paragraphs(written, question, whole.hits))
    route = route_question(text)
    run = asker.run(PaperQuestion(text, route, uid))
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
    from rag_assets.evaluation.metrics import rank_documents
    from rag_assets.retrieval import SearchFilters
    from rag_assets.retrieval.papers import route_question

    relevance = rows.judgements[identity]
    found = asker.retriever.retrieve(
        text, filters=SearchFilters(citable_only=True), top_k=asker.retriever.settings.rerank_k
    )
    outcome.add(SINGLE, _score_documents(rank_documents(found.hits, ids), relevance))
    run = asker.run(PaperQuestion(text, route_question(text)))
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
