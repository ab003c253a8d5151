"""Characters and line ends: what a printed line becomes in the clean text."""

import re
import unicodedata

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
    r"\u2e80-\u303f\u3040-\u30ff\u31c0-\u31ef\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\ufe30-\ufe4f\uff01-\uff60\uffe0-\uffe6\U00020000-\U0003ffff"
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_HYPHENS = "-\u2010"
_CLOSERS = "\"'”’»)]}）】》」』"
_SENTENCE_ENDS = ".!?…。！？．"


def clean_line(text: str) -> str:
    """Return one printed line: ligatures expanded, white space folded, nothing unprintable."""
    if not text.isascii() or not text.isprintable():
        if _NEEDS_REPLACEMENT.search(text):
            text = text.translate(_REPLACEMENTS)
        text = replace_surrogates(text)
    return " ".join(text.split())


def replace_surrogates(text: str) -> str:
    """Return `text` with lone surrogates, which no file can hold, as U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def clean_source(text: str) -> str:
    """Return the text of a text file: newlines as LF, no NUL, no lone surrogate, no mark."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return replace_surrogates(text.removeprefix("\ufeff"))


def is_unspaced(character: str) -> bool:
    """Tell whether a character belongs to a script that is set without blanks (CJK)."""
    return _IS_UNSPACED.match(character) is not None


def join_texts(before: str, after: str) -> tuple[str, str]:
    """Return (`before`, separator) for two runs of one sentence, the second on a new line.

    A hyphen between lower-case letters is a division and goes; CJK is joined without a blank.
    """
    if not before or not after:
        return before, ""
    if before[-1] in _HYPHENS and len(before) > 1 and before[-2].islower() and after[0].islower():
        return before[:-1], ""
    if is_unspaced(before[-1]) or is_unspaced(after[0]):
        return before, ""
    return before, " "


def ends_sentence(text: str) -> bool:
    """Tell whether a run of text ends with a full stop, a question or an exclamation mark."""
    return text.rstrip(_CLOSERS + " ").endswith(tuple(_SENTENCE_ENDS))
