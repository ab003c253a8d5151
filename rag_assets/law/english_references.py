"""Articles that an English text names, each with its law: “Article 17 of the GDPR”, “§ 230 CDA”."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rag_assets.law.articles import ArticleReference
from rag_assets.law.english_articles import find_english_mentions
from rag_assets.law.english_names import LAW_NOUNS, EnglishLawNames

_PART_OF_NAME = r"(?:\d+/\d+(?:/[A-Z]{2,4})?|\(\w{1,12}\)|[A-Za-z&][\w'’.&-]*|\d{4})"
_AFTER = re.compile(
    rf"^[\s,]*(?P<of>(?:of|in|from|under)\s+)?"
    rf"(?P<run>{_PART_OF_NAME}(?:\s+{_PART_OF_NAME}){{0,13}})"
)
_BEFORE = re.compile(rf"(?P<run>(?:{_PART_OF_NAME}\s+){{0,9}}{_PART_OF_NAME})(?:['’]s)?[\s,:]*$")
# Capitals that no sentence begins with: GDPR, C.F.R.
_INITIALS = re.compile(r"[A-Z](?:\.?[A-Z]){2,7}\.?")
_YEARS = range(1900, 2100)


class _Law(NamedTuple):
    name: str
    documents: tuple[str, ...] = ()
    is_whole: bool = True
    is_full_name: bool = True


def find_english_references(text: str, laws: EnglishLawNames) -> Iterator[ArticleReference]:
    """Yield the articles that a text names, in their order; the law stands behind or before."""
    reached = 0
    for mention in find_english_mentions(text):
        after, before = text[mention.end :], text[reached : mention.start]
        law = _known_after(after, laws) or _known_before(before, laws) or _unknown_after(after)
        reached = mention.end
        for key, shown in mention.articles:
            number = key.rpartition(" ")[2]
            is_year = number.isdecimal() and int(number) in _YEARS
            if (law is None or not law.documents) and (is_year or mention.needs_law):
                continue  # “articles 2010 to 2020”
            bare = ArticleReference(key, shown, is_plain_word=mention.is_plain_word)
            yield bare if law is None else replace(
                bare, law=law.name, documents=law.documents, is_whole=law.is_whole,
                is_surely_law=law.is_full_name,
            )  # fmt: skip


def find_english_law(text: str, laws: EnglishLawNames) -> tuple[str, tuple[str, ...], bool] | None:
    """Return name, documents and whether it is their name of the law that a text ends with."""
    law = _known_before(text, laws)
    return None if law is None else (law.name, law.documents, law.is_whole)


def _known_after(text: str, laws: EnglishLawNames) -> _Law | None:
    match = _AFTER.match(text)
    if match is None:
        return None
    tokens = match["run"].split()
    return _first([" ".join(tokens[:end]) for end in range(len(tokens), 0, -1)], laws)


def _known_before(text: str, laws: EnglishLawNames) -> _Law | None:
    match = _BEFORE.search(text)
    if match is None:
        return None
    tokens = match["run"].split()
    return _first([" ".join(tokens[start:]) for start in range(len(tokens))], laws)


def _first(names: Sequence[str], laws: EnglishLawNames) -> _Law | None:
    """Return the longest of these names that is a law's, else that is taken for one."""
    found = []
    for name in names:
        documents, is_whole = laws.find(name)
        if documents:
            found.append(_Law(_plain(name), tuple(documents), is_whole))
    return next((law for law in found if law.is_whole), found[0] if found else None)


def _unknown_after(text: str) -> _Law | None:
    """Return the law that a text names and the library does not hold."""
    match = _AFTER.match(text)
    if match is None:
        return None
    tokens = match["run"].split()
    if match["of"] is not None:
        for place, token in enumerate(tokens):
            is_law = token.casefold() in LAW_NOUNS and token[0].isupper()
            if is_law and place >= 1 + (tokens[0].casefold() == "the"):
                return _Law(_plain(" ".join(tokens[: place + 1])))
    first = tokens[1] if tokens[0].casefold() == "the" and len(tokens) > 1 else tokens[0]
    if _INITIALS.fullmatch(first):
        return _Law(first, is_full_name=False)
    return None


def _plain(name: str) -> str:
    return re.sub(r"^the\s+|['’]s$", "", name, flags=re.IGNORECASE)
