"""An answer as Markdown, and what its reader has to know, in the language of the question."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rag_assets.answering.agents import CheckedStatement, Passage, Step, Trace, show_marks
from rag_assets.answering.record import Answer, AnswerReader
from rag_assets.answering.rules import QUOTES_NAME, Match
from rag_assets.model import block_quote, code_span, escape_inline, escape_prose, is_chinese

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


Notice = tuple[tuple[str, str], dict[str, object]]
"""A sentence in English and in Chinese, and the values that stand in it."""

_NO_MODEL = (
    (
        "No language model wrote this. These are sentences of the sources, word for word, and no "
        "written answer."
    ),
    "这不是语言模型撰写的。以下是来源中的原句，逐字引用，并非撰写的回答。",
)
_NOT_FOUND = (
    (
        "Not found after {count} search attempts: nothing in these sources seems to answer the "
        "question."
    ),
    "经过{count}次检索仍未找到：这些来源中似乎没有内容能回答该问题。",
)
_NEAREST = (
    "What follows are the nearest sentences; read them as leads.",
    "以下只是最接近的原句，仅供参考。",
)
_NOTHING_KEPT = (
    "No sentence of the answer is supported by what it cites, so that none is kept.",
    "回答中没有一句话得到其所引段落的支持，因此均未保留。",
)
_ENDED = (
    (
        "The search was ended at its limit of {limit}; the answer is made from what was found "
        "until then."
    ),
    "检索因达到上限（{limit}）而结束；回答仅依据此前找到的内容。",
)
_FELL_BACK = (
    "The language model could not be used, and rules went on without it: {why}",
    "语言模型无法使用，改由规则继续：{why}",
)
_UNREAD = (
    (
        "Nobody read the sentences against their passages: only those that are there word for word "
        "are kept. `rag models add` brings a reader."
    ),
    "没有模型核对这些句子：只保留与原文逐字一致的句子。`rag models add` 可安装一个核对模型。",
)
_UNKNOWN_SOURCES = (
    "The answer names sources that were not found: {names}.",
    "回答列出了并未找到的来源：{names}。",
)
_SAME_MODEL = (
    "The sentences were checked by the model that wrote them; `llm.roles.verify` names another.",
    "核对这些句子的正是撰写它们的模型；可用 `llm.roles.verify` 指定另一个模型。",
)


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
    chinese = is_chinese(question)
    return tuple(texts[chinese].format(**values) for texts, values in notices)


def _notices(
    trace: Trace,
    statements: tuple[CheckedStatement, ...],
    match: Match,
    reader: AnswerReader,
    *,
    is_quoted: bool,
) -> Iterator[Notice]:
    attempts = sum(step.action in {"search_abstracts", "search_by_section"} for step in trace.steps)
    is_struck = trace.answered_by != QUOTES_NAME and bool(trace.result["answer"].strip())
    if is_struck and (is_quoted or not statements):
        yield _NOTHING_KEPT, {}
    if is_quoted:
        yield _NO_MODEL, {}
    is_empty = not statements and not is_struck
    if is_empty or (is_quoted and not match.is_good):
        yield _NOT_FOUND, {"count": attempts}
        if statements:
            yield _NEAREST, {}
    yield from run_notices(trace)
    if not is_quoted:
        unknown = unknown_sources(trace.result["sources"], trace.passages)
        if unknown:
            yield _UNKNOWN_SOURCES, {"names": ", ".join(unknown)}
        yield from reader_notices(trace, reader)


def run_notices(trace: Trace) -> Iterator[Notice]:
    """Yield what to say of how a run ended."""
    if trace.ended_by != "finish":
        yield _ENDED, {"limit": trace.ended_by}
    for why in trace.notes:
        yield _FELL_BACK, {"why": why}


def reader_notices(trace: Trace, reader: AnswerReader) -> Iterator[Notice]:
    """Yield what to say of who read the sentences that a model wrote."""
    if not reader.reads:
        yield _UNREAD, {}
    elif reader.name == str(trace.policy["name"]):
        yield _SAME_MODEL, {}


def render_answer(answer: Answer) -> str:
    """Return an answer as Markdown; a function of the answer alone."""
    parts = [*_head(answer), *_said(answer), *_unsupported(answer), *_steps(answer), *_foot(answer)]
    return "\n".join(parts) + "\n"


def render_short(answer: Answer) -> str:
    """Return what is said and where it stands, what is not said, and what has to be known."""
    parts = [f"{escape_prose(notice)}\n" for notice in answer.notices]
    for place, one in enumerate(answer.statements, start=1):
        where = f"{one.quote.title or one.quote.doc_uid}, {one.quote.place}" if one.quote else ""
        parts.append(f"{place}. {_line(one.text)} {show_marks(one.citations)} ({_line(where)})")
    if answer.unsupported:
        parts.append("\nNot supported by what was found:\n")
        parts += [f"- {_line(one.text)}: {_line(one.reason)}" for one in answer.unsupported]
    return "\n".join(parts) + "\n"


def _head(answer: Answer) -> Iterator[str]:
    yield f"# {'Quotes' if answer.is_quoted else 'Answer'}: {_line(answer.question)}"
    yield ""
    for notice in answer.notices:
        yield f"**{escape_prose(notice)}**"
        yield ""


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
            yield from _quote(one)
        else:
            yield f"{place}. {_line(one.text)}"
            yield ""
            yield from _quote(one)


def _quote(one: CheckedStatement) -> Iterator[str]:
    quote = one.quote
    if quote is None:
        raise ValueError(f"statement {one.number} is kept and has no quote")
    yield block_quote(" ".join(quote.text.split()))
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
    yield "## How it was found"
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
