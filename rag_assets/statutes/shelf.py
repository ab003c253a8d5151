"""The laws of a library by name: their wordings, which of them holds, and their articles."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Literal

from rag_assets.law import (
    Clause,
    LawNames,
    find_clauses,
    mark_name,
    pick_clause,
    plain_name,
    write_number,
)
from rag_assets.law.metadata import LawFacts, read_facts
from rag_assets.law.structure import LawText, Unit, read_laws
from rag_assets.model import UsageError
from rag_assets.parsing import read_parsed
from rag_assets.retrieval import Publications
from rag_assets.statutes.citing import StatuteCitation, read_citation, write_citation

Standing = Literal["in_force", "not_yet_in_force", "superseded", "repealed", "unknown"]
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
# Below it a name has nothing in common with another that a person would see (rapidfuzz WRatio,
# 0 to 100; its documentation calls 60 the usual lower bound of "similar").
_SIMILAR_NAME = 60.0
# Names that are told where none fits, and where several do.
_NAMED = 3


class UnknownLawError(UsageError):
    """No law of the library has the name, or several have."""


@dataclass(frozen=True, slots=True)
class LawVersion:
    """One wording of a law, as one document of the library holds it.

    Args:
        file: of the document.
        facts: what its text says of itself.
        named_on: the day in the file's name.
        holds_from: since when it holds: the day that its text gives, else that of its wording
            (`is_stated` is False then); None where neither is there.
        standing: on the day that was asked for.
    """

    namespace: str
    doc_uid: str
    content_hash: str
    file: str
    facts: LawFacts
    named_on: date | None
    standing: Standing = "unknown"

    @property
    def title(self) -> str:
        """Its title, else its file's name."""
        return self.facts.title or PurePosixPath(self.file).stem

    @property
    def version_date(self) -> date | None:
        """The day of this wording, by its text or by the file's name, the later of the two."""
        days = [day for day in (self.facts.version_date, self.named_on) if day is not None]
        return max(days, default=None)

    @property
    def is_stated(self) -> bool:
        """Whether the text says since when this wording holds."""
        stated, made = self.facts.effective_on, self.version_date
        return stated is not None and (made is None or stated >= made)

    @property
    def holds_from(self) -> date | None:
        """Since when it holds, by what is known."""
        return self.facts.effective_on if self.is_stated else self.version_date


@dataclass(frozen=True, slots=True)
class FoundArticle:
    """An article, cut out exactly.

    Args:
        text: the slice [start, end) of the document's clean text.
        clause: the paragraph or item that was asked for, 第一款第二项; the text is its own then.
        citation: that leads back to it.
        lead: where the words stand that lead to an item; None where no item was asked for.
    """

    version: LawVersion
    law_title: str
    path: tuple[str, ...]
    shown: str
    clause: str
    text: str
    start: int
    end: int
    citation: str
    lead: tuple[int, int] | None = None


class LawShelf:
    """The laws of publications that are held.

    Args:
        held: publications, as `OpenedLibrary.hold` gives them.
        as_of: the day on which a wording has to hold.
    """

    def __init__(self, held: Publications, as_of: date) -> None:
        self._held, self._as_of = held, as_of
        self._texts: dict[str, tuple[str, list[LawText]]] = {}
        self._versions: dict[str, list[LawVersion]] = {}

    @cached_property
    def _rows(self) -> dict[str, dict[str, Any]]:
        columns = ["doc_uid", "title", "source_uri", "content_hash", "content_ref"]
        return {
            f"{name}::{row['doc_uid']}": {**row, "namespace": name}
            for name, reader in self._held.readers.items()
            for row in reader.documents().select(columns).to_pylist()
        }

    @cached_property
    def _names(self) -> LawNames:
        return LawNames(
            {
                key: (row["title"] or "", PurePosixPath(row["source_uri"] or "").stem)
                for key, row in self._rows.items()
            }
        )

    @cached_property
    def _titles(self) -> list[str]:
        return sorted({plain_name(self._title_of(key)) for key in self._rows})

    def versions(self, name: str) -> list[LawVersion]:
        """Return the wordings of a law, the newest first.

        Of those that hold on the day the newest is in force, unless it was repealed; older ones
        are superseded. The books of one code, which lie in files of their own, are each in force.

        Raises:
            UnknownLawError: no document has that name, or it abbreviates those of several laws.
        """
        if name not in self._versions:
            found = sorted(map(self._version, self._named(name)), key=_by_day, reverse=True)
            self._versions[name] = list(self._judged(found))
        return self._versions[name]

    def _named(self, name: str) -> list[str]:
        """Return the documents of the one law that a name means."""
        keys, is_whole = self._names.find(name)
        if not keys:
            raise UnknownLawError(
                f"no law of this library is called {mark_name(name)}.{self._like(name)} "
                "`rag documents` lists the documents; give the title, in full or as it is "
                "abbreviated."
            )
        fitting = [] if is_whole else self._abbreviated(plain_name(name))
        if len(fitting) > 1:
            some = ", ".join(map(mark_name, fitting[:_NAMED]))
            more = f" and {len(fitting) - _NAMED} more" if len(fitting) > _NAMED else ""
            raise UnknownLawError(
                f"{mark_name(name)} abbreviates the names of several laws: {some}{more}. Give the "
                "title in full."
            )
        return keys

    def _abbreviated(self, plain: str) -> list[str]:
        """Return the names that end with one, or else have its characters in order."""
        ending = [title for title in self._titles if title.endswith(plain)]
        return ending or [
            title for title in self._titles if title[-1:] == plain[-1:] and _has(title, plain)
        ]

    def _title_of(self, key: str) -> str:
        row = self._rows[key]
        return row["title"] or PurePosixPath(row["source_uri"] or "").stem

    def _name_of(self, version: LawVersion, law: LawText) -> str:
        """Return a law's title, where it leads to its document, else the document's."""
        key = f"{version.namespace}::{version.doc_uid}"
        if law.title and key in self._names.find(law.title)[0]:
            return law.title
        return self._title_of(key)

    def _like(self, name: str) -> str:
        """Return a sentence with the names of laws that resemble one."""
        from rapidfuzz import process

        found = process.extract(
            plain_name(name), self._titles, limit=_NAMED, score_cutoff=_SIMILAR_NAME
        )
        near = ", ".join(mark_name(title) for title, *_ in found)
        return f" Did you mean {near}?" if near else ""

    def article(self, citation: StatuteCitation | str) -> FoundArticle:
        """Return the article, or the clause of it, that a citation names.

        The wording is the one that is named, else the one in force.

        Raises:
            UsageError: there is no such law, wording, article or clause; what is near is named.
        """
        asked = read_citation(citation) if isinstance(citation, str) else citation
        versions = self.versions(asked.law)
        if asked.version is not None:
            chosen = [one for one in versions if str(one.version_date) == asked.version]
        else:
            chosen = [one for one in versions if one.standing == "in_force"]
        if not chosen:
            days = ", ".join(f"{one.version_date} ({one.standing})" for one in versions)
            raise UsageError(
                f"{mark_name(asked.law)} has no wording "
                + (f"of {asked.version}" if asked.version else f"in force on {self._as_of}")
                + f". There are: {days}."
            )
        for version in chosen:
            found = self._cut_out(version, asked, is_one_of_several=len(versions) > 1)
            if found is not None:
                return found
        raise UsageError(self._nearest(chosen, asked))

    def _version(self, key: str) -> LawVersion:
        row = self._rows[key]
        text, laws = self._read(key)
        day = _DAY.search(PurePosixPath(row["source_uri"] or "").stem)
        return LawVersion(
            row["namespace"],
            row["doc_uid"],
            row["content_hash"],
            row["source_uri"],
            read_facts(text, laws[0]),
            date.fromisoformat(day.group()) if day else None,
        )

    def _read(self, key: str) -> tuple[str, list[LawText]]:
        if key not in self._texts:
            path = self._held.workspace.root / "data" / self._rows[key]["content_ref"]
            text = read_parsed(path)[0].text
            self._texts[key] = text, read_laws(text)
        return self._texts[key]

    def _judged(self, newest_first: Sequence[LawVersion]) -> Iterator[LawVersion]:
        holding: date | None = None
        for version in newest_first:
            standing: Standing
            since, repealed = version.holds_from, version.facts.repealed_on
            if repealed is not None and repealed <= self._as_of:
                standing = "repealed"
            elif since is not None and since > self._as_of:
                standing = "not_yet_in_force"
            elif holding is not None and version.version_date != holding:
                standing = "superseded"
            else:
                standing = "in_force"
                holding = version.version_date
            yield replace(version, standing=standing)

    def _cut_out(
        self, version: LawVersion, asked: StatuteCitation, *, is_one_of_several: bool
    ) -> FoundArticle | None:
        text, _ = self._read(f"{version.namespace}::{version.doc_uid}")
        for law, unit in self._articles(version, asked):
            if unit.article is None or unit.article.key != asked.key:
                continue
            if not _is_below(unit, asked.path):
                continue
            begin, end = unit.start, unit.start + len(text[unit.start : unit.end].rstrip())
            start, clause, lead = begin, "", None
            if asked.paragraph is not None or asked.item is not None:
                clauses = find_clauses(text[begin:end])
                picked = pick_clause(clauses, asked.paragraph, asked.item)
                if picked is None:
                    return None
                first, last = _span_of(picked, clauses)
                clause, start, end = picked.shown, begin + first, begin + last
                above = pick_clause(clauses, picked.paragraph, None)
                if picked.item is not None and above is not None:
                    lead = begin + above.start, begin + above.end
            title = self._name_of(version, law)
            is_named = is_one_of_several or version.standing != "in_force"
            day = str(version.version_date) if is_named else ""
            citation = write_citation(title, unit.path, unit.article.shown, clause, day)
            return FoundArticle(
                version, title, unit.path, unit.article.shown, clause, text[start:end],
                start, end, citation, lead,
            )  # fmt: skip
        return None

    def _articles(
        self, version: LawVersion, asked: StatuteCitation
    ) -> Iterator[tuple[LawText, Unit]]:
        """Yield the articles of a document; of one with several laws those of the law that is
        named, else of its first, whose title is the document's.
        """
        _, laws = self._read(f"{version.namespace}::{version.doc_uid}")
        own = [law for law in laws if plain_name(law.title or "") == plain_name(asked.law)]
        for law in own or laws[:1]:
            for unit in law.units:
                if unit.article is not None:
                    yield law, unit

    def _nearest(self, versions: Sequence[LawVersion], asked: StatuteCitation) -> str:
        """Return what to say of an article that is not there."""
        every = [one for version in versions for one in self._articles(version, asked)]
        title = versions[0].title
        if not every:
            return f"{mark_name(title)} has no articles."
        same = [
            (law, unit) for law, unit in every if unit.article and unit.article.key == asked.key
        ]
        number, _, part = asked.key.partition("-")
        wanted = int(number), int(part or 0)
        law, unit = (same or [min(every, key=lambda one: _far(one[1], wanted))])[0]
        shown = unit.article.shown if unit.article else ""
        near = write_citation(self._name_of(versions[0], law), unit.path, shown)
        if same:
            where = " > ".join(unit.path) or "no chapter"
            return (
                f"{shown} of {mark_name(title)} has no such clause, or stands elsewhere: it is "
                f"below {where}. The nearest is {near}."
            )
        named = f"第{write_number(int(number))}条" + (
            f"之{write_number(int(part))}" if part else ""
        )
        return f"{mark_name(title)} has no {named}. The nearest is {shown}: {near}."


def _has(title: str, characters: str) -> bool:
    rest = iter(title)
    return all(character in rest for character in characters)


def _by_day(version: LawVersion) -> date:
    return version.version_date or date.min


def _far(unit: Unit, wanted: tuple[int, int]) -> tuple[int, int]:
    number, part = unit.article.number if unit.article else (0, 0)
    return abs(number - wanted[0]), abs(part - wanted[1])


def _span_of(picked: Clause, clauses: Sequence[Clause]) -> tuple[int, int]:
    """Return where a clause stands in its article; a paragraph with its items."""
    if picked.item is not None:
        return picked.start, picked.end
    return picked.start, max(one.end for one in clauses if one.paragraph == picked.paragraph)


def _is_below(unit: Unit, path: Sequence[str]) -> bool:
    """Say whether a unit stands below levels that a citation names, all or some, in order."""
    rest = iter([_folded(level) for level in unit.path])
    return all(_folded(level) in rest for level in path)


def _folded(level: str) -> str:
    return "".join(unicodedata.normalize("NFKC", level).split())
