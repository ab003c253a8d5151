"""Sentences of an answer held against the passages that they cite."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import ConfigDict

from rag_assets.answering.agents.trace import Passage, drop_last_marks, drop_marks, find_marks
from rag_assets.chunking import split_sentences
from rag_assets.evidence.locating import locate
from rag_assets.judging import (
    Judgement,
    PassageText,
    ReasonCode,
    Scorer,
    find_frame,
    hold_to_source,
)
from rag_assets.judging.statement import frames, state
from rag_assets.model import HAN_RANGES, RecordingError, hash_fields

if TYPE_CHECKING:
    from rag_assets.auditing.deciding import PassagePart
    from rag_assets.judging import Frame

_TOKEN = re.compile(rf"\d+|[^\W\d_{HAN_RANGES}]+")
_HAN_NAME = re.compile(
    rf"([{HAN_RANGES}·]{{2,8}}?)(?:等人?)?\s*[(（,，]\s*(?:1[89]|20)\d\d|《([^》]{{2,60}})》"
)
# What frames begin with that is no name; the words of the lexicon come to them.
_ORDINARY = frozenset(
    {
        "a", "according", "al", "all", "an", "and", "appendix", "article", "as", "both", "by",
        "chapter", "et", "fig", "figure", "following", "for", "from", "he", "her", "his", "in",
        "it", "its", "new", "no", "of", "on", "other", "our", "page", "pages", "pp", "section",
        "see", "she", "some", "such", "table", "that", "the", "their", "these", "they", "this",
        "those", "to", "under", "we", "when", "where", "while", "with", "within",
    }
)  # fmt: skip


def unknown_credits(claim: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the names and numbers that a sentence credits and its passages do not have, in order.

    Looked at is only what `state` takes off the statement; what stays is for a reader to judge. A
    passage has the words of its text, headings and title, its authors, its year and its uid.

    Args:
        claim: a sentence of an answer, without its citations.
        passages: that it cites.
    """
    stated = state(claim)
    if stated == claim:
        return ()
    told = " ".join(map(_told, passages)).casefold()
    known = set(_TOKEN.findall(told))
    kept = Counter(token.casefold() for token in _TOKEN.findall(stated))
    credited: list[str] = []
    # Frames stand at the beginning: of a word said twice the last is the statement's.
    for token in reversed(_TOKEN.findall(claim)):
        key = token.casefold()
        if kept[key]:
            kept[key] -= 1
        elif key not in known and (key.isdigit() or _is_name(token)):
            credited.insert(0, token)
    for found in _HAN_NAME.finditer(claim):
        name = found[1] or found[2]
        if name not in stated and name.casefold() not in told:
            credited.append(name)
    return tuple(dict.fromkeys(credited))


def _is_name(token: str) -> bool:
    return token[:1].isupper() and token.casefold() not in _frame_words()


@cache
def _frame_words() -> frozenset[str]:
    words = frames()
    said = (
        *words.verbs_en, *words.verbs_alone_en, *words.sources_en, *words.before_sources_en,
        *words.connectives_en,
    )  # fmt: skip
    return _ORDINARY | {token.casefold() for text in said for token in _TOKEN.findall(text)}


def _told(passage: Passage) -> str:
    return " ".join(
        (
            passage.text, passage.title or "", *passage.section_path, *passage.authors,
            str(passage.year or ""), passage.doc_uid,
        )
    )  # fmt: skip


# Counts as code: raise it when the same answer over the same passages comes to another list.
CHECKING_VERSION = 2
_STRICT = ConfigDict(extra="forbid")
# A citation behind the full stop belongs to the sentence that ends there.
_BEHIND_STOP = re.compile(
    r"(?P<stop>[.!?…。！？]+[\"'”’»」』）)]*)(?P<marks>(?:\s*[\[【]\s*C\d+[^\[\]【】]*[\]】])+)"
)
# What a line begins with that is layout: a list's mark, a heading's, a quotation's.
_LAYOUT = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+|>\s*)+", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)

StatementCode = (
    Literal[
        "no_citation", "unknown_alias", "wrong_credit", "states_nothing",
        "not_in_force", "drops_exception", "wrong_clause", "wrong_precedence",
    ]
    | ReasonCode
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CitedQuote:
    """The words of a cited passage that decide.

    Args:
        text: verbatim.
        char_start: in the document's clean text; half-open.
        place: as it is shown.
        content_hash: SHA-256 of the whole passage.
        check: what the words were compared with beside the passage: the printed lines, or the
            clean text; None where nobody did.
    """

    alias: str
    namespace: str
    doc_uid: str
    title: str | None
    chunk_id: str
    citation_id: str
    content_hash: str
    text: str
    char_start: int
    char_end: int
    place: str
    check: Literal["printed", "clean_text"] | None = None

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A sentence of an answer and what became of it.

    Args:
        number: in the answer, from 1.
        text: as it was written, without its citations.
        citations: aliases, as it cites them.
        reason_code: `supported`, or why not.
        score: of the reader; None where nothing was read.
        quote: the words that support it, or that come nearest; None where nothing was read.
        note: what could not be looked at as it should.
    """

    number: int
    text: str
    citations: tuple[str, ...]
    reason_code: StatementCode
    reason: str
    score: float | None = None
    quote: CitedQuote | None = None
    note: str | None = None

    __pydantic_config__ = _STRICT

    @property
    def is_supported(self) -> bool:
        """Whether it may be said."""
        return self.reason_code == "supported"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer with the passages that it cites, all of them known."""

    number: int
    text: str
    citations: tuple[str, ...]
    passages: tuple[Passage, ...]


class StatementJudge(Protocol):
    """Decides about sentences that cite known passages."""

    def judge(self, claims: Sequence[Claim]) -> list[CheckedStatement]:
        """Return what becomes of each claim, in order."""
        ...


def check_statements(
    answer: str, passages: Mapping[str, Passage], judge: StatementJudge, *, by_line: bool = False
) -> tuple[CheckedStatement, ...]:
    """Return the sentences of an answer with what became of each, in order.

    Args:
        answer: sentences that cite as `[C1]`.
        passages: what was found, by alias.
        judge: reads those that cite known passages.
        by_line: a line is a statement as it stands: of answers that rules made of quotes.
    """
    divided = enumerate(_divided(answer, by_line=by_line), start=1)
    sentences = [(number, text, cited) for number, (text, cited) in divided]
    return check_sentences(sentences, passages, judge, is_quoted=by_line)


def check_sentences(
    sentences: Iterable[tuple[int, str, Sequence[str]]],
    passages: Mapping[str, Passage],
    judge: StatementJudge,
    *,
    is_quoted: bool,
) -> tuple[CheckedStatement, ...]:
    """Return what became of sentences that were divided before, in order.

    Args:
        sentences: number, text without citations, aliases that it cites.
        passages: what was found, by alias.
        judge: reads those that cite known passages.
        is_quoted: they are words of the passages; whom they credit is not looked at.
    """
    refused: dict[int, CheckedStatement] = {}
    claims: list[Claim] = []
    for number, text, named in sentences:
        cited = tuple(named)
        unknown = [alias for alias in cited if alias not in passages]
        found = tuple(passages[alias] for alias in cited if alias in passages)
        if not cited:
            reason = "It cites nothing, so that nobody can look it up."
            refused[number] = CheckedStatement(number, text, cited, "no_citation", reason)
        elif unknown:
            reason = f"It cites {', '.join(unknown)}, which is not among the passages found."
            refused[number] = CheckedStatement(number, text, cited, "unknown_alias", reason)
        elif credited := () if is_quoted else unknown_credits(text, found):
            reason = f"It credits {', '.join(credited)}, whom the passages cited do not name."
            refused[number] = CheckedStatement(number, text, cited, "wrong_credit", reason)
        else:
            claims.append(Claim(number, text, cited, found))
    judged = {one.number: one for one in judge.judge(claims)}
    return tuple(one for _, one in sorted({**refused, **judged}.items()))


def _divided(answer: str, *, by_line: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not by_line:
        yield from read_statements(answer)
        return
    for line in filter(None, map(str.strip, answer.split("\n"))):
        yield drop_last_marks(line)


def read_statements(answer: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sentences of an answer without layout, each with the aliases that it cites.

    A mark behind a full stop belongs to the sentence before it. Lines are sentences of their own
    where the answer lays them out so; what has no letter and no digit is none.
    """
    plain = _EMPHASIS.sub(r"\2", _LAYOUT.sub("", answer.replace("\r\n", "\n")))
    moved = _BEHIND_STOP.sub(lambda found: f"{found['marks']}{found['stop']}", plain)
    for line in moved.split("\n"):
        for start, end in split_sentences(line):
            sentence = line[start:end]
            said = " ".join(drop_marks(sentence).split())
            if any(map(str.isalnum, said)):
                yield said, find_marks(sentence)


class ScorerJudge:
    """Asks a scorer of citations, as an audit of a draft does: few sentences that decide, read.

    Args:
        scorer: of `rag_assets.judging`.
    """

    def __init__(self, scorer: Scorer) -> None:
        from rag_assets.retrieval.finding import MOST_WINDOWS, EvidenceFinder

        self._scorer = scorer
        self._finder = EvidenceFinder()
        self._most = MOST_WINDOWS

    def judge(self, claims: Sequence[Claim]) -> list[CheckedStatement]:
        """Return what becomes of each claim: OK is supported, anything less is not."""
        shown = [self._show(claim) for claim in claims]
        asked = [
            (claim.text, [text for text, _ in own])
            for claim, own in zip(claims, shown, strict=True)
            if own
        ]
        judgements = iter(self._scorer.judge(asked))
        return [
            self._checked(claim, own, self._held(claim, own, next(judgements)))
            if own
            else _silent(claim)
            for claim, own in zip(claims, shown, strict=True)
        ]

    def _held(
        self, claim: Claim, shown: "Sequence[tuple[PassageText, _Place]]", judgement: Judgement
    ) -> Judgement:
        texts = [text for text, _ in shown]
        limits = self._scorer.thresholds
        return hold_to_source(judgement, limits, _frame_of(claim), claim.text, texts)

    def _show(self, claim: Claim) -> "list[tuple[PassageText, _Place]]":
        """Return the windows of the cited passages that likeliest decide, with their places."""
        from rag_assets.auditing.deciding import Shown

        found: list[tuple[PassageText, _Place]] = []
        documents = list(dict.fromkeys((p.namespace, p.doc_uid) for p in claim.passages))
        most = max(1, self._most // len(documents))
        for key in documents:
            own = sorted(
                (
                    index
                    for index, p in enumerate(claim.passages)
                    if (p.namespace, p.doc_uid) == key
                ),
                key=lambda index: claim.passages[index].char_start,
            )
            parts = _parts(claim, own)
            title = claim.passages[own[0]].title
            windows = self._finder.open(parts, title).find(claim.text, most)
            shown = [Shown(window, parts) for window in windows]
            found += [(each.as_passage(title), each) for each in shown]
        return found

    def _checked(
        self,
        claim: Claim,
        shown: "Sequence[tuple[PassageText, _Place]]",
        judgement: Judgement,
    ) -> CheckedStatement:
        index, start, end = shown[judgement.passage][1].place_of(judgement.span)
        code = judgement.reason_code
        if judgement.status != "OK" and code == "supported":
            raise AssertionError(f"scorer {self._scorer.name} says supported and is not OK")
        quote = _quote(claim.citations[index], claim.passages[index], start, end)
        return CheckedStatement(
            claim.number, claim.text, claim.citations, code, judgement.reason, judgement.score,
            quote, judgement.note,
        )  # fmt: skip


class _Place(Protocol):
    def place_of(self, span: tuple[int, int]) -> tuple[int, int, int]: ...


class VerbatimJudge:
    """Keeps what stands in the passage word for word; reads nothing."""

    name = "word for word"
    fingerprint = hash_fields("verbatim", CHECKING_VERSION)

    def judge(self, claims: Sequence[Claim]) -> list[CheckedStatement]:
        """Return what becomes of each claim."""
        return [self._judge(claim) for claim in claims]

    def _judge(self, claim: Claim) -> CheckedStatement:
        frame = _frame_of(claim)
        for place, alias in enumerate(claim.citations):
            span = _stands_at(claim, place)
            if span is None:
                continue
            quote = _quote(alias, claim.passages[place], *span)
            if frame is not None:
                return CheckedStatement(
                    claim.number, claim.text, claim.citations, "framed",
                    f"It stands there, but {frame.told[0].lower()}{frame.told[1:]}", 0.0, quote,
                )  # fmt: skip
            return CheckedStatement(
                claim.number, claim.text, claim.citations, "supported",
                "It is there word for word.", 1.0, quote,
            )  # fmt: skip
        return CheckedStatement(
            claim.number, claim.text, claim.citations, "not_found",
            "It is not there word for word.", 0.0,
        )  # fmt: skip


def _stands_at(claim: Claim, place: int) -> tuple[int, int] | None:
    """Return where a claim is in a passage word for word, or as a row of a table is shown."""
    from rag_assets.retrieval.finding import read_sentences

    said = claim.text.split()
    found = re.search(r"\s+".join(map(re.escape, said)), claim.passages[place].text)
    if found is not None:
        return found.span()
    rows = (one for one in read_sentences(_parts(claim, [place])) if one.row.split() == said)
    return next((one.parts[0][1:] for one in rows), None)


class RecordedJudge:
    """Says of each sentence what was said of it before; asks nobody.

    Args:
        checked: as `check_statements` returned them.
    """

    def __init__(self, checked: Sequence[CheckedStatement]) -> None:
        self._checked = {(one.number, one.text, one.citations): one for one in checked}

    def judge(self, claims: Sequence[Claim]) -> list[CheckedStatement]:
        """Return the recorded statements.

        Raises:
            RecordingError: a sentence was not checked before.
        """
        missing = [one for one in claims if self._key(one) not in self._checked]
        if missing:
            raise RecordingError(
                f"the record has no verdict on “{missing[0].text}”: it was edited, or another "
                "version of rag-assets divided the answer otherwise. Ask the question again."
            )
        return [self._checked[self._key(one)] for one in claims]

    @staticmethod
    def _key(claim: Claim) -> tuple[int, str, tuple[str, ...]]:
        return claim.number, claim.text, claim.citations


def _parts(claim: Claim, indices: Sequence[int]) -> "tuple[PassagePart, ...]":
    from rag_assets.auditing.deciding import PassagePart

    return tuple(
        PassagePart(p.text, p.char_start, p.char_end, p.section_path, index, 0, p.context)
        for index, p in ((index, claim.passages[index]) for index in indices)
    )


def _frame_of(claim: Claim) -> "Frame | None":
    """Return how the passages that a claim cites frame its words, None where they assert them."""
    from rag_assets.retrieval.finding import read_sentences

    parts = _parts(claim, range(len(claim.passages)))
    return find_frame(claim.text, claim.text, read_sentences(parts), parts)


def _silent(claim: Claim) -> CheckedStatement:
    return CheckedStatement(
        claim.number, claim.text, claim.citations, "states_nothing",
        "The passages that it cites state nothing: headings or labels.",
    )  # fmt: skip


def _quote(alias: str, passage: Passage, start: int, end: int) -> CitedQuote:
    first, last = passage.char_start + start, passage.char_start + end
    place = locate(
        passage.page_start, passage.page_end, first, last, passage.section_path,
        labels=passage.page_labels, first_label=passage.page_start,
    )  # fmt: skip
    return CitedQuote(
        alias=alias,
        namespace=passage.namespace,
        doc_uid=passage.doc_uid,
        title=passage.title,
        chunk_id=passage.chunk_id,
        citation_id=passage.citation_id,
        content_hash=passage.content_hash,
        text=passage.text[start:end],
        char_start=first,
        char_end=last,
        place=place.text if place else "",
    )
