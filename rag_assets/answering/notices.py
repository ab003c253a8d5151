"""What the reader of an answer has to know, in the language of the question."""

from collections.abc import Iterable, Iterator

from rag_assets.agents import CheckedStatement, Trace
from rag_assets.answering.naming import unknown_sources
from rag_assets.answering.quotes import Match
from rag_assets.answering.record import AnswerReader
from rag_assets.answering.rules import QUOTES_NAME
from rag_assets.model import is_chinese

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
        "Nobody read the sentences against their passages: only those that stand there word for "
        "word are kept. `rag models add` brings a reader."
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
