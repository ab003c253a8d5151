"""Items of a Chinese article read with the words that lead to them.

“（二）严重违反规章制度的；” says nothing alone: the words before the list say that the employer may
then dismiss. What cites the item says both.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.auditing.articles import clauses_of, read_articles
from rag_assets.auditing.library import CitedDocument
from rag_assets.law import NUMBER

_ARTICLE = re.compile(rf"^\W*第\s?{NUMBER}\s?条(?:\s?之\s?{NUMBER})?\s*")
_NUMBER = re.compile(rf"^\W*{NUMBER}\s?[)）]\s*")


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item of an article.

    Args:
        passage: that holds it, by its number.
        start: offset in the passage; `end` likewise.
        text: the words that lead to the item, and the item without its number.
    """

    passage: int
    start: int
    end: int
    text: str


def find_items(document: CitedDocument, passages: Sequence[int]) -> list[ListedItem]:
    """Return the items that stand in some passages, in their order."""
    articles = read_articles(document)
    keys = dict.fromkeys(part.key for i in passages for part in articles.parts_in(i))
    found = []
    for key in keys:
        leads: dict[int, str] = {}
        for number, start, end, clause in clauses_of(document, key):
            text = document.passages[number].text[start:end]
            if clause.item is None:
                leads[clause.paragraph] = leads.get(clause.paragraph, "") + _ARTICLE.sub("", text)
            elif number in passages:
                lead = leads.get(clause.paragraph, "").strip()
                told = f"{lead}{_NUMBER.sub('', text).rstrip('；;。 ')}。"
                found.append(ListedItem(number, start, end, told))
    return found
