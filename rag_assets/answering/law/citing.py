"""Which of the articles that were found a citation in an answer names; none is guessed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag_assets.agents import Passage
from rag_assets.answering.law.record import LawSource
from rag_assets.law import Clause, find_clauses, is_name_of, pick_clause
from rag_assets.law.citing import StatuteCitation, is_below, read_citation, write_citation
from rag_assets.model import UsageError

_ALIAS = re.compile(r"[\[【]?\s*(C\d+)\s*[\]】]?")
_INLINE = re.compile(r"\s*(?P<cited>[\[【［][^\[\]【】［］\n]*[>＞›][^\[\]【】［］\n]*[\]】］])")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The article that a citation names.

    Args:
        shown: its citation, with the clause where one is named.
        spans: where the clause stands in the article's text; None for the whole article.
    """

    alias: str
    shown: str
    spans: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class FoundArticles:
    """The articles that an answer may cite."""

    sources: Mapping[str, LawSource]
    passages: Mapping[str, Passage]

    def resolve(self, written: str) -> Resolved | str:
        """Return what a citation names, or why it names nothing that was found.

        The title must be the law's own, with or without the country; levels of the path, the day
        of the wording and the clause must fit where they are given. Without a day the wording in
        force is meant.
        """
        alias = _ALIAS.fullmatch(written.strip())
        if alias is not None:
            source = self.sources.get(alias[1])
            if source is None:
                return f"{alias[1]} is none of the articles that were found."
            return Resolved(source.alias, source.citation)
        try:
            asked = read_citation(written)
        except UsageError:
            return f"'{written}' is no citation of the form [law > chapter > article]."
        fitting = [one for one in self.sources.values() if _fits(one, asked)]
        if len(fitting) > 1:
            fitting = [one for one in fitting if one.standing == "in_force"]
        if len(fitting) != 1:
            found = "several" if fitting else "none"
            return f"It cites {written}, which is {found} of the articles that were found."
        return self._clause(fitting[0], asked, written)

    def _clause(self, source: LawSource, asked: StatuteCitation, written: str) -> Resolved | str:
        if asked.paragraph is None and asked.item is None:
            return Resolved(source.alias, source.citation)
        clauses = find_clauses(self.passages[source.alias].text)
        picked = pick_clause(clauses, asked.paragraph, asked.item)
        if picked is None:
            return f"It cites {written}: {source.article} has no such paragraph or item."
        own = read_citation(source.citation)
        shown = write_citation(
            source.law, source.path, source.article, picked.shown, own.version or ""
        )
        return Resolved(source.alias, shown, tuple(_spans(picked, clauses)))


def take_citations(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without the citations `[law > … > article]` in it, and these."""
    found = tuple(match["cited"] for match in _INLINE.finditer(text))
    return _INLINE.sub("", text), found


def _fits(source: LawSource, asked: StatuteCitation) -> bool:
    return (
        is_name_of(asked.law, source.law)
        and source.key == asked.key
        and asked.version in {None, source.version_date}
        and is_below(source.path, asked.path)
    )


def _spans(picked: Clause, clauses: list[Clause]) -> list[tuple[int, int]]:
    """Return where a clause stands: an item with the words that lead to it, a whole paragraph."""
    own = [one for one in clauses if one.paragraph == picked.paragraph]
    if picked.item is None:
        return [(one.start, one.end) for one in own]
    return [(one.start, one.end) for one in own if one.item in {None, picked.item}]
