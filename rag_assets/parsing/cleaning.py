"""Characters that do not belong into a clean text, and the language of what is left."""

import dataclasses
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from rag_assets.model import (
    HAN,
    HAN_RANGES,
    Block,
    PageSpan,
    ParsedDocument,
    SourceLine,
    drop_controls,
    find_controls,
    has_controls,
)
from rag_assets.parsing.seen import Unseen, turned_note

# Characters and line ends: what a printed line becomes in the clean text.

# Presentation forms made by typesetters; every other printed character stays as it is.
_LIGATURES = [*range(0xFB00, 0xFB07), *range(0xFB13, 0xFB18)]
_INVISIBLE = [0x200B, 0x2060, 0xFEFF]
_CONTROLS = [*range(9), 0x0B, *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0)]
_REPLACEMENTS: dict[int, str] = {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in _LIGATURES},
    **dict.fromkeys(_INVISIBLE, ""),
    **dict.fromkeys(_CONTROLS, " "),
    # On a page a soft hyphen is a printed hyphen: a program that hides it prints no glyph.
    0x00AD: "-",
}
_NEEDS_REPLACEMENT = re.compile("[" + "".join(re.escape(chr(code)) for code in _REPLACEMENTS) + "]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# CJK punctuation, kana, ideographs and full-width forms: scripts that are set without blanks.
_UNSPACED = (
    rf"\u2e80-\u303f\u3040-\u30ff\u31c0-\u31ef{HAN_RANGES}\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6"
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_GAP = re.compile(f"(?<=[{_UNSPACED}]) +(?=[{_UNSPACED}])")
_HYPHENS = "-\u2010"
# How a line ends whose hyphen is settled: divided there, or hyphenated anyway. Neither character
# is in a cleaned line, and neither stays: what joins lines, and what ends a paragraph, takes them.
DIVISION = "\u00ad"
REAL_HYPHEN = "-\u2060"
# `pre- and postoperative`: the hyphen stands for the rest of a word, nothing is joined.
_CONJUNCTION = re.compile(r"(?:and|or|und|oder|bzw|et|ou|или)\b")
_CLOSERS = "\"'”’»)]}）】》」』"
_SENTENCE_ENDS = ".!?…。！？．"


def clean_line(text: str) -> str:
    """Return one printed line: ligatures expanded, white space folded, nothing unprintable."""
    if not text.isascii() or not text.isprintable():
        if _NEEDS_REPLACEMENT.search(text):
            # Some programs print a hyphen and note it as a soft one too.
            text = text.replace("-\u00ad", "-").replace("\u00ad-", "-")
            text = text.translate(_REPLACEMENTS)
        text = replace_surrogates(text)
    return " ".join(text.split())


def replace_surrogates(text: str) -> str:
    """Return `text` with lone surrogates, which no file can hold, as U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def clean_source(text: str) -> str:
    """Return the text of a text file: newlines as LF, no control character or escape sequence, no
    lone surrogate, no mark.
    """
    return replace_surrogates(drop_controls(text.removeprefix("\ufeff")))


_UNSPACED_MARK = re.compile("[，。；：！？、]")


def is_unspaced(character: str) -> bool:
    """Tell whether a character belongs to a script that is set without blanks (CJK)."""
    return _IS_UNSPACED.match(character) is not None


def is_unspaced_prose(text: str) -> bool:
    """Tell whether `text` is prose of a script that is set without blanks, whatever Latin words and
    numbers stand in it; a row of a table has few of its characters and none of its marks.
    """
    count = len(_IS_UNSPACED.findall(text))
    return 2 * count >= len("".join(text.split())) or bool(count and _UNSPACED_MARK.search(text))


def close_gaps(text: str) -> str:
    """Return `text` without the blanks between characters of scripts that are set without them.

    Text recognition puts them in: `气 候` is printed as `气候`.
    """
    return _GAP.sub("", text)


def join_texts(before: str, after: str) -> tuple[str, str]:
    """Return (`before`, separator) for two runs of one sentence, the second on a new line.

    A settled hyphen is obeyed; else one between lower-case letters is a division and goes. CJK is
    joined without a blank.
    """
    if not before or not after:
        return before, ""
    if before.endswith(DIVISION):
        return before[: -len(DIVISION)], ""
    if before.endswith(REAL_HYPHEN):
        return before[:-1], ""
    if before[-1] in _HYPHENS and len(before) > 1 and before[-2].islower() and after[0].islower():
        return (before, " ") if _CONJUNCTION.match(after) else (before[:-1], "")
    if is_unspaced(before[-1]) or is_unspaced(after[0]):
        return before, ""
    return before, " "


def close_line(text: str) -> str:
    """Return a line's text as it stands where nothing is joined to it: a settled hyphen is one."""
    if text.endswith(DIVISION):
        return text[: -len(DIVISION)] + "-"
    return text[:-1] if text.endswith(REAL_HYPHEN) else text


def ends_sentence(text: str) -> bool:
    """Tell whether a run of text ends with a full stop, a question or an exclamation mark."""
    return text.rstrip(_CLOSERS + " ").endswith(tuple(_SENTENCE_ENDS))


# A document without characters that are not seen or act on whoever shows it, its places moved.

_Span = TypeVar("_Span", Block, PageSpan, SourceLine)

# Start, end, and what stands there instead.
_Cut = tuple[int, int, str]
# What shows nothing and would part a word or number that is seen as one: soft hyphens, zero-width
# blanks, invisible operators, tags; joiners, marks of direction and variation selectors where they
# stand beside ASCII, since other scripts and signs need them.
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINERS = "\u200c-\u200f\u061c"
_CONTROLS_INVISIBLE = re.compile(
    "[\xad\u034f\u200b\u2060-\u2064\u206a-\u206f\ufeff\U000e0000-\U000e007f]+"
    f"|(?<=[!-~])[{_JOINERS}{_SELECTORS}]+|[{_JOINERS}]+(?=[!-~])"
    f"|(?<=[{_SELECTORS}])[{_SELECTORS}]+"
)
# Tags spell ASCII that nobody sees; behind a black flag they name a country's part.
_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0020-\U000e007e]{2,}")
_TAG_BASE = 0xE0000
# Letters struck out by combining strokes; one stroked sign is a letter or sign of its own: ≠.
_STROKED = r"[^\s\u0335-\u0338][\u0335-\u0338]+"
_STRUCK = re.compile(rf"(?:{_STROKED}(?:\s[\u0335-\u0338]*)?)+{_STROKED}|\d[\u0335-\u0338]+")


class _Places:
    """Where the offsets of a text are once its control characters are dropped."""

    def __init__(self, cuts: Iterable[_Cut]) -> None:
        # Up to a start what was lost before it counts; inside what is dropped all is one place.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._lost = [0]
        for start, end, stand_in in cuts:
            self._starts.append(start + len(stand_in))
            self._ends.append(end)
            self._lost.append(self._lost[-1] + end - start - len(stand_in))

    def moved(self, offset: int) -> int:
        before = bisect_right(self._starts, offset)
        if before and offset < self._ends[before - 1]:
            return self._starts[before - 1] - self._lost[before - 1]
        return offset - self._lost[before]

    def move(self, span: _Span) -> _Span:
        return dataclasses.replace(span, start=self.moved(span.start), end=self.moved(span.end))


def without_controls(document: ParsedDocument) -> ParsedDocument:
    """Return `document` with every text cleaned by `drop_controls`, and its text as it is seen.

    What is not shown, or struck out by combining strokes, is left out of the text and noted. Text
    whose direction is turned is noted, since it may read otherwise than it is seen. Blocks, pages,
    lines and attachments keep what they hold; a block or line of which nothing is left goes. The
    characters as printed (`SourceLine.printed`) stay as the file has them: they are compared, and
    cleaned where they are shown.
    """
    unseen = Unseen()
    warnings = list(document.warnings)
    if has_controls(document.text):
        warnings += turned_note(document.text)
        document = _cut_text(document, list(find_controls(document.text)))
    for match in _TAGS.finditer(document.text):
        unseen.add("characters", "".join(chr(ord(c) - _TAG_BASE) for c in match[0]))
    if _CONTROLS_INVISIBLE.search(document.text):
        cuts = [(*match.span(), "") for match in _CONTROLS_INVISIBLE.finditer(document.text)]
        document = _cut_text(document, cuts)
    struck = list(_STRUCK.finditer(document.text))
    for match in struck:
        unseen.add("struck", re.sub("[\u0335-\u0338]", "", match[0]))
    if struck:
        document = _cut_text(document, [(*match.span(), "") for match in struck])
    return dataclasses.replace(
        document,
        attachments=tuple(
            dataclasses.replace(item, name=_text(item.name), caption=_text(item.caption))
            for item in document.attachments
        ),
        title=_text(document.title),
        authors=_texts(document.authors),
        doi=_text(document.doi),
        journal=_text(document.journal),
        metadata={drop_controls(k): drop_controls(v) for k, v in document.metadata.items()},
        removed_templates=_texts(document.removed_templates),
        warnings=_texts(tuple(dict.fromkeys([*warnings, *unseen.warnings()]))),
    )


def _cut_text(document: ParsedDocument, cuts: list[_Cut]) -> ParsedDocument:
    """Return a document with other text, or none, in place of some pieces of its text."""
    places, reached = _Places(cuts), 0
    kept: list[str] = []
    for start, end, stand_in in cuts:
        kept += (document.text[reached:start], stand_in)
        reached = end
    text = "".join(kept) + document.text[reached:]
    return dataclasses.replace(
        document,
        text=text,
        pages=tuple(map(places.move, document.pages)),
        blocks=tuple(
            block
            for block in map(places.move, document.blocks)
            if text[block.start : block.end].strip()
        ),
        lines=tuple(line for line in map(places.move, document.lines) if line.start < line.end),
        attachments=tuple(
            item
            if item.start is None or item.end is None
            else dataclasses.replace(
                item, start=places.moved(item.start), end=places.moved(item.end)
            )
            for item in document.attachments
        ),
        abstract=None
        if document.abstract is None
        else (places.moved(document.abstract[0]), places.moved(document.abstract[1])),
    )


def _text(text: str | None) -> str | None:
    return drop_controls(text) or None if text is not None else None


def _texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean for text in texts if (clean := drop_controls(text)))


# A cheap guess of a document's language, for display and for the choice of rules.

# Enough to see the language of a document; more characters change no answer.
_SAMPLE_CHARACTERS = 20_000
# Running Chinese prose has over 90 % ideographs, English papers with Chinese names under 2 %.
_MIN_CJK_SHARE = 0.25
_MIN_KANA_SHARE = 0.05
# A text in another script holds English names, formulas and references too.
_MIN_SCRIPT_SHARE = 0.4
# Prose has some 30 to 40 % of its language's words below, reference lists some 10 %, text in
# other languages 3 to 8 % (Romance languages share `de`, `la`, `que`).
_MIN_STOP_WORD_SHARE = 0.12
_MIN_WORDS = 20

# The commonest letters of languages in Latin script are half of their letters or more; in a text
# whose letters stand for others they are a third.
_COMMON_LETTERS = frozenset("etaoinsr")
_MIN_COMMON_SHARE = 0.35
_MIN_LETTERS = 200
_SEVERAL_LETTERS = re.compile(r"[^\W\d_]{2,}")
# Repeated names of variables may look like one or two words of a language, seldom like more.
_MIN_DIFFERENT = 8
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

_IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ko", re.compile(r"[\u1100-\u11ff\uac00-\ud7a3]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0620-\u06ff\ufb50-\ufefc]")),
    ("he", re.compile(r"[\u05d0-\u05ea]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
)
_UKRAINIAN = re.compile(r"[іїєґ]", re.IGNORECASE)
# Ukrainian prose has some 8 % of the letters that Russian lacks.
_MIN_UKRAINIAN_SHARE = 0.02
_STOP_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "a an and are as at be been but by can for from has have in is it its may not of on "
        "or our such than that the their these they this to was we were which will with",
        "fr": "à au aux avec ce ces cette d dans de des du elle en est et il ils l la le les leur "
        "mais ne nous ou où par pas plus pour qu que qui sa se ses son sont sur un une être",
        "de": "als am auch auf aus bei das dass dem den der des die durch ein eine einem einen "
        "einer es für hat im in ist mit nach nicht oder sich sie sind über um und von vor war "
        "werden wie wird zu zum zur",
        "es": "al como con cual de del el ella en entre es esta este están fue ha la las lo los "
        "más muy no o para pero por que se según ser sin sobre son su sus también un una y",
        "pt": "a ao aos as com como da das de do dos e em entre é este esta foi mais mas na "
        "nas não "
        "no nos o os ou para pela pelo por que se sem ser seu são sua um uma à",
        "it": "al alla anche che come con da dal dalla dei del della delle di e è gli i il in "
        "la le "
        "lo ma nei nel nella non o per più questo sono stato su tra un una",
        "nl": "aan als bij dat de deze die dit door een en er het hij in is maar met na naar niet "
        "of om onder ook op over te tot uit van voor was wat worden wordt zijn",
    }.items()
}


def guess_language(text: str) -> str | None:
    """Return the language of a text by its script and its commonest words.

    Args:
        text: prose; its first 20,000 characters count.

    Returns:
        An ISO 639-1 code (zh, ja, ko, ru, uk, ar, he, el, en, fr, de, es, pt, it, nl), None where
        none of them is plain.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    letters = sum(map(str.isalpha, sample))
    if letters == 0:
        return None
    kana = len(_KANA.findall(sample))
    if len(_IDEOGRAPH.findall(sample)) + kana >= _MIN_CJK_SHARE * letters:
        return "ja" if kana >= _MIN_KANA_SHARE * letters else "zh"
    for language, script in _SCRIPTS:
        if not sample.isascii() and len(script.findall(sample)) >= _MIN_SCRIPT_SHARE * letters:
            if language == "ru" and len(_UKRAINIAN.findall(sample)) >= (
                _MIN_UKRAINIAN_SHARE * letters
            ):
                return "uk"
            return language
    counts = Counter(_WORD.findall(sample.lower()))
    total = counts.total()
    if total < _MIN_WORDS:
        return None
    shares = {
        language: sum(counts[word] for word in words) / total
        for language, words in _STOP_WORDS.items()
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= _MIN_STOP_WORD_SHARE else None


# The common Chinese characters of each standard by their first byte: of a text in Chinese or
# Japanese nine in ten are in one of them, of any characters one in four.
_COMMON_HAN = (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6), ("shift_jis", 0x88, 0x98))
_MIN_COMMON_HAN_SHARE = 0.6


def _is_of_no_script(text: str) -> bool:
    """Tell whether a text is made of rare Chinese characters, or of accented letters: a language
    has both seldom, a wrong code table all over.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    han, letters = "".join(HAN.findall(sample)), sum(map(str.isalpha, sample))
    if letters < _MIN_LETTERS:
        return False
    if 2 * len(han) < letters:
        return 2 * sum("\xc0" <= letter <= "\xff" for letter in sample) > letters
    return all(
        sum(first <= lead <= last for lead in han.encode(standard, "ignore")[::2])
        < _MIN_COMMON_HAN_SHARE * len(han)
        for standard, first, last in _COMMON_HAN
    )


def is_garbled(text: str) -> bool:
    """Tell whether the letters of a text stand for others, as in a font with a wrong code table.

    That is a text of no known language whose letters have other frequencies than any, or that is
    one of a known language when it is read backwards or with each letter moved by as many places,
    or one of characters that no language uses so often.
    """
    if _is_of_no_script(text):
        return True
    if guess_language(text):
        return False
    sample = text[:_SAMPLE_CHARACTERS].lower()
    letters = [letter for letter in sample if letter in _ALPHABET]
    # Other scripts have no such frequencies.
    if len(letters) < max(_MIN_LETTERS, sum(map(str.isalpha, sample)) / 2):
        return False
    common = sum(letter in _COMMON_LETTERS for letter in letters)
    if common < _MIN_COMMON_SHARE * len(letters) or guess_language(sample[::-1]):
        return True
    return any(
        guess_language(sample.translate(str.maketrans(_ALPHABET, _ALPHABET[by:] + _ALPHABET[:by])))
        for by in range(1, len(_ALPHABET))
    )


_FIRST_PARAGRAPHS = 700


def is_garbled_page(text: str) -> bool:
    """Tell whether the letters of a page's prose stand for others.

    A page holds less than a document, and formulas, code and tables have no letters of a language
    either. So a page is garbled only where many different words of a language appear when its
    words are read backwards or with each letter moved.
    """
    # The first paragraphs of nearly every page tell, for a tenth of the time.
    if _is_of_no_script(text):
        return True
    if guess_language(text[:_FIRST_PARAGRAPHS]) or guess_language(text):
        return False
    words = " ".join(_SEVERAL_LETTERS.findall(text[:_SAMPLE_CHARACTERS].lower()))
    letters = sum(letter in _ALPHABET for letter in words)
    if letters < max(_MIN_LETTERS, sum(map(str.isalpha, words)) / 2):
        return False
    moved = [
        words.translate(str.maketrans(_ALPHABET, _ALPHABET[by:] + _ALPHABET[:by]))
        for by in range(1, len(_ALPHABET))
    ]
    for candidate in (words[::-1], *moved):
        language = guess_language(candidate)
        if language in _STOP_WORDS:
            return len(_STOP_WORDS[language].intersection(candidate.split())) >= _MIN_DIFFERENT
    return False
