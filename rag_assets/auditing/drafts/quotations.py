"""What a draft quotes word for word."""

import re
from dataclasses import dataclass

from rag_assets.model import CJK_RANGES, count_cjk

# Below it a word in quotation marks is named or doubted, not quoted.
_FEWEST_WORDS = 4
_FEWEST_HAN = 6
# Longer than a person quotes in a running sentence: an unclosed mark must not swallow a chapter.
_LONGEST = 2_000
_CJK = re.compile(f"[{CJK_RANGES}]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LATIN = r"A-Za-z0-9\u00c0-\u024f"
# An opening mark stands before its word, a closing one behind it; an apostrophe does neither.
_MARKS = re.compile(
    rf"""
    “(?P<double>[^“”]{{1,{_LONGEST}}})”
  | „(?P<low>[^„“”]{{1,{_LONGEST}}})[“”]
  | ＂(?P<wide>[^＂]{{1,{_LONGEST}}})＂
  | (?<![{_LATIN}"])"(?=\S)(?P<straight>[^"]{{1,{_LONGEST}}})(?<=\S)"(?![{_LATIN}])
  | ``(?P<latex>(?:[^`']|'(?!')){{1,{_LONGEST}}})''
  | \\(?:enquote|textquote)\*?\{{(?P<enquote>[^{{}}]{{1,{_LONGEST}}})\}}
  | 「(?P<corner>(?:[^「」]|「[^「」]*」){{1,{_LONGEST}}})」
  | 『(?P<hollow>[^『』]{{1,{_LONGEST}}})』
  | «(?P<guillemet>[^«»]{{1,{_LONGEST}}})»
  | »(?P<inward>[^«»]{{1,{_LONGEST}}})«
  | (?<![{_LATIN}])‘(?P<single>(?:[^‘’“”]|’(?=[{_LATIN}])){{1,{_LONGEST}}})’(?![{_LATIN}])
  | (?<![{_LATIN}'])'(?![\s'\d]|(?:tis|twas|em|n|til|cause|round)\b)
    (?P<plain>(?:[^'"“”‘’]|(?<=[{_LATIN}])'(?=[{_LATIN}])|(?<=s)'(?=\s[a-z])){{1,{_LONGEST}}})
    (?<=\S)'(?![{_LATIN}'])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that a draft says are somebody else's.

    Args:
        text: without its marks.
        start: of it in the text that was searched, code points; `end` its end.
    """

    text: str
    start: int
    end: int


def find_quotations(text: str, *, is_block_quotation: bool = False) -> list[Quotation]:
    """Return the quotations of a block, in order. Names and doubted words are none.

    Args:
        text: without anchors and marks.
        is_block_quotation: then all of it is one.
    """
    if is_block_quotation:
        stripped = text.strip()
        inner = _MARKS.fullmatch(stripped)
        found = inner.group(inner.lastgroup or 0) if inner else stripped
        start = text.find(found)
        return [Quotation(found, start, start + len(found))] if is_quoted(found) else []
    quotations = []
    for match in _MARKS.finditer(text):
        name = match.lastgroup or ""
        if is_quoted(match[name]):
            quotations.append(Quotation(match[name], *match.span(name)))
    return quotations


def is_quoted(text: str) -> bool:
    """Say whether words in quotation marks are long enough to be quoted from somewhere."""
    if count_cjk(text) >= _FEWEST_HAN:
        return True
    return len(_WORD.findall(_CJK.sub(" ", text))) >= _FEWEST_WORDS
