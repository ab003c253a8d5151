"""Characters and line ends: what a printed line becomes in the clean text."""

import re
import unicodedata

from rag_assets.model import HAN_RANGES, drop_controls

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
