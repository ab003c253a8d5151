"""Ask statutes a question: whole articles are found, what is said of them is checked."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.answering.agents import (
    RecordedJudge,
    ScorerJudge,
    Trace,
)
from rag_assets.answering.agents.loop import Watch, unwatched
from rag_assets.answering.agents.statements import CHECKING_VERSION, StatementJudge, VerbatimJudge
from rag_assets.answering.agents.trace import Limits
from rag_assets.answering.asking import Profile, citable_filters, published, reader_of
from rag_assets.answering.law.checking import LAW_CHECKING_VERSION, check_law
from rag_assets.answering.law.record import (
    LAYOUT_VERSION,
    LawAnswer,
    LawSource,
    write_law_answer,
)
from rag_assets.answering.law.rendering import law_notices, render_law_answer
from rag_assets.answering.law.tools import (
    QUOTES_NAME,
    LawSearch,
    first_search,
    law_rules,
    law_tools,
    quote_articles,
)
from rag_assets.answering.record import AnswerReader, Mode, require_sound_parts
from rag_assets.answering.rendering import say
from rag_assets.answering.storing import (
    PolicyChoice,
    limits_of,
    open_answer_scorer,
    open_answering_model,
    store_answer,
)
from rag_assets.llm import Budget, ChatModel
from rag_assets.model import DamagedFileError, hash_fields, is_chinese, require_question
from rag_assets.parsing import read_parsed
from rag_assets.publishing.content_words import coverage
from rag_assets.retrieval import Asked, Publications, Retriever, workspace_of

if TYPE_CHECKING:
    from rag_assets.judging import Scorer

# Counts as code: raise it when the same publications answer otherwise.
LAW_ANSWERING_VERSION = 3
PROMPT = "law_adviser"


@dataclass(frozen=True, slots=True)
class LawQuestion:
    """What is asked, for which day.

    Args:
        as_of: the day on which wordings have to hold, ISO.
        mode: `single` searches once and answers from that.
    """

    question: str
    as_of: str
    namespaces: tuple[str, ...] = ()
    mode: Mode = "agent"


def answer_statutes(
    retriever: "Retriever",
    asked: LawQuestion,
    limits: Limits,
    *,
    model: ChatModel | None,
    scorer: "Scorer",
    clock: Callable[[], float],
    budget: Budget | None = None,
    watch: Watch = unwatched,
) -> LawAnswer:
    """Return the answer to a question about law, every point of it checked.

    Args:
        retriever: entered; what may not be cited is never searched.
        limits: of the run; the steps of mode `single` are two.
        model: writes the answer; None for rules, which quote articles.
        scorer: holds each sentence that a model wrote against the articles that it cites.
        clock: seconds from any beginning, for `limits.seconds`.
        budget: what of the limits is left, where the task began before; None for all.
        watch: is told each search and each call of the model, before it is made.

    Raises:
        UsageError: no text in the question, or no statutes in what is asked.
        DamagedFileError: an article differs from its source.
    """
    from rag_assets.retrieval.statutes import LawShelf

    require_question(asked.question)
    readers = {reader.namespace: reader for reader in retriever.readers}
    day = date.fromisoformat(asked.as_of)
    shelf = LawShelf(Publications(retriever.workspace, readers), day)
    shelf.require_statutes()
    search = LawSearch(retriever, shelf, day, citable_filters(()))
    budget = budget or Budget(limits.tokens, limits.seconds, clock=clock)
    trace = _profile(asked).run(search, limits, model, budget, watch)
    _require_printed(retriever, trace)
    sources = _by_alias(search, trace)
    reader = reader_of(scorer, is_quoted=_is_quoted(trace))
    judge = VerbatimJudge() if _is_quoted(trace) else ScorerJudge(scorer)
    return _answer(asked, trace, sources, judge, reader, *published(retriever))


def replay_law_answer(answer: LawAnswer) -> LawAnswer:
    """Return the same answer, made again without a model, a search or a clock.

    Raises:
        RecordingError: this version goes another way than the one that made it.
        DamagedFileError: its words do not stand in its own articles.
    """
    said = [point for one in answer.conflicts for point in one.said]
    kept = [point.statement for point in (*answer.points, *said)]
    dropped = [point.statement for point in answer.dropped]
    require_sound_parts(answer.trace.passages, kept, dropped)
    asked = LawQuestion(answer.question, answer.as_of, answer.namespaces, answer.mode)
    trace = _profile(asked).replay(answer.trace)
    return _answer(
        asked, trace, dict(answer.sources), RecordedJudge((*kept, *dropped)), answer.reader,
        dict(answer.publications), dict(answer.build_ids),
    )  # fmt: skip


def _profile(asked: LawQuestion) -> Profile:
    return Profile(
        asked.question, asked.mode, PROMPT, law_tools, law_rules(), quote_articles, QUOTES_NAME,
        f"Wordings have to hold on {asked.as_of}.", (first_search(asked.question),),
    )  # fmt: skip


def _is_quoted(trace: Trace) -> bool:
    return trace.answered_by == QUOTES_NAME


def _by_alias(search: LawSearch, trace: Trace) -> dict[str, LawSource]:
    """Return what is known of each article, by alias; so is the one that it changes."""
    aliases = {passage.citation_id: alias for alias, passage in trace.passages.items()}
    found: dict[str, LawSource] = {}
    for alias, passage in trace.passages.items():
        source = search.sources[passage.chunk_key]
        changed = aliases.get(source.change_of or "")
        found[alias] = replace(source, alias=alias, change_of=changed)
    return found


def _require_printed(retriever: "Retriever", trace: Trace) -> None:
    """Hold every article against the parse that it was cut from.

    Raises:
        DamagedFileError: one is not what stands there.
    """
    readers = {reader.namespace: reader for reader in retriever.readers}
    texts: dict[tuple[str, str], str] = {}
    for passage in trace.passages.values():
        key = passage.namespace, passage.doc_uid
        if key not in texts:
            (row,) = readers[key[0]].fetch_documents([key[1]]).to_pylist()
            parse = retriever.workspace.root / "data" / row["content_ref"]
            texts[key] = read_parsed(parse)[0].text
        if texts[key][passage.char_start : passage.char_end] != passage.text:
            raise DamagedFileError(
                f"{passage.citation_id} differs from {passage.doc_uid}. Run `rag ingest`."
            )


def _answer(
    asked: LawQuestion,
    trace: Trace,
    sources: Mapping[str, LawSource],
    judge: StatementJudge,
    reader: AnswerReader,
    publications: dict[str, str],
    build_ids: dict[str, str],
) -> LawAnswer:
    is_quoted = _is_quoted(trace)
    checked = check_law(
        trace.result, sources, trace.passages, judge, asked.as_of, is_quoted=is_quoted
    )
    words_found = _share_of_words(asked.question, trace)
    decided = (
        asdict(asked), dict(trace.policy), asdict(trace.limits), reader.fingerprint, publications
    )  # fmt: skip
    versions = (LAW_ANSWERING_VERSION, CHECKING_VERSION, LAW_CHECKING_VERSION)
    answer = LawAnswer(
        answer_id=hash_fields(*versions, *decided)[:16],
        layout=LAYOUT_VERSION,
        question=asked.question,
        as_of=asked.as_of,
        mode=asked.mode,
        is_quoted=is_quoted,
        points=checked.points,
        conflicts=checked.conflicts,
        dropped=checked.dropped,
        words_found=words_found,
        notices=(),
        sources=sources,
        reader=reader,
        namespaces=asked.namespaces,
        publications=publications,
        build_ids=build_ids,
        trace=trace,
    )
    told = law_notices(
        asked.question, asked.as_of, trace, checked, sources.values(), answer.cited, reader,
        is_quoted=is_quoted,
    )  # fmt: skip
    return replace(answer, notices=told)


def _share_of_words(question: str, trace: Trace) -> float | None:
    """Return the share of a question's content words that passages in its language hold."""
    chinese = is_chinese(question)
    own = [one.text for one in trace.passages.values() if is_chinese(one.text) == chinese]
    return round(coverage(question, "\n".join(own)), 6) if own else None


LAW_STEM = "law_answer"


@dataclass(frozen=True, slots=True)
class LawOutcome:
    """An answer and its path. `is_new` is False where the same one stood there already."""

    answer: LawAnswer = field(repr=False)
    markdown: Path
    json: Path
    is_new: bool


def ask_statutes(
    asked: Asked,
    question: str,
    as_of: date,
    *,
    clock: Callable[[], float] = time.monotonic,
    namespaces: Sequence[str] = (),
    mode: Mode = "agent",
    policy: PolicyChoice | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
    watch: Watch = unwatched,
) -> LawOutcome:
    """Answer a question by the statutes of a workspace as `rag ask --law` does; store the answer.

    Args:
        asked: a workspace, or a library that is open already.
        as_of: the day on which wordings have to hold.
        clock: seconds from any beginning.
        namespaces: that are searched; all without.
        mode: `single` searches once; always so with `answer.agentic: false`.
        policy: who searches and writes; None for `answer.policy`.
        notify: is told what a person should know while it works.
        watch: is told each search and each call of the model, before it is made.

    Raises:
        UsageError: no text, an unknown namespace, none that holds a statute.
        PublicationError: none of the namespaces has a publication.
        ConfigurationError: a model is wanted and none is named, or it cannot be opened.
    """
    workspace = workspace_of(asked)
    settings = workspace.settings.answer
    limits = limits_of(settings)
    budget = Budget(limits.tokens, limits.seconds, clock=clock)
    model, why_not = open_answering_model(workspace, policy or settings.policy, budget, watch)
    for sentence in say(question, why_not):
        notify(sentence)
    chosen: Mode = mode if settings.agentic else "single"
    with Retriever(asked, namespaces) as retriever:
        answer = answer_statutes(
            retriever, LawQuestion(question, str(as_of), tuple(namespaces), chosen),
            limits, model=model, scorer=open_answer_scorer(workspace, budget, watch), clock=clock,
            budget=budget, watch=watch,
        )  # fmt: skip
    texts = {".md": render_law_answer(answer), ".json": write_law_answer(answer)}
    what = f"answer about law to '{question}'"
    return LawOutcome(answer, *store_answer(workspace, LAW_STEM, texts, what, notify))
