"""Whether words in quotation marks stand in the cited document as they are quoted."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from rag_assets.auditing.library import Passage
from rag_assets.auditing.misquoting import (
    NEGATION,
    changes_meaning,
    find_denial,
    find_exception,
    rest_of_sentence,
)
from rag_assets.auditing.printed import PrintedText, are_spaced_alike, read_letters
from rag_assets.auditing.segments import (
    REFERENCE_MARK,
    REPLACED_LETTERS,
    Segment,
    bare_words,
    cut_segments,
)
from rag_assets.evidence.wording import coverage
from rag_assets.model import CJK_RANGES, HAN, count_han

QuotationState = Literal["exact", "altered", "not_found", "other_language"]

_LETTER = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(
    rf"[{CJK_RANGES}]"
    r"|[-−–]?\d+(?:[.,\uff0e\uff0c]\d+)*"
    # A word that a line break cuts is one word.
    r"|[^\W\d_]+(?:['’][^\W\d_]+|[-\u2010\u00ad]\s*\n\s*[^\W\d_]+)*"
    r"|[^\w\s]|_"
)
_GRAM = 6
_HAN_GRAM = 3
_BUCKET = 32
_CANDIDATES = 4
_MARGIN = 40
_EDGE = 12
# Alignment of letters (rapidfuzz partial_ratio, 0 to 100). Of 1,000 pairs of unrelated sentences
# of the papers none reaches it; a sentence with every fourth word changed does.
_SAME_PASSAGE = 70.0
_MOST_STARTS = 50
# Share of letters that are Han above which a text is Chinese.
_HAN_SHARE = 0.3
# Share of its letters from which a source has passages in a script: an abstract of two pages in
# a thesis of a hundred.
_SCRIPT_SHARE = 0.01
# Shorter between two omissions, a word or two stand in every document.
_FEWEST_LETTERS = 8
# Share of a sentence's content words from which its quotations are what it claims.
_CARRIED = 0.75
# As a change shows it.
OMISSION = "[…]"
REORDERED = "words in another order"
# What the source itself prints of dots, and of brackets.
_DOTS = re.compile(r"[\s,;]*(?:\.\s?\.\s?\.|…|⋯)")
_BRACKETS = re.compile(r"\s*\[(?P<inside>[^\[\]]{1,200})\]")


@dataclass(frozen=True, slots=True)
class QuotationCheck:
    """A quotation compared with the print.

    Args:
        text: as the draft quotes it, without its marks.
        state: `other_language` where it is a translation, which cannot be compared.
        source: as the source prints it, where it was found; white space folded.
        changes: (words of the draft, words of the source) that differ, in order; an empty string
            on one side is a word left out or put in.
        chunk_ids: of the passages where it stands.
        page: on which it begins, None without pages.
    """

    text: str
    state: QuotationState
    source: str | None = None
    changes: tuple[tuple[str, str], ...] = ()
    chunk_ids: tuple[str, ...] = ()
    page: int | None = None

    @property
    def changes_meaning(self) -> bool:
        """Say whether a number, a negation or an exception was changed; 九十八天 is 98天."""
        return changes_meaning(self.text, self.source or "", self.changes)


def quoted_claim(claim: str, checks: Sequence[QuotationCheck]) -> str:
    """Return the quoted words where they are all that a sentence claims, else the sentence.

    "The authors state that “…”" is supported where the quotation is: what remains of the sentence
    says that it is one, and stands in no source. Not so where it denies what it quotes.
    """
    if not checks or any(check.state != "exact" for check in checks):
        return claim
    rest = claim
    for check in checks:
        rest = rest.replace(check.text, " ")
    quoted = " ".join(check.text for check in checks)
    is_all = coverage(claim, quoted) >= _CARRIED and not NEGATION.search(rest)
    return quoted if is_all else claim


def check_quotation(quotation: str, printed: PrintedText) -> QuotationCheck:
    """Compare a quotation with a document, word for word.

    Line breaks, hyphenation, ligatures, kinds of quotation marks, full-width forms and punctuation
    do not count; the first letter may change its case. Omissions `[…]` and insertions `[of his]`
    are allowed, but not one that hides a negation or an exception.

    Args:
        quotation: without its marks.
        printed: the document.
    """
    *_, last = pieces = list(cut_segments(quotation, printed.text))
    segments = [piece for piece in pieces if piece.letters.text]
    if not segments:
        return QuotationCheck(quotation, "not_found")
    exact: QuotationCheck | None = None
    for found in _find_exactly(segments, printed):
        spans = [printed.span(*span) for span in found]
        hidden = _hidden_changes(spans, segments, printed)
        if not last.letters.text:
            hidden += _changed_end(last, printed.text[spans[-1][1] :])
        check = _located(quotation, "altered" if hidden else "exact", spans, hidden, printed)
        if not hidden:
            return check
        exact = exact or check
    if exact is not None:
        return exact
    if not _is_written_in(quotation, printed.text):
        return QuotationCheck(quotation, "other_language")
    return _compare(quotation, segments, printed)


def _is_written_in(quotation: str, source: str) -> bool:
    """Say whether the source has text in the script of the quotation."""
    han = count_han(quotation) > _HAN_SHARE * len(_LETTER.findall(quotation))
    letters = len(_LETTER.findall(source))
    held = count_han(source)
    return (held if han else letters - held) >= _SCRIPT_SHARE * letters


def _find_exactly(
    segments: Sequence[Segment], printed: PrintedText
) -> Iterator[list[tuple[int, int]]]:
    """Yield the spans of letters where all segments stand one after another."""
    for first in _occurrences(segments[0], printed, 0, len(printed.folded)):
        chain = [first]
        for segment in segments[1:]:
            begin = chain[-1][1]
            end = begin + (segment.reach or 0) + len(segment.letters.text)
            following = next(_occurrences(segment, printed, begin, end), None)
            if following is None:
                break
            chain.append(following)
        if len(chain) == len(segments):
            yield chain


def _occurrences(
    segment: Segment, printed: PrintedText, begin: int, end: int
) -> Iterator[tuple[int, int]]:
    wanted = segment.letters.text
    folded = wanted.casefold() if len(wanted.casefold()) == len(wanted) else wanted
    for _ in range(_MOST_STARTS):
        begin = printed.folded.find(folded, begin, end)
        if begin < 0:
            return
        stop = begin + len(wanted)
        same = printed.letters.text[begin + 1 : stop] == wanted[1:] and are_spaced_alike(
            segment.text, segment.letters.places, printed.text, printed.letters.places[begin:stop]
        )
        if same and _is_whole(segment, printed, begin, stop):
            yield begin, stop
        begin += 1


def _is_whole(segment: Segment, printed: PrintedText, begin: int, stop: int) -> bool:
    """Say whether no word of the source is cut: `likely` is not a quotation of `unlikely`."""
    start, end = printed.span(begin, stop)
    text = printed.text
    before, first = text[start - 1 : start] if start else "", text[start]
    after, last = text[end : end + 1], text[end - 1]
    if before == "-" and text[start - 2 : start - 1].isalpha() and first.isalpha():
        return False
    cut_before = not segment.opens and _joins(before, first)
    return not cut_before and not (not segment.closes and _joins(last, after))


def _joins(left: str, right: str) -> bool:
    if not left or not right or HAN.match(left) or HAN.match(right):
        return False
    return (left.isalpha() and right.isalpha()) or (left.isdigit() and right.isdigit())


def _hidden_changes(
    spans: Sequence[tuple[int, int]], segments: Sequence[Segment], printed: PrintedText
) -> tuple[tuple[str, str], ...]:
    """Return what omissions and insertions hide: a negation, an exception, another reference."""
    hidden = []
    for segment, (_, end), (start, _) in zip(segments[1:], spans, spans[1:], strict=False):
        between = printed.text[end:start]
        gap = " ".join(between.split()).strip(" ,;:.")
        denial = find_denial(between, printed.text[start : start + 1], segment.inside)
        same = read_letters(gap).text == read_letters(segment.inside).text
        # What the source itself has in brackets is quoted, not put in by the writer.
        is_changed = bool(segment.inside) and gap.startswith("[") and not same
        # Nor do dots that it prints itself leave anything out.
        skips = segment.is_bare and _DOTS.match(between) and not same
        if len(gap) <= REPLACED_LETTERS and (is_changed or skips):
            hidden.append((segment.inside or OMISSION, gap))
        elif denial is not None:
            hidden.append((segment.inside or OMISSION, denial))
    return tuple(hidden)


def _changed_end(last: Segment, following: str) -> tuple[tuple[str, str], ...]:
    """Return what an omission or insertion behind the last quoted word changes."""
    if last.inside:
        return _changed_mark(last.inside, following)
    # Marked as left out: the rest of the sentence, of which an exception takes back what is quoted.
    exception = find_exception(rest_of_sentence(following))
    return () if exception is None else ((OMISSION, exception),)


def _changed_mark(inside: str, following: str) -> tuple[tuple[str, str], ...]:
    """Return what a last insertion makes of brackets that the source prints in its place.

    Of other words than theirs it is the writer's own: “… itself [emphasis added]”.
    """
    printed = _BRACKETS.match(following)
    if printed is None or not inside:
        return ()
    mine, theirs = bare_words(inside), bare_words(printed["inside"])
    return (
        ()
        if mine == theirs or not set(mine) & set(theirs)
        else ((f"[{inside}]", " ".join(printed.group().split())),)
    )


def _located(
    quotation: str,
    state: QuotationState,
    spans: Sequence[tuple[int, int]],
    changes: tuple[tuple[str, str], ...],
    printed: PrintedText,
) -> QuotationCheck:
    source = " […] ".join(" ".join(printed.text[slice(*span)].split()) for span in spans)
    first, last = spans[0][0], spans[-1][1] - 1
    begin, behind = printed.place(first)[0], printed.place(last)[0]
    index = printed.passages.index(begin)
    held = printed.passages[index : printed.passages.index(behind, index) + 1]
    return QuotationCheck(
        quotation, state, source, changes, tuple(p.chunk_id for p in held), _page(printed, first)
    )


def _page(printed: PrintedText, start: int) -> int | None:
    passage: Passage = printed.place(start)[0]
    return passage.page_start


def _compare(quotation: str, segments: Sequence[Segment], printed: PrintedText) -> QuotationCheck:
    """Return what was changed, segment by segment; a quotation is found where one of them is."""
    spans: list[tuple[int, int]] = []
    changes: list[tuple[str, str]] = []
    for segment in segments:
        if len(segment.letters.text) < _FEWEST_LETTERS and len(segments) > 1:
            continue
        span = _nearest(segment, printed)
        if span is None:
            changes.append((" ".join(segment.text.split()), ""))
            continue
        differences = _differences(segment, printed.text[slice(*span)])
        changes.extend(differences.changes)
        spans.append((span[0] + differences.start, span[0] + differences.end))
    if not spans:
        return QuotationCheck(quotation, "not_found")
    in_order = all(one[1] <= two[0] for one, two in pairwise(spans))
    state: QuotationState = "exact" if not changes and in_order else "altered"
    spans.sort()
    if not changes and not in_order:
        changes.append((OMISSION, REORDERED))
    return _located(quotation, state, spans, tuple(changes), printed)


def _nearest(segment: Segment, printed: PrintedText) -> tuple[int, int] | None:
    """Return the span of the printed text that is most like a segment, in whole words."""
    from rapidfuzz import fuzz

    wanted = segment.letters.text.casefold()
    best: tuple[float, int, int] | None = None
    for start in _candidates(wanted, printed.folded):
        begin = max(start - _MARGIN, 0)
        window = printed.folded[begin : start + len(wanted) + len(wanted) // 4 + _MARGIN]
        if len(window) < len(wanted):
            continue
        found = fuzz.partial_ratio_alignment(wanted, window, score_cutoff=_SAME_PASSAGE)
        if found is not None and (best is None or found.score > best[0]):
            best = (found.score, begin + found.dest_start, begin + found.dest_end)
    if best is None or best[2] <= best[1]:
        return None
    # A word changed at an end is not in the alignment: some more of the source is compared.
    first = max(best[1] - _EDGE, 0)
    last = min(best[2] + _EDGE, len(printed.folded))
    return _whole_words(printed.text, *printed.span(first, last))


def _candidates(wanted: str, folded: str) -> list[int]:
    """Return where the segment may begin in the document, by the short runs that they share."""
    size = _HAN_GRAM if HAN.search(wanted) else _GRAM
    votes: dict[int, int] = {}
    for offset in range(0, max(len(wanted) - size + 1, 1), 2):
        gram = wanted[offset : offset + size]
        position = folded.find(gram)
        for _ in range(_MOST_STARTS):
            if position < 0:
                break
            bucket = (position - offset) // _BUCKET
            votes[bucket] = votes.get(bucket, 0) + 1
            position = folded.find(gram, position + 1)
    best = sorted(votes, key=lambda bucket: (-votes[bucket], bucket))[:_CANDIDATES]
    return [max(bucket * _BUCKET, 0) for bucket in best]


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and _joins(text[start - 1], text[start]):
        start -= 1
    while end < len(text) and _joins(text[end - 1], text[end]):
        end += 1
    return start, end


@dataclass(frozen=True, slots=True)
class _Differences:
    """Words that differ, and which part of the source was meant: [start, end)."""

    changes: tuple[tuple[str, str], ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Word:
    letters: str
    written: str
    start: int
    end: int


def _differences(segment: Segment, source: str) -> _Differences:
    """Return the words that differ; a line break in a word or a mark behind it does not count.

    Args:
        source: what is printed, with some words more on either side.
    """
    ours, theirs = _words(segment.text), _words(source)
    matcher = SequenceMatcher(
        None, [word.letters for word in ours], [word.letters for word in theirs], autojunk=False
    )
    codes = matcher.get_opcodes()
    changes: list[tuple[str, str]] = []
    first, last = 0, len(theirs)
    for code, i, j, begin, behind in codes:
        if code == "equal":
            continue
        k, m = begin, behind
        # At the ends the source has more words than were quoted: as many as ours are compared.
        if i == 0:
            k = first = max(begin, behind - (j - i))
        elif j == len(ours):
            m = last = min(behind, begin + (j - i))
        mine, other = ours[i:j], theirs[k:m]
        said = "".join(word.letters for word in mine)
        printed = "".join(word.letters for word in other)
        is_same = said == printed or (
            i == 0 and said[1:] == printed[1:] and said[:1].lower() == printed[:1].lower()
        )
        is_mark = not mine and REFERENCE_MARK.fullmatch("".join(word.written for word in other))
        if is_mark or (is_same and _are_spaced_alike(segment, mine, source, other)):
            continue
        changes.append((_written(mine), _written(other)))
    held = theirs[first:last] or theirs
    return _Differences(tuple(changes), held[0].start, held[-1].end)


def _are_spaced_alike(
    segment: Segment, mine: Sequence[_Word], source: str, other: Sequence[_Word]
) -> bool:
    ours = segment.text[mine[0].start : mine[-1].end] if mine else ""
    theirs = source[other[0].start : other[-1].end] if other else ""
    return are_spaced_alike(ours, read_letters(ours).places, theirs, read_letters(theirs).places)


def _written(words: Sequence[_Word]) -> str:
    separator = "" if any(HAN.match(word.written) for word in words) else " "
    return separator.join(word.written for word in words)


def _words(text: str) -> list[_Word]:
    found = (
        _Word(read_letters(match.group()).text, match.group(), match.start(), match.end())
        for match in _TOKEN.finditer(text)
    )
    return [word for word in found if word.letters]
