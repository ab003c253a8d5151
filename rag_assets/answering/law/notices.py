"""What the reader of an answer about law has to know, in the language of the question."""

from collections.abc import Iterable, Iterator

from rag_assets.agents import Trace
from rag_assets.answering.law.checking import CheckedLaw
from rag_assets.answering.law.record import LawSource
from rag_assets.answering.notices import Notice, reader_notices, run_notices, say
from rag_assets.answering.record import AnswerReader
from rag_assets.law import mark_name

# Of the question's content words. Of 60 citizens' questions one lies below it; the weights that
# judge packs of papers tell nothing here.
LEAST_WORDS = 0.2
_NO_MODEL = (
    (
        "No language model wrote this. These are the articles that were found first, whole and "
        "word for word, and no advice."
    ),
    "这不是语言模型撰写的。以下是检索到的前几条法条，全文逐字引用，并非法律意见。",
)
_NOT_FOUND = (
    "No article was found that answers the question.",
    "没有找到能回答该问题的法条。",
)
_UNSURE = (
    (
        "It is not sure that these answer the question: they have few of its words. Read them as "
        "leads, and ask again in the words of a statute."
    ),
    "这些法条与问题用词相差较大，不一定能回答该问题；仅供参考，可换用法律用语再问。",
)
_NOTHING_KEPT = (
    (
        "No point of the answer is supported by an article in force that it cites, so that none "
        "is kept."
    ),
    "回答中没有一点得到其所引现行法条的支持，因此均未保留。",
)
_UNKNOWN = (
    "Of {count} of the articles cited it is not known whether they hold on {day}.",
    "所引法条中有{count}条无法确定在{day}是否有效。",
)
_CONFLICTS = (
    "{count} provisions read otherwise in another law or another wording; both are shown.",
    "有{count}处规定与其他法律或同一法律的其他文本不同，两者均已列出。",
)
_REPEALED = (
    "Left out, since another law repeals them: {laws}.",
    "以下法律已被其他法律废止，未予引用：{laws}。",
)
_ONE_CONFLICT = (
    "One provision reads otherwise in another law or another wording; both are shown.",
    "有一处规定与其他法律或同一法律的其他文本不同，两者均已列出。",
)


def law_notices(
    question: str,
    as_of: str,
    trace: Trace,
    checked: CheckedLaw,
    sources: Iterable[LawSource],
    cited: tuple[LawSource, ...],
    words_found: float | None,
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
    said = _notices(as_of, trace, checked, sources, cited, words_found, reader, is_quoted=is_quoted)
    return say(question, said)


def _notices(
    as_of: str,
    trace: Trace,
    checked: CheckedLaw,
    sources: Iterable[LawSource],
    cited: tuple[LawSource, ...],
    words_found: float | None,
    reader: AnswerReader,
    *,
    is_quoted: bool,
) -> Iterator[Notice]:
    if is_quoted:
        yield _NO_MODEL, {}
    if not checked.points and trace.result["points"]:
        yield _NOTHING_KEPT, {}
    elif not checked.points:
        yield _NOT_FOUND, {}
    elif is_quoted and words_found is not None and words_found < LEAST_WORDS:
        yield _UNSURE, {}
    if len(checked.conflicts) == 1:
        yield _ONE_CONFLICT, {}
    elif checked.conflicts:
        yield _CONFLICTS, {"count": len(checked.conflicts)}
    repealed = {one.law: None for one in sources if one.repealed_by and one not in cited}
    if repealed:
        yield _REPEALED, {"laws": ", ".join(map(mark_name, repealed))}
    unknown = sum(one.standing == "unknown" for one in cited)
    if unknown:
        yield _UNKNOWN, {"count": unknown, "day": as_of}
    yield from run_notices(trace)
    if not is_quoted:
        yield from reader_notices(trace, reader)
