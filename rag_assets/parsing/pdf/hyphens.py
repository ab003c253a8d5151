"""Hyphens at line ends: a division of the typesetter's, or one that the word has anyway."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rag_assets.parsing.cleaning import DIVISION, REAL_HYPHEN
from rag_assets.parsing.pdf.lines import Line, Page

_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_END = re.compile(r"((?:[^\W_]+[-\u2010])*[^\W_]+)[-\u2010]$")
_START = re.compile(r"[^\W_]+")
# First parts that English joins with a hyphen: what stands behind them is a word of its own.
_COMBINING = re.compile(
    r"self|non|well|cross|half|high|low|long|short|two|three|four|five|six|one|ill"
    r"|quasi|all|full|real|large|small|end|top|state|single|double|first|second|third"
    r"|open|closed|data|user|time|fine|hand|word|sentence|document|based"
)
_CONJUNCTIONS = re.compile(r"and|or|und|oder|bzw|et|ou|или")
# `right-to-left`, `state-of-the-art`: no syllable that a division leaves behind.
_PARTICLES = re.compile(r"to|of|the|in|by|on|up|off|out|with|based")
# Ends of words that are words as well.
_SUFFIXES = re.compile(
    r"ment|ments|tain|tains|over|fore|est|able|ible|less|ness|ship|book|base|form"
    r"|forms|ward|wards|tion|tions|sion|ings|fois|ture|tures|mente"
)
# Words of a document that stand alone often enough to be words, not pieces of formulas.
_MIN_COUNT = 2
_MIN_PART_LETTERS = 4


def settle_hyphens(pages: Sequence[Page]) -> None:
    """Mark for each hyphen at a line end whether it is a division, in place.

    The document's own words decide: the joined form or the hyphenated one occurs elsewhere in it;
    then whether both halves are words in it. A line's text then ends with `DIVISION` in place of
    the hyphen, or with `REAL_HYPHEN`; `join_texts` obeys both. Undecided ones are left to it.

    Args:
        pages: of the whole document, in reading order, heads and feet removed.
    """
    words = _count_words(pages)
    for line, after in _broken_lines(pages):
        first, second = _END.search(line.text), _START.match(after.text)
        if first is None or second is None:
            continue
        verdict = _is_division(first[1], second[0], words)
        if verdict is None:
            continue
        mark = DIVISION if verdict else REAL_HYPHEN
        line.text = line.text[:-1] + mark
        if line.run_in is not None:
            rest = line.run_in[1]
            rest.text = rest.text.rstrip("-\u2010") + mark


def _count_words(pages: Sequence[Page]) -> Counter[str]:
    words: Counter[str] = Counter()
    for page in pages:
        text = "\n".join(
            [
                # Half a word counts for nothing.
                line.text if line.text[-1] not in "-\u2010" else _END.sub("", line.text)
                for block in page.blocks
                for line in block
            ]
        )
        words.update(_WORD.findall(text.lower().replace("\u2010", "-")))
    return words


def _broken_lines(pages: Sequence[Page]) -> Iterator[tuple[Line, Line]]:
    """Yield each line that ends with a hyphen and the line that is read next."""
    before: Line | None = None
    for page in pages:
        for block in page.blocks:
            for line in block:
                if not line.upright:
                    continue
                if before is not None and not before.shares_row(line):
                    yield before, line
                before = line if line.text[-1] in "-\u2010" and len(line.text) > 1 else None


def _is_division(first: str, second: str, words: Counter[str]) -> bool | None:
    """Tell whether the hyphen between two halves goes; None where nothing speaks for either."""
    head, tail = first.lower().replace("\u2010", "-"), second.lower()
    joined, hyphenated = words[head + tail], words[f"{head}-{tail}"]
    if _CONJUNCTIONS.fullmatch(tail):
        return None
    if joined != hyphenated:
        return joined > hyphenated
    if head[-1].isdigit() or (tail[0].isdigit() and first[-1].isupper()):
        # `DP10-10`, `96-well`, `IL-6`.
        return False
    if second[0].islower():
        return _is_division_by_rule(first, head, tail, words)
    # `Rutgers-Newark`, `PHOTO-CATALYST`. What follows half a word so is another column's.
    if tail[0].isdigit() or not (first[0].isupper() or words[head]):
        return None
    return first.isupper() and second.isupper() and words[head] == 0


def _is_division_by_rule(first: str, head: str, tail: str, words: Counter[str]) -> bool | None:
    is_compound = "-" in head or _COMBINING.fullmatch(head) or _PARTICLES.fullmatch(tail)
    if is_compound or len(head) == 1:
        return False
    if _SUFFIXES.fullmatch(tail) or not first[-1].islower():
        return None
    are_words = words[head] >= _MIN_COUNT and words[tail] >= _MIN_COUNT
    return False if are_words and min(len(head), len(tail)) >= _MIN_PART_LETTERS else None
