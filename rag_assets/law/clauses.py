"""Paragraphs (款) and items (项) of a Chinese article: 第二十条第二款, 第三十九条第（二）项.

A paragraph is what stands between two line ends, but for lines that a page breaks; items are
numbered in parentheses and belong to the paragraph that leads to them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.law.numbers import NUMBER, read_number, write_number

# An article with the clause of it that is named; of several clauses none is read.
ARTICLE_AND_CLAUSE = (
    rf"第\s?(?P<number>{NUMBER})\s?条(?:\s?之\s?(?P<part>{NUMBER}))?"
    rf"(?:第\s?(?P<paragraph>{NUMBER})\s?款)?(?:第?\s?[(（]?(?P<item>{NUMBER})[)）]?\s?项)?"
    rf"(?P<more>(?:[、,，和与及至到或]|以及)\s?第?\s?[(（]?{NUMBER}[)）]?\s?[款项])?"
)
_ITEM = re.compile(rf"[#>*_\s\u3000]*[(（]\s?(?P<number>{NUMBER})\s?[)）]")
_SUBITEM = re.compile(r"[#>*_\s\u3000]*(?:\d{1,2}\s?[.、．]|[⒈-⒛①-⑳])")
# What stands between two articles.
_HEADING = re.compile(rf"\s*#|[*_\s\u3000]*第\s?{NUMBER}\s?(?:编|分编|章|节)(?:[\s\u3000]|$)")
_LINE = re.compile(r"[^\r\n]+")
# A line that ends otherwise goes on in the next one.
_ENDS = tuple("。；;：:！？!?”』」）)")


@dataclass(frozen=True, slots=True)
class Clause:
    """A paragraph without its items, or one item of it.

    Args:
        paragraph: from 1.
        item: as it is numbered; None for the words that are no item.
        shown: as it is cited behind its article; empty where the article has no other clause.
        start: offset of its first character in the article; `end` that behind its last.
    """

    paragraph: int
    item: int | None
    shown: str
    start: int
    end: int


def find_clauses(article: str) -> list[Clause]:
    """Return the clauses of an article, in their order.

    Args:
        article: its text, from its 第…条 on.
    """
    found: list[tuple[int, int | None, int, int]] = []
    paragraph, is_open = 0, False
    for match in _LINE.finditer(article):
        line = match.group().rstrip()
        if not line.strip():
            continue
        if found and _HEADING.match(line):
            break
        item = _ITEM.match(line)
        if item is not None and paragraph:
            found.append((paragraph, read_number(item["number"]), *match.span()))
        elif found and (is_open or _SUBITEM.match(line)):
            found[-1] = (*found[-1][:3], match.end())
        else:
            paragraph += 1
            found.append((paragraph, None, *match.span()))
        is_open = not line.endswith(_ENDS)
    return [
        Clause(of, number, _shown(of, number, paragraph), start, end)
        for of, number, start, end in found
    ]


def read_clause(match: re.Match[str]) -> tuple[int | None, int | None]:
    """Return paragraph and item that a match of `ARTICLE_AND_CLAUSE` names, None for what not."""
    if match["more"]:
        return None, None
    paragraph, item = (
        read_number(match[kind]) if match[kind] else None for kind in ("paragraph", "item")
    )
    return paragraph, item


def pick_clause(
    clauses: Sequence[Clause], paragraph: int | None, item: int | None
) -> Clause | None:
    """Return the clause that is named, None where nothing is named or the article has it not.

    An item without a paragraph is the first of its number.
    """
    if paragraph is None and item is None:
        return None
    return next(
        (
            clause
            for clause in clauses
            if paragraph in {None, clause.paragraph} and clause.item == item
        ),
        None,
    )


def _shown(paragraph: int, item: int | None, paragraphs: int) -> str:
    told = f"第{write_number(paragraph)}款" if paragraphs > 1 else ""
    return told + (f"第{write_number(item)}项" if item is not None else "")
