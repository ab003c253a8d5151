"""An answer about law as Markdown: points, conflicts, articles whole, what was dropped."""

from collections.abc import Iterator

from rag_assets.answering.law.record import LawAnswer, LawConflict, LawPoint, LawSource
from rag_assets.answering.law.wording import Words, show_source, words_for
from rag_assets.answering.rendering import render_step
from rag_assets.model import block_quote, code_span, escape_inline, escape_prose


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
    if answer.levels:
        levels = ", ".join(words.levels[level] for level in answer.levels)
        yield f"{words.applicable}: {levels}"
        yield ""


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
    """Yield every article that is cited, whole, the highest rank first, then the newest."""
    if not answer.cited:
        return
    yield f"## {words.articles}"
    yield ""
    for level in answer.levels:
        yield f"### {words.levels[level]}"
        yield ""
        for source in answer.cited:
            if source.level == level:
                yield from _article(answer, source, words)


def _article(answer: LawAnswer, source: LawSource, words: Words) -> Iterator[str]:
    yield block_quote(answer.trace.passages[source.alias].text.strip())
    yield ""
    yield f"{code_span(source.citation)}, {_line(words.standing(source, answer.as_of))}"
    yield ""


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
