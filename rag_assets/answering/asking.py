"""Ask papers a question: search, look, search again, answer with sentences that were checked."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.agents import (
    AgentJob,
    CheckedStatement,
    Decision,
    LiveWorld,
    ModelPolicy,
    RecordedJudge,
    ScorerJudge,
    Toolset,
    Trace,
    check_statements,
    replay_agent,
    run_agent,
)
from rag_assets.agents.statements import CHECKING_VERSION, StatementJudge, VerbatimJudge
from rag_assets.agents.trace import Limits
from rag_assets.agents.worlds import Watch, unwatched
from rag_assets.answering.naming import show_chunks
from rag_assets.answering.notices import notices_of
from rag_assets.answering.placing import PlacingJudge
from rag_assets.answering.quotes import match_of
from rag_assets.answering.record import LAYOUT_VERSION, Answer, AnswerReader, AnswerSource, Mode
from rag_assets.answering.rules import QUOTES_NAME, paper_rules, quote_answer, quote_passages
from rag_assets.answering.sound import require_sound
from rag_assets.answering.tools import PaperSearch, paper_tools
from rag_assets.llm import Budget, ChatModel, context_tokens, load_prompt
from rag_assets.model import SectionCategory, hash_fields, require_question
from rag_assets.publishing import build_id_of
from rag_assets.retrieval.papers import Route
from rag_assets.retrieval.papers.context import INTRODUCTION_TOKENS

if TYPE_CHECKING:
    from rag_assets.judging import Scorer
    from rag_assets.retrieval import Retriever, SearchFilters

# Counts as code: raise it when the same publications answer otherwise.
ANSWERING_VERSION = 2
PROMPT = "agentic_searcher"
# They compare and do not read: what is near in words may say the contrary.
_COMPARING = frozenset({"similarity", "facts"})
# From so many tokens on a model is told introductions and neighbours as spec 002 has it.
_LONG, _SHORT_INTRODUCTION = 8_192, 60
SINGLE_STEPS = 2
"""Actions of an answer that searches once: the search and `finish`."""


_VERBATIM = AnswerReader(VerbatimJudge.name, VerbatimJudge.fingerprint, reads=False, ok=1.0)


@dataclass(frozen=True, slots=True)
class PaperQuestion:
    """What is asked, and how.

    Args:
        doc_id: the one paper that is meant, where it was located; None to find it.
        filters: conditions as the command line writes them, beside "may be cited".
        mode: `single` searches once and answers from that.
    """

    question: str
    route: Route
    doc_id: str | None = None
    namespaces: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    mode: Mode = "agent"


def answer_papers(
    retriever: "Retriever",
    asked: PaperQuestion,
    limits: Limits,
    *,
    model: ChatModel | None,
    scorer: "Scorer",
    clock: Callable[[], float],
    watch: Watch = unwatched,
) -> Answer:
    """Return the answer to a question, every sentence of it checked.

    Args:
        retriever: entered; what may not be cited is never searched.
        limits: of the run; the steps of mode `single` are two.
        model: writes the answer; None for rules, which quote.
        scorer: holds each sentence that a model wrote against the passages that it cites.
        clock: seconds from any beginning, for `limits.seconds`.
        watch: is told each search and each call of the model, before it is made.

    Raises:
        UsageError: no text in the question, a wrong filter.
        DamagedFileError: a quote is not what stands in its source.
    """
    require_question(asked.question)
    policy = None
    if model is not None:
        policy = ModelPolicy.of(model, load_prompt(PROMPT), _tools(asked))
    job = _job(asked, limits, policy)
    background = None if model is None else _background(retriever)
    search = PaperSearch(retriever, citable_filters(asked.filters), background)
    budget = Budget(limits.tokens, limits.seconds, clock=clock)
    trace = run_agent(job, LiveWorld(paper_tools(), search, model, budget, watch))
    publications = {name: str(m["publication"]) for name, m in retriever.manifests.items()}
    builds = {name: build_id_of(m) for name, m in retriever.manifests.items()}
    reader = reader_of(scorer, is_quoted=_is_quoted(trace))
    quoting = PlacingJudge(VerbatimJudge(), retriever)
    judge = quoting if _is_quoted(trace) else PlacingJudge(ScorerJudge(scorer), retriever)
    return _answer(asked, trace, judge, quoting, reader, publications, builds)


def replay_answer(answer: Answer) -> Answer:
    """Return the same answer, made again without a model, a search or a clock.

    Raises:
        RecordingError: this version goes another way than the one that made it.
        DamagedFileError: its words do not stand in its own passages.
    """
    require_sound(answer)
    asked = PaperQuestion(
        answer.question, answer.route, answer.doc_id, answer.namespaces, answer.filters, answer.mode
    )
    described = dict(answer.trace.policy)
    policy = None
    name = str(described.pop("name"))
    if name != QUOTES_NAME:
        policy = ModelPolicy(name, described, load_prompt(PROMPT), _tools(asked))
    trace = replay_agent(_job(asked, answer.trace.limits, policy), answer.trace)
    judge = RecordedJudge((*answer.statements, *answer.unsupported))
    return _answer(
        asked, trace, judge, judge, answer.reader, dict(answer.publications), dict(answer.build_ids)
    )


def _background(retriever: "Retriever") -> tuple[int, int]:
    """Return how much a model is told beside what was found; less where it takes little."""
    most = context_tokens(retriever.workspace.settings.llm)
    return (
        (_SHORT_INTRODUCTION, 0) if most is not None and most < _LONG else (INTRODUCTION_TOKENS, 1)
    )


def _job(asked: PaperQuestion, limits: Limits, policy: ModelPolicy | None) -> AgentJob:
    rules = paper_rules(asked.route, asked.doc_id)
    opening: tuple[Decision, ...] = ()
    if asked.mode == "single":
        limits = replace(limits, steps=SINGLE_STEPS)
        opening = (_single_search(asked),)
    return AgentJob(
        question=asked.question,
        brief=_brief(asked),
        tools=_tools(asked),
        policy=policy or rules,
        limits=limits,
        finisher=quote_answer,
        finisher_name=QUOTES_NAME,
        fallback=None if policy is None else rules,
        opening=opening,
    )


def _tools(asked: PaperQuestion) -> Toolset[PaperSearch]:
    return paper_tools(only_finish=asked.mode == "single")


def _single_search(asked: PaperQuestion) -> Decision:
    given = {"query": asked.question, "doc_id": asked.doc_id, "category": None}
    arguments = {key: value for key, value in given.items() if value is not None}
    return Decision("search_by_section", arguments, "One search, and no further one.")


def _brief(asked: PaperQuestion) -> str:
    """Return the route as the model is told it."""
    route = asked.route
    said = [f"Intent: {route.intent}."]
    if route.target_paper_keywords:
        said.append(f"The paper is called: {'; '.join(route.target_paper_keywords)}.")
    if asked.doc_id is not None:
        said.append(f"It is doc_id {asked.doc_id}.")
    if route.target_section_category:
        names = [SectionCategory(number).name for number in route.target_section_category]
        said.append(f"Sections that may answer: {', '.join(names)}.")
    return " ".join(said)


def citable_filters(conditions: Sequence[str]) -> "SearchFilters":
    """Return what may be found for an answer: what may be cited and meets the conditions.

    Raises:
        UsageError: a condition is none.
    """
    from rag_assets.retrieval import SearchFilters

    filters = SearchFilters(citable_only=True)
    for condition in conditions:
        filters = filters.with_filter(condition)
    return filters


def _is_quoted(trace: Trace) -> bool:
    return trace.answered_by == QUOTES_NAME


def reader_of(scorer: "Scorer", *, is_quoted: bool) -> AnswerReader:
    """Return what holds the sentences of an answer against their passages."""
    if is_quoted:
        return _VERBATIM
    name = getattr(getattr(scorer, "reader", None), "name", scorer.name)
    reads = scorer.name not in _COMPARING
    return AnswerReader(name, scorer.fingerprint, reads=reads, ok=scorer.thresholds.ok)


def _answer(
    asked: PaperQuestion,
    trace: Trace,
    judge: StatementJudge,
    quoting: StatementJudge,
    reader: AnswerReader,
    publications: dict[str, str],
    build_ids: dict[str, str],
) -> Answer:
    """Return the answer; where nothing that a model wrote stands, what the sources say instead."""
    is_quoted = _is_quoted(trace)
    checked = check_statements(
        str(trace.result["answer"]), trace.passages, judge, by_line=is_quoted
    )
    kept = tuple(one for one in checked if one.is_supported)
    struck = tuple(one for one in checked if not one.is_supported)
    match = match_of(asked.question, trace.passages)
    if not kept and not is_quoted and match.is_good:
        is_quoted, reader = True, _VERBATIM
        said = str(quote_passages(asked.question, trace.passages)["answer"])
        kept = check_statements(said, trace.passages, quoting, by_line=True)
    return Answer(
        answer_id=_answer_id(asked, trace, reader, publications),
        layout=LAYOUT_VERSION,
        question=asked.question,
        mode=asked.mode,
        route=asked.route,
        doc_id=asked.doc_id,
        is_quoted=is_quoted,
        statements=kept,
        unsupported=struck,
        match=match,
        notices=(
            *notices_of(asked.question, trace, kept, match, reader, is_quoted=is_quoted),
            *(f"{told[0].upper()}{told[1:]}." for told in asked.route.told),
        ),
        sources=_sources(kept, trace),
        reader=reader,
        namespaces=asked.namespaces,
        filters=asked.filters,
        publications=publications,
        build_ids=build_ids,
        trace=trace,
    )


def _answer_id(
    asked: PaperQuestion, trace: Trace, reader: AnswerReader, publications: dict[str, str]
) -> str:
    decided = (asdict(asked), dict(trace.policy), asdict(trace.limits), reader.fingerprint)
    return hash_fields(ANSWERING_VERSION, CHECKING_VERSION, decided, publications)[:16]


def _sources(kept: Sequence[CheckedStatement], trace: Trace) -> tuple[AnswerSource, ...]:
    aliases: dict[tuple[str, str], list[str]] = {}
    for alias in dict.fromkeys(alias for one in kept for alias in one.citations):
        passage = trace.passages[alias]
        aliases.setdefault((passage.namespace, passage.doc_uid), []).append(alias)
    return tuple(
        AnswerSource(
            namespace,
            uid,
            trace.passages[own[0]].title,
            tuple(own),
            show_chunks(uid, [trace.passages[alias].chunk_id for alias in own]),
        )
        for (namespace, uid), own in aliases.items()
    )
