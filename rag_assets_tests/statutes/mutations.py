"""Citations of a library with something in each that makes it name nothing."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.law import find_clauses, plain_name, write_number
from rag_assets.law.citing import write_citation


@dataclass(frozen=True)
class Cited:
    """An article of a library, known without looking it up.

    Args:
        law: title; `day` of its wording; `document` where it lies, `span` in its text.
    """

    law: str
    day: str
    document: str
    path: tuple[str, ...]
    key: str
    shown: str
    text: str
    span: tuple[int, int]

    def written(self, **changes: object) -> str:
        """Return its citation, with some parts of it changed."""
        parts = {"law": self.law, "path": self.path, "article": self.shown, "version": self.day}
        return write_citation(**{**parts, **changes})  # type: ignore[arg-type]


class Mutator:
    """Makes citations of what is not there.

    Args:
        articles: all of the library.
        seed: the same gives the same citations.
    """

    def __init__(self, articles: Sequence[Cited], seed: int = 7) -> None:
        self._articles = articles
        self._random = random.Random(seed)
        self._there: dict[str, set[str]] = {}
        self._levels: dict[str, list[tuple[str, ...]]] = {}
        # By name and key alone: what another law or chapter has of the same number.
        self._paths: dict[tuple[str, str], list[tuple[str, ...]]] = {}
        self._days: dict[str, set[str]] = {}
        for one in articles:
            name = plain_name(one.law)
            self._there.setdefault(name, set()).add(one.key)
            self._days.setdefault(name, set()).add(one.day)
            self._paths.setdefault((name, one.key), []).append(one.path)
            levels = self._levels.setdefault(name, [])
            if one.path and one.path not in levels[-1:]:
                levels.append(one.path)
        self._laws = sorted({one.law for one in articles})
        self._letters = sorted(set("".join(self._laws)) - set("《》<>()（）[] \u3000"))

    def mutations(self, count: int) -> Iterator[tuple[str, str]]:
        """Yield the kind of a mutation and the citation, the kinds in turn."""
        kinds: list[Callable[[Cited], str | None]] = [
            self._number, self._part, self._name, self._chapter, self._order,
            self._paragraph, self._item, self._law, self._day, self._no_article,
        ]  # fmt: skip
        made = 0
        while made < count:
            kind = kinds[made % len(kinds)]
            written = kind(self._random.choice(self._articles))
            if written is not None:
                made += 1
                yield kind.__name__.strip("_"), written

    def _without_day(self, one: Cited) -> Cited:
        """Leave the day of the wording away, half of the time."""
        return replace(one, day="") if self._random.random() < 0.5 else one

    def _number(self, one: Cited) -> str | None:
        """Change digits, to an article that no law of the name has."""
        there = self._there[plain_name(one.law)]
        number = str(self._random.randint(1, 2000))
        return (
            None
            if number in there
            else self._without_day(one).written(article=f"第{_digits(number)}条")
        )

    def _part(self, one: Cited) -> str | None:
        part = self._random.randint(1, 30)
        number = one.key.partition("-")[0]
        if f"{number}-{part}" in self._there[plain_name(one.law)]:
            return None
        return self._without_day(one).written(
            article=f"第{_digits(number)}条之{write_number(part)}"
        )

    def _name(self, one: Cited) -> str | None:
        place = self._random.randrange(len(one.law))
        law = one.law[:place] + self._random.choice(self._letters) + one.law[place + 1 :]
        return None if plain_name(law) in self._there else self._without_day(one).written(law=law)

    def _chapter(self, one: Cited) -> str | None:
        """Change the chapter to another one of the same law."""
        others = [path for path in self._levels[plain_name(one.law)] if path != one.path]
        if not others:
            return None
        path = self._random.choice(others)
        return (
            None
            if self._is_there(one.law, one.key, path)
            else self._without_day(one).written(path=path)
        )

    def _order(self, one: Cited) -> str | None:
        path = one.path[::-1]
        if self._is_there(one.law, one.key, path):
            return None
        return self._without_day(one).written(path=path)

    def _paragraph(self, one: Cited) -> str:
        beyond = max(clause.paragraph for clause in find_clauses(one.text)) + 1
        beyond += self._random.randrange(3)
        return one.written(article=f"{one.shown}第{write_number(beyond)}款")

    def _item(self, one: Cited) -> str:
        items = [clause.item or 0 for clause in find_clauses(one.text)]
        beyond = max(items) + 1 + self._random.randrange(3)
        return one.written(article=f"{one.shown}第{write_number(beyond)}项")

    def _law(self, one: Cited) -> str | None:
        """Move the article, below its chapter, to a law that has no such one."""
        law = self._random.choice(self._laws)
        if self._is_there(law, one.key, one.path):
            return None
        return write_citation(law, one.path, one.shown)

    def _day(self, one: Cited) -> str | None:
        day = f"{self._random.randint(1950, 2030)}-{self._random.randint(1, 12):02}-15"
        return None if day in self._days[plain_name(one.law)] else one.written(version=day)

    def _no_article(self, one: Cited) -> str:
        """Name a chapter alone, or an article without its 条."""
        return one.written(article=self._random.choice([one.shown.replace("条", ""), "第一章"]))

    def _is_there(self, law: str, key: str, path: Sequence[str]) -> bool:
        return any(_holds(own, path) for own in self._paths.get((plain_name(law), key), ()))


def _holds(own: Sequence[str], asked: Sequence[str]) -> bool:
    rest = iter(own)
    return all(level in rest for level in asked)


def _digits(number: str) -> str:
    return write_number(int(number))
