"""An answer as Markdown, and what its reader has to know, in the language of the question."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from rag_assets.answering.agents import CheckedStatement, Passage, Step, Trace, show_marks
from rag_assets.answering.record import Answer, AnswerReader
from rag_assets.answering.rules import QUOTES_NAME, Match
from rag_assets.model import block_quote, code_span, escape_inline, escape_prose, is_chinese
from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

_ALIAS = re.compile(r"\[?(C\d+)\]?")
_CHUNKS = re.compile(r"(?P<uid>.+?):\s*(?:chunk_)?(?P<first>\d+)(?:\s*[-–]\s*(?P<last>\d+))?")


def show_chunks(uid: str, chunk_ids: Sequence[str]) -> str:
    """Return a document with the numbers of its passages; neighbours are a range."""
    numbers = sorted({int(chunk_id.rpartition(":")[2]) for chunk_id in chunk_ids})
    return f"{uid}: {', '.join(_ranges(numbers))}"


def unknown_sources(named: Sequence[str], passages: Mapping[str, Passage]) -> tuple[str, ...]:
    """Return the sources that an answer names and that are none of the passages found.

    Args:
        named: aliases, or documents with a passage or a range of them.
        passages: by alias.
    """
    found = {passage.chunk_id for passage in passages.values()}
    return tuple(name for name in named if not _is_known(name.strip(), passages, found))


def _is_known(name: str, passages: Mapping[str, Passage], found: set[str]) -> bool:
    alias = _ALIAS.fullmatch(name)
    if alias is not None:
        return alias[1] in passages
    chunks = _CHUNKS.fullmatch(name)
    if chunks is None:
        return False
    first, last = int(chunks["first"]), int(chunks["last"] or chunks["first"])
    wanted = {f"{chunks['uid']}:{number}" for number in (first, last)}
    return first <= last and wanted <= found


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    begin = end = numbers[0]
    for number in [*numbers[1:], None]:
        if number == end + 1:
            end = number
            continue
        yield str(begin) if begin == end else f"{begin}-{end}"
        if number is not None:
            begin = end = number


WORDS_FILE = "answer_words.yaml"
STEPS_HEADING = "## How it was found"
Notice = tuple[str, dict[str, object]]
"""The name of a sentence of `WORDS_FILE`, and the values that stand in it."""


@cache
def answer_words() -> dict[str, Any]:
    """Return the sentences and words of answers, in English and in Chinese."""
    found: dict[str, Any] = read_yaml(configs_folder() / WORDS_FILE, WORDS_FILE)
    return found


def notices_of(
    question: str,
    trace: Trace,
    statements: tuple[CheckedStatement, ...],
    match: Match,
    reader: AnswerReader,
    *,
    is_quoted: bool,
) -> tuple[str, ...]:
    """Return the notices of an answer, the most important first.

    Args:
        statements: those that are kept.
        is_quoted: no model wrote the sentences.
    """
    return say(question, _notices(trace, statements, match, reader, is_quoted=is_quoted))


def say(question: str, notices: Iterable[Notice]) -> tuple[str, ...]:
    """Return notices in the language of a question."""
    chinese, texts = is_chinese(question), answer_words()["notices"]
    return tuple(texts[name][chinese].format(**values) for name, values in notices)


def _notices(
    trace: Trace,
    statements: tuple[CheckedStatement, ...],
    match: Match,
    reader: AnswerReader,
    *,
    is_quoted: bool,
) -> Iterator[Notice]:
    is_struck = trace.answered_by != QUOTES_NAME and bool(trace.result["answer"].strip())
    if not statements or (is_quoted and not match.is_good):
        yield "not_found", {}
    if is_struck and (is_quoted or not statements):
        yield "nothing_kept", {}
    if is_quoted and statements:
        yield "no_model", {}
    yield from run_notices(trace)
    if not is_quoted:
        unknown = unknown_sources(trace.result["sources"], trace.passages)
        if unknown:
            yield "unknown_sources", {"names": ", ".join(unknown)}
        yield from reader_notices(trace, reader)


def run_notices(trace: Trace) -> Iterator[Notice]:
    """Yield what to say of how a run ended."""
    if trace.ended_by != "finish":
        yield "ended", {"limit": trace.ended_by}
    for why in trace.notes:
        yield "fell_back", {"why": why}


def reader_notices(trace: Trace, reader: AnswerReader) -> Iterator[Notice]:
    """Yield what to say of who read the sentences that a model wrote."""
    if not reader.reads:
        yield "unread", {}
    elif reader.name == str(trace.policy["name"]):
        yield "same_model", {}


def render_answer(answer: Answer) -> str:
    """Return an answer as Markdown; a function of the answer alone."""
    said = [*_head(answer), *_said(answer), *_notes(answer), *_unsupported(answer)]
    parts = [*said, *_steps(answer), *_foot(answer)]
    return "\n".join(parts) + "\n"


def _head(answer: Answer) -> Iterator[str]:
    yield f"# {_line(answer.question)}"
    yield ""
    if not answer.is_found:
        yield f"**{escape_prose(answer.notices[0])}**"
        yield ""
        yield from [f"**{word_of(answer.question, 'nearest')}**", ""] if answer.statements else ()


def _notes(answer: Answer) -> Iterator[str]:
    for notice in answer.notices[not answer.is_found :]:
        yield f"*{escape_prose(notice)}*"
        yield ""


def word_of(question: str, name: str) -> str:
    """Return a heading of answers in the language of a question."""
    return say(question, [(name, {})])[0]


def _said(answer: Answer) -> Iterator[str]:
    """Yield what is kept: quotes one by one; sentences as a text, then what each rests on."""
    if not answer.statements:
        return
    if not answer.is_quoted:
        yield " ".join(
            f"{escape_prose(one.text)} {show_marks(one.citations)}" for one in answer.statements
        )
        yield ""
        yield "## What each sentence rests on"
        yield ""
    for place, one in enumerate(answer.statements, start=1):
        if answer.is_quoted:
            yield from _quote(one, one.text)
        else:
            yield f"{place}. {_line(one.text)}"
            yield ""
            yield from _quote(one)


def _quote(one: CheckedStatement, shown: str = "") -> Iterator[str]:
    quote = one.quote
    if quote is None:
        raise ValueError(f"statement {one.number} is kept and has no quote")
    yield block_quote(" ".join((shown or quote.text).split()))
    yield ""
    where = f"{quote.title or quote.doc_uid}, {quote.place}"
    checked = {"printed": "as printed", "clean_text": "as in the text", None: "unchecked"}
    cite = code_span(f"{{#{quote.doc_uid}}}")
    yield (
        f"{show_marks([quote.alias])} {_line(where)}; cite as {cite}; {checked[quote.check]}; "
        f"{code_span(quote.citation_id)}"
    )
    yield ""


def _unsupported(answer: Answer) -> Iterator[str]:
    if not answer.unsupported:
        return
    yield "## Not supported by what was found"
    yield ""
    yield "These sentences were written and are not part of the answer."
    yield ""
    for one in answer.unsupported:
        marks = f" {show_marks(one.citations)}" if one.citations else ""
        yield f"- {_line(one.text)}{marks}: {escape_prose(one.reason)}"
        if one.quote is not None:
            yield f"  Nearest: “{_line(one.quote.text)}” ({_line(one.quote.place)})."
    yield ""


def _steps(answer: Answer) -> Iterator[str]:
    yield STEPS_HEADING
    yield ""
    route = answer.route
    shown = code_span(json.dumps(route.to_json(), ensure_ascii=False))
    yield f"- Route: {shown} by {_line(route.origin)}"
    for told in route.told:
        yield f"- Route: {escape_prose(told)}"
    for step in answer.trace.steps:
        yield from render_step(step, hides=("answer",))
    yield ""


def render_step(step: Step, *, hides: Collection[str]) -> Iterator[str]:
    """Yield the lines of a step.

    Args:
        hides: arguments of the last one that are shown elsewhere.
    """
    if step.action is None:
        why = escape_prose(step.note or "")
        yield f"{step.number}. {_line(step.by)} came to no decision: {why}"
        return
    given = dict(step.arguments or {})
    if step.observation is None:
        given = {key: value for key, value in given.items() if key not in hides}
    arguments = ", ".join(f"{key}={json.dumps(v, ensure_ascii=False)}" for key, v in given.items())
    thought = f"{_line(step.thought)} " if step.thought else ""
    yield f"{step.number}. {thought}{code_span(f'{step.action}({arguments})')}"
    if step.observation is None:
        return
    if step.observation.error is not None:
        yield f"   - Error: {escape_prose(step.observation.error)}"
    for line in step.observation.lines:
        mark = f"{show_marks([line.alias])} " if line.alias else ""
        yield f"   - {mark}{_line(line.label)}"
    for note in step.observation.notes:
        yield f"   - {escape_prose(note)}"


def _foot(answer: Answer) -> Iterator[str]:
    trace = answer.trace
    yield f"- Answer: {code_span(answer.answer_id)}, by {_line(trace.answered_by)}"
    yield f"- Sentences checked by: {_line(answer.reader.name)}"
    yield f"- Model calls: {trace.calls}; tokens: {trace.tokens}; ended by: {trace.ended_by}"
    for namespace, publication in answer.publications.items():
        build = code_span(answer.build_ids[namespace])
        yield f"- Publication: {code_span(f'{namespace}/{publication}')} (build {build})"
    for source in answer.sources:
        title = _line(source.title or source.doc_uid)
        yield f"- Source: {title}, {code_span(source.chunks)}"


def _line(text: str) -> str:
    return escape_inline(" ".join(text.split()))
