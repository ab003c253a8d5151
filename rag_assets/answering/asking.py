"""Ask papers a question: search, look, search again, answer with sentences that were checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.answering.agents import (
    AgentJob,
    AgentState,
    CheckedStatement,
    CitedQuote,
    Decision,
    LiveWorld,
    ModelPolicy,
    Passage,
    RecordedJudge,
    RulesPolicy,
    ScorerJudge,
    Toolset,
    Trace,
    check_statements,
    replay_agent,
    run_agent,
)
from rag_assets.answering.agents.loop import Watch, unwatched
from rag_assets.answering.agents.statements import (
    CHECKING_VERSION,
    Claim,
    StatementJudge,
    VerbatimJudge,
)
from rag_assets.answering.agents.trace import Limits
from rag_assets.answering.record import (
    LAYOUT_VERSION,
    Answer,
    AnswerReader,
    AnswerSource,
    Mode,
    require_sound,
)
from rag_assets.answering.rendering import notices_of, show_chunks
from rag_assets.answering.rules import (
    QUOTES_NAME,
    match_of,
    paper_rules,
    quote_answer,
    quote_passages,
)
from rag_assets.answering.tools import PaperSearch, paper_tools
from rag_assets.evidence.locating import locate
from rag_assets.evidence.quoting import QuoteFinder
from rag_assets.llm import Budget, ChatModel, context_tokens, load_prompt
from rag_assets.model import LanguageModelError, SectionCategory, hash_fields, require_question
from rag_assets.publishing import build_id_of
from rag_assets.retrieval.papers import INTRODUCTION_TOKENS, Route

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
class Profile:
    """What differs between questions about papers and about law, for the one engine that asks.

    Args:
        prompt: name of the packaged prompt of a model.
        tools: by which a model or rules search; `single` leaves `finish` alone.
        rules: decide where no model does; `quote` makes their `finish`, recorded as `quotes_name`.
        brief: what a model is told beside the question.
        opening: actions before anybody decides.
    """

    question: str
    mode: Mode
    prompt: str
    tools: Callable[..., Toolset[Any]]
    rules: RulesPolicy
    quote: Callable[[AgentState], Mapping[str, Any]]
    quotes_name: str
    brief: str
    opening: tuple[Decision, ...]

    def run(
        self, search: Any, limits: Limits, model: ChatModel | None, budget: Budget, watch: Watch
    ) -> Trace:
        """Search and answer; `search` is what the tools work on."""
        policy = None
        if model is not None:
            policy = ModelPolicy.of(model, load_prompt(self.prompt), self._offered)
        world = LiveWorld(self.tools(), search, model, budget, watch)
        return run_agent(self._job(limits, policy), world)

    def replay(self, trace: Trace) -> Trace:
        """Make a run again from its trace; RecordingError where it goes another way."""
        described = dict(trace.policy)
        name, policy = str(described.pop("name")), None
        if name != self.quotes_name:
            policy = ModelPolicy(name, described, load_prompt(self.prompt), self._offered)
        return replay_agent(self._job(trace.limits, policy), trace)

    @property
    def _offered(self) -> Toolset[Any]:
        return self.tools(only_finish=self.mode == "single")

    def _job(self, limits: Limits, policy: ModelPolicy | None) -> AgentJob:
        if self.mode == "single":
            limits = replace(limits, steps=SINGLE_STEPS)
        return AgentJob(
            self.question, self.brief, self._offered, policy or self.rules, limits, self.quote,
            self.quotes_name, None if policy is None else self.rules, self.opening,
        )  # fmt: skip


def published(retriever: "Retriever") -> tuple[dict[str, str], dict[str, str]]:
    """Return the publications that are asked and their builds, by namespace."""
    found = retriever.manifests
    return (
        {name: str(manifest["publication"]) for name, manifest in found.items()},
        {name: build_id_of(manifest) for name, manifest in found.items()},
    )


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
    budget: Budget | None = None,
    watch: Watch = unwatched,
) -> Answer:
    """Return the answer to a question, every sentence of it checked.

    Args:
        retriever: entered; what may not be cited is never searched.
        limits: of the run; the steps of mode `single` are two.
        model: writes the answer; None for rules, which quote.
        scorer: holds each sentence that a model wrote against the passages that it cites.
        clock: seconds from any beginning, for `limits.seconds`.
        budget: what of the limits is left, where the task began before; None for all.
        watch: is told each search and each call of the model, before it is made.

    Raises:
        UsageError: no text in the question, a wrong filter.
        DamagedFileError: a quote differs from its source.
    """
    require_question(asked.question)
    background = None if model is None else _background(retriever)
    search = PaperSearch(retriever, citable_filters(asked.filters), background)
    budget = budget or Budget(limits.tokens, limits.seconds, clock=clock)
    trace = _profile(asked).run(search, limits, model, budget, watch)
    if not _is_quoted(trace):
        watch("Checking each sentence against its source")
    reader = reader_of(scorer, is_quoted=_is_quoted(trace))
    quoting = PlacingJudge(VerbatimJudge(), retriever)
    judge = quoting if _is_quoted(trace) else PlacingJudge(ScorerJudge(scorer), retriever)
    return _answer(asked, trace, judge, quoting, reader, *published(retriever))


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
    trace = _profile(asked).replay(answer.trace)
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


def _profile(asked: PaperQuestion) -> Profile:
    opening: tuple[Decision, ...] = ()
    if asked.mode == "single":
        given = {"query": asked.question, "doc_id": asked.doc_id}
        arguments = {key: value for key, value in given.items() if value is not None}
        said = "One search, and no further one."
        opening = (Decision("search_by_section", arguments, said),)
    return Profile(
        asked.question, asked.mode, PROMPT, paper_tools, paper_rules(asked.route, asked.doc_id),
        quote_answer, QUOTES_NAME, _brief(asked), opening,
    )  # fmt: skip


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


class PlacingJudge:
    """Lets another judge decide, and looks each quote up in the parse that it was cut from.

    A quote is cut behind a clause where it has more than 60 words, and compared with what is
    printed, as those of packs are.

    Args:
        retriever: entered.
    """

    def __init__(self, judge: StatementJudge, retriever: "Retriever") -> None:
        self._judge = judge
        self._readers = {reader.namespace: reader for reader in retriever.readers}
        self._quotes = QuoteFinder(retriever.workspace.root / "data")
        self._parses: dict[tuple[str, str], str] = {}

    def judge(self, claims: Sequence[Claim]) -> list[CheckedStatement]:
        """Return what becomes of each claim.

        Raises:
            DamagedFileError: a quote differs from its source.
        """
        return [self._judged(claim) for claim in claims]

    def _judged(self, claim: Claim) -> CheckedStatement:
        try:
            (one,) = self._judge.judge([claim])
        except LanguageModelError as error:
            reason = f"It was not checked: {error}"
            return CheckedStatement(claim.number, claim.text, claim.citations, "unread", reason)
        return replace(one, quote=one.quote and self._placed(one.quote, claim))

    def _placed(self, quote: CitedQuote, claim: Claim) -> CitedQuote:
        passage = claim.passages[claim.citations.index(quote.alias)]
        start = passage.char_start
        found = self._quotes.find(
            self._parse_of(passage), passage.chunk_key, passage.text, start,
            (quote.char_start - start, quote.char_end - start),
        )  # fmt: skip
        place = locate(
            found.page_start, found.page_end, found.char_start, found.char_end,
            passage.section_path, has_boxes=bool(found.boxes), labels=passage.page_labels,
            first_label=passage.page_start,
        )  # fmt: skip
        where = place.text if place else quote.place
        return replace(
            quote,
            text=found.text,
            char_end=found.char_end,
            place=f"{found.article}, {where}" if found.article else where,
            check=found.check,
        )

    def _parse_of(self, passage: Passage) -> str:
        key = passage.namespace, passage.doc_uid
        if key not in self._parses:
            (row,) = self._readers[passage.namespace].fetch_documents([key[1]]).to_pylist()
            self._parses[key] = row["content_ref"]
        return self._parses[key]
