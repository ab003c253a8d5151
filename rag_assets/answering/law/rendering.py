"""An answer about law as Markdown, its notices, and what a page calls its parts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rag_assets.answering.agents import Trace
from rag_assets.answering.law.checking import CheckedLaw
from rag_assets.answering.law.record import LawAnswer, LawConflict, LawPoint, LawSource, Precedence
from rag_assets.answering.law.tools import SURELY_LIKELY
from rag_assets.answering.record import AnswerReader
from rag_assets.answering.rendering import (
    Notice,
    answer_words,
    reader_notices,
    render_step,
    run_notices,
    say,
)
from rag_assets.law import mark_name
from rag_assets.law.versions import Standing
from rag_assets.model import block_quote, code_span, escape_inline, escape_prose, is_chinese


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language; the level `unknown` is that of a rank that is not known.

    Args:
        precedence: sentences with `first`, which prevails, and `second`.
        wording: what stands behind the standing; `unstated` where no text says since when.
    """

    answer: str
    articles: str
    as_of: str
    applicable: str
    points: str
    exception: str
    conflicts: str
    dropped: str
    steps: str
    levels: Mapping[str, str]
    standings: Mapping[Standing, str]
    precedence: Mapping[Precedence, str]
    wording: str
    unknown_day: str
    unstated: str

    def standing(self, source: LawSource, as_of: str) -> str:
        """Return how the wording of an article stands on a day."""
        told = self.standings[source.standing].format(day=as_of)
        day = source.version_date or self.unknown_day
        since = "" if source.is_stated else self.unstated
        by = f"; {source.repealed_by}" if source.repealed_by else ""
        return told + self.wording.format(day=day) + since + by


def words_for(question: str) -> Words:
    """Return the words for the language of a question."""
    values = answer_words()["law"]["zh" if is_chinese(question) else "en"]
    return Words(**values)


def show_source(source: LawSource, as_of: str, words: Words) -> str:
    """Return the citation of an article with its rank and standing."""
    level = words.levels[source.level or "unknown"]
    return f"{source.citation} ({level}, {words.standing(source, as_of)})"


def law_notices(
    question: str,
    as_of: str,
    trace: Trace,
    checked: CheckedLaw,
    sources: Iterable[LawSource],
    cited: tuple[LawSource, ...],
    reader: AnswerReader,
    *,
    is_quoted: bool,
) -> tuple[str, ...]:
    """Return the notices of an answer, the most important first.

    Args:
        sources: all articles that were found.
        cited: articles of points and conflicts.
        is_quoted: no model wrote the points.
    """
    said = _notices(as_of, trace, checked, sources, cited, reader, is_quoted=is_quoted)
    return say(question, said)


def _notices(
    as_of: str,
    trace: Trace,
    checked: CheckedLaw,
    sources: Iterable[LawSource],
    cited: tuple[LawSource, ...],
    reader: AnswerReader,
    *,
    is_quoted: bool,
) -> Iterator[Notice]:
    if not checked.points and trace.result["points"]:
        yield "law_nothing_kept", {}
    elif not checked.points:
        yield "law_not_found", {}
    elif is_quoted:
        first = trace.passages[checked.points[0].statement.citations[0]]
        yield "law_no_model" if first.score >= SURELY_LIKELY else "law_unsure", {}
    if len(checked.conflicts) == 1:
        yield "law_one_conflict", {}
    elif checked.conflicts:
        yield "law_conflicts", {"count": len(checked.conflicts)}
    repealed = {one.law: None for one in sources if one.repealed_by and one not in cited}
    if repealed:
        yield "law_repealed", {"laws": ", ".join(map(mark_name, repealed))}
    unknown = sum(one.standing == "unknown" for one in cited)
    if unknown:
        yield "law_unknown", {"count": unknown, "day": as_of}
    yield from run_notices(trace)
    if not is_quoted:
        yield from reader_notices(trace, reader)


def render_law_answer(answer: LawAnswer) -> str:
    """Return an answer as Markdown; a function of the answer alone."""
    words = words_for(answer.question)
    parts = [
        *_head(answer, words),
        *_points(answer, words),
        *_articles(answer, words),
        *_conflicts(answer, words),
        *_dropped(answer, words),
        *_steps(answer, words),
    ]
    return "\n".join(parts) + "\n"


def _head(answer: LawAnswer, words: Words) -> Iterator[str]:
    kind = words.articles if answer.is_quoted else words.answer
    yield f"# {kind}: {_line(answer.question)}"
    yield ""
    yield escape_prose(words.as_of.format(day=answer.as_of))
    yield ""
    for notice in answer.notices:
        yield f"**{escape_prose(notice)}**"
        yield ""
    if len(answer.levels) > 1:
        yield escape_prose(show_ranks(answer, words))
        yield ""


def show_ranks(answer: LawAnswer, words: Words) -> str:
    """Return the ranks of the articles that an answer cites, and which of them prevails."""
    levels = " > ".join(words.levels[level or "unknown"] for level in answer.levels)
    return words.applicable.format(levels=levels)


def _points(answer: LawAnswer, words: Words) -> Iterator[str]:
    if answer.is_quoted or not answer.points:
        return
    yield f"## {words.points}"
    yield ""
    for place, point in enumerate(answer.points, start=1):
        yield f"{place}. {_line(point.statement.text)} {_cites(point)}"
        for told in point.exceptions:
            yield f"   - {words.exception}: {_line(told)}"
    yield ""


def _conflicts(answer: LawAnswer, words: Words) -> Iterator[str]:
    if not answer.conflicts:
        return
    yield f"## {words.conflicts}"
    yield ""
    for one in answer.conflicts:
        yield f"- {_line(tell_conflict(answer, one, words))}"
        for point in one.said:
            yield f"   - {_line(point.statement.text)} {_cites(point)}"
        yield ""
        for alias in answer.only_beside(one):
            yield block_quote(answer.trace.passages[alias].text.strip())
            yield ""


def tell_conflict(answer: LawAnswer, one: LawConflict, words: Words) -> str:
    """Return which of two provisions prevails, and why."""
    first, second = answer.sources[one.prevails], answer.sources[one.yields]
    return words.precedence[one.by].format(
        first=show_source(first, answer.as_of, words),
        second=show_source(second, answer.as_of, words),
    )


def _articles(answer: LawAnswer, words: Words) -> Iterator[str]:
    """Yield every article that is cited, whole, in the order of the answer."""
    if not answer.cited:
        return
    yield f"## {words.articles}"
    yield ""
    for place, source in enumerate(answer.cited, start=1):
        yield f"{place}. {code_span(source.citation)}, {_line(show_rank(source, answer, words))}"
        yield ""
        yield block_quote(answer.trace.passages[source.alias].text.strip())
        yield ""


def show_rank(source: LawSource, answer: LawAnswer, words: Words) -> str:
    """Return the rank of an article and how its wording stands on the day of an answer."""
    return f"{words.levels[source.level or 'unknown']}; {words.standing(source, answer.as_of)}"


def _dropped(answer: LawAnswer, words: Words) -> Iterator[str]:
    if not answer.dropped:
        return
    yield f"## {words.dropped}"
    yield ""
    for point in answer.dropped:
        cited = f" {_cites(point)}" if point.citations else ""
        yield f"- {_line(point.statement.text)}{cited}: {escape_prose(point.statement.reason)}"
    yield ""


def _steps(answer: LawAnswer, words: Words) -> Iterator[str]:
    yield f"## {words.steps}"
    yield ""
    for step in answer.trace.steps:
        yield from render_step(step, hides=("points", "conflicts"))
    yield ""
    trace = answer.trace
    yield f"- Answer: {code_span(answer.answer_id)}, by {_line(trace.answered_by)}"
    yield f"- Statements checked by: {_line(answer.reader.name)}"
    yield f"- Model calls: {trace.calls}; tokens: {trace.tokens}; ended by: {trace.ended_by}"
    for namespace, publication in answer.publications.items():
        build = code_span(answer.build_ids[namespace])
        yield f"- Publication: {code_span(f'{namespace}/{publication}')} (build {build})"


def _cites(point: LawPoint) -> str:
    return " ".join(code_span(one) for one in point.citations)


def _line(text: str) -> str:
    return escape_inline(" ".join(text.split()))
