"""What texts share: Chinese characters, pictures, rules over words, counts and CSV."""

import csv
import io
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.model.errors import UsageError

# Which characters are Chinese. The strings are ranges for classes of regular expressions, each
# within the next: `[{HAN_RANGES}]`.

# Ideographs: unified, extension A, compatibility, and the two planes that extensions fill.
HAN_RANGES = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# With kana and the marks that stand instead of an ideograph (々 〆 〇): written without
# spaces, one token or more a character in every tokenizer. Hangul is written with spaces and
# counts as words.
CJK_RANGES = rf"\u3005-\u3007\u3040-\u30ff{HAN_RANGES}"
# With radicals, hangul's letters, punctuation and full-width forms: what is set without blanks.
EAST_ASIAN_RANGES = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
HAN = re.compile(f"[{HAN_RANGES}]")

_CJK = re.compile(f"[{CJK_RANGES}]")
# An English sentence has as many letters as three times a Chinese one.
_LETTERS_OF_A_HAN = 3


def count_han(text: str) -> int:
    """Return how many ideographs a text has."""
    return len(HAN.findall(text))


def count_cjk(text: str) -> int:
    """Return how many characters of a text are ideographs, kana or marks in their place."""
    return len(_CJK.findall(text))


def is_chinese(text: str) -> bool:
    """Say whether a text is mainly Chinese, whatever Latin names stand in it."""
    characters = count_cjk(text)
    letters = sum(map(str.isalpha, text)) - characters
    return _LETTERS_OF_A_HAN * characters > max(letters, 0)


# Where a picture is in a clean text: `![Figure 3](attachment:fig-003)`. The reference is part of
# the text that all offsets count; a person sees what it names.

# The name may hold brackets, one in another: “Fig. [3] a”.
FIGURE = re.compile(r"!\[(?P<name>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\(attachment:[^\s()]*\)")


def show_figures(text: str) -> str:
    """Return a text for a person: instead of each picture its name, `[Figure 3]`."""
    return FIGURE.sub(lambda figure: f"[{figure['name'].strip() or 'picture'}]", text)


# Rules that words alone decide: each with an example that fires and one that does not.


@dataclass(frozen=True, slots=True)
class TextRule:
    """One rule over a text; `benchmarks/rules_ledger.py` counts what it is worth.

    Args:
        id: stable name, as the ledger and the docs call it.
        languages: in which it reads.
        says: what is taken of a text on which it fires.
        fires: a text on which it fires; `silent` on which it does not.
        check: whether it fires.
    """

    id: str
    languages: tuple[str, ...]
    says: str
    fires: str
    silent: str
    check: Callable[[str], bool]


# How sentences for people name a number of things and show a value.

# Characters of a value that a sentence shows: enough to know it again.
_SHOWN_CHARACTERS = 200
# A question, or a sentence whose evidence is looked for. Models hold the whole of it at once: a
# million words took 16 GB.
LONGEST_QUESTION = 20_000


def require_question(text: str) -> None:
    """Refuse what cannot be looked for.

    Raises:
        UsageError: there is no text, or too much.
    """
    if not any(map(str.isalnum, text)):
        raise UsageError("the question has no text. Write a question with words in it.")
    if len(text) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(text)} characters; at most {LONGEST_QUESTION} are allowed at "
            "once. Shorten it, or ask several questions."
        )


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 document`, `2 documents`.

    Args:
        plural: where it is not the noun with an s.
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


# Text on a terminal, whose columns a Chinese character takes two of.


def align(rows: Sequence[Sequence[str]], to_the_right: Collection[int] = ()) -> list[str]:
    """Return the lines of a table: the cells of a column begin at one column of the terminal.

    Args:
        to_the_right: numbers of columns whose cells end at one column.
    """
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def padded(number: int, cell: str) -> str:
        blanks = " " * (widths[number] - cell_len(cell))
        return blanks + cell if number in to_the_right else cell + blanks

    return ["  ".join(padded(*each) for each in enumerate(row)).rstrip() for row in rows]


def shorten(text: str, columns: int) -> str:
    """Return a text on one line of so many columns at most, cut between words with `…`."""
    from rich.cells import cell_len, set_cell_size

    text = " ".join(text.split())
    if cell_len(text) <= columns:
        return text
    kept = set_cell_size(text, columns - 1).rstrip()
    space = kept.rfind(" ")
    # Chinese has no spaces to cut at, and a long word must not take half of the sentence.
    if not text[len(kept)].isspace() and space > len(kept) * 2 // 3 and kept[-1].isascii():
        kept = kept[:space]
    return kept.rstrip(" ,;:，；：、") + "…"


def shown_value(value: Any) -> str:
    """Return a value as Python writes it, cut where it is long: a file may hold a book as a key."""
    written = repr(value)
    return written if len(written) <= _SHOWN_CHARACTERS else f"{written[:_SHOWN_CHARACTERS]}…"


# Tables that other programs open.

Cell = str | float | None
# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(rows: Sequence[Sequence[Cell]], line_end: str = "\n") -> str:
    """Return rows as CSV; a text that a spreadsheet would run begins with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=line_end)
    for row in rows:
        writer.writerow([_plain(cell) for cell in row])
    return out.getvalue()


def _plain(cell: Cell) -> str:
    if isinstance(cell, str):
        # A lone carriage return is not quoted, and would begin a row: `a\\r=1+1`.
        text = cell.replace("\r\n", "\n").replace("\r", "\n")
        return f"'{text}" if cell.startswith(_FORMULA) else text
    return "" if cell is None else repr(cell)
