"""Whether words in quotation marks are in the cited document as they are quoted."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from rag_assets.auditing.library import CitedDocument, Passage
from rag_assets.chunking import split_sentences
from rag_assets.judging import read_numerals, read_quantities
from rag_assets.model import CJK_RANGES, HAN, HAN_RANGES, UsageError, count_han
from rag_assets.publishing.content_words import coverage

# The printed words of a document, freed of what a printer adds, for comparing letter by letter.

# What changes a statement and is no letter.
# Not the caret: 10⁵ is printed without.
_SIGNS = frozenset("%‰±<>=≤≥×+°$€£¥&@#*/~≈∞√∑µ")
_MINUS = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d")
# Points and commas of numbers, full-width ones as what they stand for.
_POINTS = {".": ".", ",": ",", "\uff0e": ".", "\uff0c": ","}
_SLASHED = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i"})
_LATIN = re.compile(rf"(?![{CJK_RANGES}])[^\W\d_]")
_FOLDED: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Letters:
    """A text reduced to what a reader compares: letters, digits, signs that mean something.

    Ligatures, full-width forms and accents are resolved; white space, hyphens, quotation marks
    and punctuation are left out, but for what stands inside a number and before it.

    Args:
        text: the letters; `places` says for each where it stood.
    """

    text: str
    places: tuple[int, ...]


def read_letters(text: str) -> Letters:
    """Return the letters of `text`."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        folded = _FOLDED.get(character)
        if folded is None:
            folded = _FOLDED[character] = _fold(character)
        if not folded and (character in _POINTS or character in _MINUS):
            folded = _inside_number(text, place, _POINTS.get(character, character))
        for letter in folded:
            letters.append(letter)
            places.append(place)
    return Letters("".join(letters), tuple(places))


def _fold(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character).translate(_SLASHED)
    return "".join(part for part in parts if part.isalnum() or part in _SIGNS)


def _inside_number(text: str, place: int, character: str) -> str:
    """Return the point of 3.5, the comma of 3,5, the minus of -3 and of 3-5; else nothing."""
    after = text[place + 1 : place + 2]
    before = text[place - 1 : place] if place else ""
    if not after.isdigit():
        return ""
    if character in _MINUS:
        return "" if before.isalpha() else "-"
    if not before.isdigit():
        return ""
    is_thousands = character == "," and re.match(r"\d{3}(?!\d)", text[place + 1 :][:4])
    return "" if is_thousands else character


def are_spaced_alike(ours: str, mine: Sequence[int], theirs: str, places: Sequence[int]) -> bool:
    """Say whether two texts of the same letters end their words alike: “notable” is not “not able”.

    A hyphen may stand for either, and between Chinese characters nothing is written.

    Args:
        mine: where the letters stand in `ours`; `places` in `theirs`.
    """
    for (a, b), (c, d) in zip(pairwise(mine), pairwise(places), strict=True):
        gaps = ours[a + 1 : b], theirs[c + 1 : d]
        is_apart = bool(gaps[0]) != bool(gaps[1]) and (gaps[0] or gaps[1]).isspace()
        if is_apart and _LATIN.match(theirs, c) and _LATIN.match(theirs, d):
            return False
    return True


class PrintedText:
    """All text of a document in its order, as letters that know their passage.

    Args:
        document: with all its passages, those that state nothing too.
    """

    def __init__(self, document: CitedDocument) -> None:
        self.passages: list[Passage] = sorted(
            (*document.passages, *document.unsaid),
            key=lambda passage: (passage.char_start is None, passage.char_start or 0),
        )
        pieces: list[str] = []
        self._starts: list[int] = []
        self._skipped: list[int] = []
        reached, length = 0, 0
        for passage in self.passages:
            # Where chunks overlap, what stood in the one before is not read again.
            overlap = max(reached - passage.char_start, 0) if passage.char_start is not None else 0
            piece = passage.text[overlap:]
            self._starts.append(length)
            self._skipped.append(min(overlap, len(passage.text)))
            pieces.append(piece)
            length += len(piece) + 1
            reached = max(reached, passage.char_end or 0)
        self.text = "\n".join(pieces)
        self.letters = read_letters(self.text)
        self.folded = self.letters.text.casefold()
        if len(self.folded) != len(self.letters.text):
            # A letter that folds to two would shift all behind it.
            self.folded = "".join(
                letter.casefold() if len(letter.casefold()) == 1 else letter
                for letter in self.letters.text
            )

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the letters from `start` to `end` (exclusive) stand in `text`."""
        return self.letters.places[start], self.letters.places[end - 1] + 1

    def place(self, start: int) -> tuple[Passage, int]:
        """Return the passage in which a character of `text` stands, and its offset there."""
        index = bisect_right(self._starts, start) - 1
        return self.passages[index], start - self._starts[index] + self._skipped[index]


# A quotation cut at what its writer omitted, `[…]`, and put in, `[of his]`.

# Omissions and insertions that a quoting writer may mark.
_OMISSION = re.compile(
    r"[\[(（［【]\s*(?:…+|\.\s?\.\s?\.|⋯+)\s*[\])）］】]|…+|⋯+|\.\s?\.\s?\.(?:\s?\.)?"
)
_INSERTION = re.compile(r"[\[［【](?P<inside>[^\[\]［］【】]{0,200})[\]］】]")
# A mark that points at a reference belongs to the print, not to the words.
REFERENCE_MARK = re.compile(r"[\[(]?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*[\])]?|[*†‡§¶#]+")
_WORD = re.compile(rf"[{HAN_RANGES}]|[^\W_]+")
# Words from which an insertion is no note of the writer's, and the share of them that the source
# has in brackets of its own where it quotes these.
_LONG = 6
_REPEATED = 0.6
# Letters that an omission may leave out: about a page; an insertion replaces a few words.
_OMITTED = 1_500
REPLACED_LETTERS = 60
_MARK_LETTERS = 6


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a quotation between two marked omissions.

    Args:
        reach: letters that may lie between it and the one before; None for the first.
        inside: what the writer put in before it; empty for an omission.
        is_bare: whether dots without brackets stand before it, which may be the source's own.
        opens: whether it may begin, `closes` end, inside a word: `increase[s]`.
    """

    letters: Letters
    text: str
    reach: int | None
    inside: str
    is_bare: bool
    opens: bool
    closes: bool


def cut_segments(quotation: str, source: str) -> Iterator[Segment]:
    """Yield the parts of a quotation between what was omitted or put in.

    Args:
        quotation: without its marks.
        source: what the document prints; brackets of its own are part of its words.
    """
    marks = sorted(
        [(m.start(), m.end(), _OMITTED, "") for m in _OMISSION.finditer(quotation)]
        + [
            (m.start(), m.end(), _reach(m["inside"]), m["inside"])
            for m in _INSERTION.finditer(quotation)
            if not _OMISSION.fullmatch(m.group()) and not _is_printed(m, source)
        ]
    )
    position, prefix, reach, before, opens, is_bare = 0, "", None, "", False, False
    for start, end, allowed, inside in marks:
        if start < position:
            continue
        touches = quotation[end : end + 1].isalpha() and allowed != _OMITTED
        # [T]he is The: one letter in brackets is a letter whose case was changed.
        is_letter = touches and len(inside) == 1 and inside.isalpha()
        closes = quotation[start - 1 : start].isalpha() and allowed != _OMITTED and not is_letter
        text = prefix + quotation[position:start]
        yield Segment(read_letters(text), text, reach, before, is_bare, opens, closes)
        prefix = inside if is_letter else ""
        before = "" if is_letter else inside
        position, reach, opens = end, allowed, touches and not is_letter
        is_bare = quotation[start] in ".…⋯"
    text = prefix + quotation[position:]
    yield Segment(read_letters(text), text, reach, before, is_bare, opens, closes=False)


def _is_printed(insertion: re.Match[str], source: str) -> bool:
    """Say whether the source prints these brackets itself, perhaps in somewhat other words."""
    if insertion.group() in source:
        return True
    words = bare_words(insertion["inside"])
    mine = set(words)
    return len(words) >= _LONG and any(
        len(mine.intersection(bare_words(own["inside"]))) >= _REPEATED * len(mine)
        for own in _INSERTION.finditer(source)
    )


def bare_words(text: str) -> list[str]:
    """Return the words of a text, Chinese ones as characters, without case and punctuation."""
    return [word.casefold() for word in _WORD.findall(text)]


def _reach(inside: str) -> int:
    """Return how many letters of the source an insertion may stand for."""
    is_mark = REFERENCE_MARK.fullmatch(inside.strip())
    return len(inside) + _MARK_LETTERS if is_mark else REPLACED_LETTERS


# Whether what was changed in a quotation, or left out of it, changes what it says.

# What stands for a denial in other words (非常, 未来, 无论, 不断) is none.
NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|hardly|scarcely|barely|rarely|seldom|nobody|"
    r"nothing|nowhere|cannot|fail(?:s|ed|ing)?\s+to)\b|n['’]t\b"
    r"|不(?![断但仅])|[没沒勿毋]|[未](?!来)|[无無](?!论|線|线)|非(?![常洲])|莫(?!斯)|禁止|严禁|拒绝",
    re.IGNORECASE,
)
# What a rule does not hold for, or alone holds for.
EXCEPTION = re.compile(
    r"\b(?:except(?:ing)?|unless|excluding|exclusive\s+of|save\s+(?:for|where|when|in|as|that)|"
    r"other\s+than|apart\s+from|aside\s+from|with\s+the\s+(?:\w+\s+)?exceptions?\s+of|but\s+not|"
    r"only\s+(?:if|when|where|in|for|after|under|among|with)|provided\s+that|subject\s+to)\b"
    r"|除(?![此了])[^。；\n]{0,80}?外|除外|除非|除了[^。；\n]{0,80}?(?:以外|之外)|例外|另有规定",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"(?<![A-Z])[.!?][\"”’)\]]*\s+(?=[A-Z\u00c0-\u00de“\"(\[])|[。！？][”’」』）]*|\n\s*\n"
)
_REST = re.compile(r"(?:[^.!?。！？\n]|\n(?!\s*\n)|[.!?](?!\s)){0,600}")
_CLAUSE_END = re.compile(r"[;:，；：—–]|,(?!\d)")
_AMOUNT = re.compile(r"\b(?:all|some|most|few|many|twice|double|triple)\b", re.IGNORECASE)
_HAN_NUMERAL = re.compile("[〇零一二两三四五六七八九十百千万亿]+")
# What is no numeral by itself, but is a number or part of one beside other words.
_PART_OF_NUMERAL = re.compile(
    rf"\d|{_HAN_NUMERAL.pattern}|\b(?:one|dozen|hundred|thousand|million|billion|trillion|half|"
    r"third|quarter)s?\b",
    re.IGNORECASE,
)
# Words that differ by nothing else say the opposite.
_DENYING = re.compile(r"(?:un|in|im|il|ir|dis|non|a|mis)-?", re.IGNORECASE)


def changes_meaning(quotation: str, source: str, changes: Sequence[tuple[str, str]]) -> bool:
    """Say whether a number, an amount, a negation or an exception is among the changes.

    Args:
        quotation: as the draft has it; `source` as it is printed.
        changes: (words of the draft, words of the source) that differ.
    """
    sides = [f"{before} {after}" for before, after in changes]
    return (
        any(pattern.search(side) for side in sides for pattern in (NEGATION, EXCEPTION, _AMOUNT))
        or any(_denies(a, b) or _denies(b, a) for a, b in changes)
        or (any(map(_has_number, sides)) and _values(quotation) != _values(source))
        or any(_HAN_NUMERAL.fullmatch(a) and _HAN_NUMERAL.fullmatch(b) for a, b in changes)
    )


def find_denial(left_out: str, following: str, inside: str) -> str | None:
    """Return the part of an omission that denies or narrows what is quoted around it.

    Sentences that are left out as a whole speak for themselves. Of a long omission its ends count,
    as far as their clauses go: “did [not, as we shall see,] fall”; and every exception.

    Args:
        left_out: what is printed between two parts of a quotation; `following` the text behind.
        inside: what the writer put in its place; a denial in it is quoted in other words.
    """
    ends = [
        match.span()
        for match in _SENTENCE_END.finditer(left_out + following[:1])
        if match.start() < len(left_out)
    ]
    parts = [left_out] if not ends else [left_out[: ends[0][0]], left_out[ends[-1][1] :]]
    denies = not NEGATION.search(inside)
    for number, part in enumerate(parts):
        exception = find_exception(part)
        if exception is not None and not EXCEPTION.search(inside):
            return exception
        if not denies:
            continue
        if not ends and len(_one_line(part)) <= REPLACED_LETTERS:
            if NEGATION.search(part):
                return _one_line(part)
            continue
        clauses = _CLAUSE_END.split(part)
        edges = [clauses[0][:REPLACED_LETTERS]] if number == 0 else []
        edges += [clauses[-1][-REPLACED_LETTERS:]] if part is parts[-1] else []
        for edge in edges:
            if NEGATION.search(edge):
                return _one_line(edge)
    return None


def find_exception(text: str) -> str | None:
    """Return the clause of a text that makes an exception, None where none does."""
    found = EXCEPTION.search(text)
    if found is None:
        return None
    starts = [match.end() for match in _CLAUSE_END.finditer(text, 0, found.start())]
    end = _CLAUSE_END.search(text, found.end())
    return _one_line(text[max(starts, default=0) : end.start() if end else len(text)])


def rest_of_sentence(text: str) -> str:
    """Return a text as far as its first sentence goes."""
    match = _REST.match(text)
    return match.group() if match else ""


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip(" ,;:.，；：。")


def _has_number(side: str) -> bool:
    return _PART_OF_NUMERAL.search(side) is not None or bool(read_numerals(side))


def _values(text: str) -> list[tuple[float, str]]:
    return sorted((q.value, q.unit.kind) for q in read_quantities(text))


def _denies(word: str, other: str) -> bool:
    prefix = word[: len(word) - len(other)]
    return bool(other) and word.endswith(other) and _DENYING.fullmatch(prefix) is not None


# Whether words in quotation marks stand in the cited document as they are quoted.

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


# Words of a document on which a verdict of an AI agent may rest.

# A Chinese character counts for half a word; with fewer, a quotation states nothing.
_FEWEST_WORDS, _FEWEST_IN_LETTERS = 5, 2


class RefusedQuoteError(UsageError):
    """A quotation on which no verdict may rest.

    Args:
        nearest: of the document, what is most like it, verbatim; empty where nothing is.
    """

    def __init__(self, message: str, nearest: str = "") -> None:
        super().__init__(message)
        self.nearest = nearest


def find_evidence(quote: str, document: CitedDocument) -> tuple[str, Passage]:
    """Return a quotation as a document prints it, and the passage in which it begins.

    It is compared as `check_quotation` does, but has to be one piece of at least five words, from
    passages that can support a sentence: no title, heading or entry of a reference list.

    Raises:
        RefusedQuoteError: it is not; says why and what to quote.
    """
    words = bare_words(quote)
    size = sum(0.5 if HAN.match(word) else 1 for word in words)
    named = {
        document.title or "",
        *(name for one in document.passages for name in one.section_path),
    }
    mine = read_letters(quote).text.casefold()
    if size < _FEWEST_WORDS or sum(map(str.isalpha, words)) < _FEWEST_IN_LETTERS:
        why = "the quotation is too short: quote the whole sentence or clause, five words or more."
    elif any(mine in read_letters(name).text.casefold() for name in named):
        why = "this is a title or heading, which states nothing: quote a sentence."
    else:
        printed = PrintedText(replace(document, unsaid=()))
        check = check_quotation(quote, printed)
        is_whole = len(list(cut_segments(quote, printed.text))) == 1
        if check.state == "exact" and is_whole and check.source:
            (first, *_) = check.chunk_ids
            return check.source, next(one for one in document.passages if one.chunk_id == first)
        if not is_whole:
            why = "quote one piece without […] and without words in brackets of your own."
        elif check_quotation(quote, PrintedText(document)).state == "exact":
            why = "these words are in a reference list or another part that states nothing."
        else:
            why = (
                f"`{document.doc_uid}` does not print these words. Copy them letter by letter, in "
                "the language of the document, from a passage of `citation_evidence`."
            )
    sentences = (
        one.text[start:end] for one in document.passages for start, end in split_sentences(one.text)
    )
    nearest = max(sentences, key=lambda one: coverage(quote, one), default="")
    raise RefusedQuoteError(why, nearest if coverage(quote, nearest) else "")
