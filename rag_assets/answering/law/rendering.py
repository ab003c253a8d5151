"""An answer about law as Markdown, its notices, and what a page calls its parts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rag_assets.answering.agents import Trace
from rag_assets.answering.law.checking import CheckedLaw
from rag_assets.answering.law.record import LawAnswer, LawConflict, LawPoint, LawSource, Precedence
from rag_assets.answering.record import AnswerReader
from rag_assets.answering.rendering import Notice, reader_notices, render_step, run_notices, say
from rag_assets.law import mark_name
from rag_assets.law.metadata import LawLevel
from rag_assets.law.versions import Standing
from rag_assets.model import block_quote, code_span, escape_inline, escape_prose, is_chinese


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language.

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
    levels: Mapping[LawLevel | None, str]
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


_ENGLISH = Words(
    answer="Answer",
    articles="Articles",
    as_of="Wordings have to hold on {day}.",
    applicable="Ranks, the highest first",
    points="Points",
    exception="The article excepts",
    conflicts="Provisions that read otherwise, and other wordings of the same law",
    dropped="Dropped: not supported by an article in force that it cites",
    steps="How it was found",
    levels={
        LawLevel.CONSTITUTION: "constitution",
        LawLevel.LAW: "law",
        LawLevel.ADMINISTRATIVE: "administrative regulation",
        LawLevel.INTERPRETATION: "judicial interpretation",
        LawLevel.LOCAL: "local regulation",
        LawLevel.DEPARTMENT: "department rule",
        None: "rank not known",
    },
    standings={
        "in_force": "in force on {day}",
        "not_yet_in_force": "NOT YET IN FORCE on {day}",
        "superseded": "SUPERSEDED on {day}",
        "repealed": "REPEALED on {day}",
        "unknown": "standing UNKNOWN on {day}",
    },
    precedence={
        "wording": "{first} is another wording of {second}; the first holds.",
        "rank": "{first} prevails over {second}: the higher rank.",
        "date": "{first} prevails over {second}: of one rank, the newer. A special provision may "
        "prevail over a general one; that was not looked at.",
        "undecided": "{first} and {second}: neither rank nor day says which prevails.",
    },
    wording=", wording of {day}",
    unknown_day="a day that is not known",
    unstated="; the text does not say since when it holds",
)
_CHINESE = Words(
    answer="回答",
    articles="法条全文",
    as_of="以{day}有效的文本为准。",
    applicable="效力层级（由高到低）",
    points="要点",
    exception="该条的例外规定",
    conflicts="不一致的规定与同一法律的其他文本",
    dropped="未采纳：所引现行法条不支持",
    steps="检索过程",
    levels={
        LawLevel.CONSTITUTION: "宪法",
        LawLevel.LAW: "法律",
        LawLevel.ADMINISTRATIVE: "行政法规",
        LawLevel.INTERPRETATION: "司法解释",
        LawLevel.LOCAL: "地方性法规",
        LawLevel.DEPARTMENT: "部门规章",
        None: "层级不明",
    },
    standings={
        "in_force": "{day}有效",
        "not_yet_in_force": "【{day}尚未施行】",
        "superseded": "【{day}已被新文本取代】",
        "repealed": "【{day}已废止】",
        "unknown": "【{day}是否有效不明】",
    },
    precedence={
        "wording": "{second}是同一法律的另一文本，与{first}不同；以后者为准。",
        "rank": "{first}优先于{second}：层级较高。",
        "date": "{first}优先于{second}：层级相同，文本较新。特别规定可能优先于一般规定，"
        "此处未作判断。",
        "undecided": "{first}与{second}：依层级和日期均无法判断何者优先。",
    },
    wording="，{day}文本",
    unknown_day="日期不明的",
    unstated="；文本未写明自何时起施行",
)


def words_for(question: str) -> Words:
    """Return the words for the language of a question."""
    return _CHINESE if is_chinese(question) else _ENGLISH


def show_source(source: LawSource, as_of: str, words: Words) -> str:
    """Return the citation of an article with its rank and standing."""
    return f"{source.citation} ({words.levels[source.level]}, {words.standing(source, as_of)})"


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
