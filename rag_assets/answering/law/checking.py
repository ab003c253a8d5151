"""What of an answer about law may be said: every statement by an article that says it, in force."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_assets.answering.agents import CheckedStatement, Passage
from rag_assets.answering.agents.statements import (
    StatementCode,
    StatementJudge,
    check_sentences,
    read_statements,
)
from rag_assets.answering.law.record import LawConflict, LawPoint, LawSource, Precedence
from rag_assets.law import Clause, find_clauses, is_name_of, own_name, pick_clause
from rag_assets.law.citing import StatuteCitation, is_below, read_citation, write_citation
from rag_assets.law.metadata import LawLevel
from rag_assets.model import UsageError
from rag_assets.retrieval.statutes import dropped_limit, exceptions_of, excepts, misplaced_lead

# Lower prevails. Local regulations and rules of departments have no order between them, and an
# interpretation explains laws: it yields to them and has no order with regulations.
_RANK = {
    LawLevel.CONSTITUTION: 0,
    LawLevel.LAW: 1,
    LawLevel.ADMINISTRATIVE: 2,
    LawLevel.LOCAL: 3,
    LawLevel.DEPARTMENT: 3,
}


def is_same_law(first: LawSource, second: LawSource) -> bool:
    """Say whether two articles are of wordings of one law."""
    return own_name(first.law) == own_name(second.law)


def find_precedence(first: LawSource, second: LawSource) -> tuple[Precedence, bool]:
    """Return by what one of two provisions prevails, and whether it is the first.

    Of one law the wording in force prevails, else the newer one. Of two laws the higher rank, and
    within one rank the newer. Whether one is special to the other is not looked at. Where nothing
    tells, `undecided`, and True.
    """
    if is_same_law(first, second):
        standing = (first.standing == "in_force") - (second.standing == "in_force")
        if standing:
            return "wording", standing > 0
        return _by_day(first, second, "wording")
    order = _order(first.level, second.level)
    if order is None:
        return "undecided", True
    return ("rank", order < 0) if order else _by_day(first, second, "date")


def _order(first: LawLevel | None, second: LawLevel | None) -> int | None:
    """Return below 0 where the first rank is higher, 0 for one rank, None where nothing tells."""
    if first is None or second is None:
        return None
    if first == second:
        return 0
    if LawLevel.INTERPRETATION in {first, second}:
        other = second if first == LawLevel.INTERPRETATION else first
        if _RANK[other] > _RANK[LawLevel.LAW]:
            return None
        return -1 if other == first else 1
    return (_RANK[first] - _RANK[second]) or None


def _by_day(first: LawSource, second: LawSource, by: Precedence) -> tuple[Precedence, bool]:
    if not (first.version_date and second.version_date):
        return "undecided", True
    if first.version_date == second.version_date:
        return "undecided", True
    return by, first.version_date > second.version_date


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
                return f"{alias[1]} is not among the articles found."
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


# Counts as code: raise it when the same answer over the same articles comes to another list.
LAW_CHECKING_VERSION = 2


@dataclass(frozen=True, slots=True)
class CheckedLaw:
    """What may be said, and what not."""

    points: tuple[LawPoint, ...]
    conflicts: tuple[LawConflict, ...]
    dropped: tuple[LawPoint, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    """A statement as it is written. `conflict` is the number of the conflict that it belongs to."""

    text: str
    citations: tuple[str, ...]
    conflict: int | None = None


def check_law(
    result: Mapping[str, Any],
    sources: Mapping[str, LawSource],
    passages: Mapping[str, Passage],
    judge: StatementJudge,
    as_of: str,
    *,
    is_quoted: bool,
) -> CheckedLaw:
    """Return what of an answer is kept.

    A statement is kept where each of its citations names an article that was found and is in force
    (or nobody knows), where the judge finds it supported by these, within the clause that is
    cited, and where it does not leave out the exception of the sentence that supports it. Of a
    conflict both sides must be so, of whatever standing, and the one that is said to prevail must.

    Args:
        result: arguments of `finish`.
        sources: articles that were found, by alias; `passages` their texts.
        is_quoted: points are articles, whole.
    """
    written = [*_points(result, is_quoted=is_quoted), *_sides(result)]
    articles = FoundArticles(sources, passages)
    found = [[articles.resolve(one) for one in each.citations] for each in written]
    # What names nothing is left as it is: it is no alias, and so refused.
    divided = [
        (
            number,
            each.text,
            [
                one.alias if isinstance(one, Resolved) else cited
                for one, cited in zip(own, each.citations, strict=True)
            ],
        )
        for number, (each, own) in enumerate(zip(written, found, strict=True), start=1)
    ]
    read = passages if is_quoted else _without_numbers(sources, passages)
    judged = check_sentences(divided, read, judge, is_quoted=is_quoted)
    points = [
        _point(statement, own, each, sources, passages, as_of, is_quoted=is_quoted)
        for statement, own, each in zip(judged, found, written, strict=True)
    ]
    kept = [
        point
        for point, each in zip(points, written, strict=True)
        if point.statement.is_supported and each.conflict is None
    ]
    conflicts, refused = _conflicts(result, points, written, sources)
    dropped = [
        *(
            point
            for point, each in zip(points, written, strict=True)
            if not point.statement.is_supported
        ),
        *refused,
    ]
    return CheckedLaw(
        tuple(kept),
        (*conflicts, *_changes(sources, kept, conflicts)),
        tuple(sorted(dropped, key=lambda point: point.statement.number)),
    )


def _without_numbers(
    sources: Mapping[str, LawSource], passages: Mapping[str, Passage]
) -> dict[str, Passage]:
    """Return the articles without their numbers: 第三条 is no word of the sentence behind it."""
    found = {}
    for alias, passage in passages.items():
        bare = passage.text.removeprefix(sources[alias].article).lstrip()
        start = passage.char_start + len(passage.text) - len(bare)
        found[alias] = replace(passage, text=bare, char_start=start)
    return found


def _points(result: Mapping[str, Any], *, is_quoted: bool) -> Iterator[_Written]:
    for point in result["points"]:
        if is_quoted:
            yield _Written(point["text"], tuple(point["citations"]))
        else:
            yield from _statements(point["text"], point["citations"])


def _sides(result: Mapping[str, Any]) -> Iterator[_Written]:
    for number, one in enumerate(result.get("conflicts") or ()):
        for side in ("prevails", "yields"):
            for each in _statements(one[f"{side}_says"], [one[side]]):
                yield replace(each, citations=(one[side],), conflict=number)


def _statements(text: str, citations: Iterable[str]) -> Iterator[_Written]:
    """Yield the sentences of a point, each with its own citations, else with the point's."""
    for line in text.split("\n"):
        bare, inline = take_citations(line)
        for said, marks in read_statements(bare):
            own = dict.fromkeys((*inline, *marks)) or dict.fromkeys(citations)
            yield _Written(said, tuple(own))


def _point(
    statement: CheckedStatement,
    resolved: Sequence[Resolved | str],
    written: _Written,
    sources: Mapping[str, LawSource],
    passages: Mapping[str, Passage],
    as_of: str,
    *,
    is_quoted: bool,
) -> LawPoint:
    shown = tuple(
        one.shown if isinstance(one, Resolved) else cited
        for one, cited in zip(resolved, written.citations, strict=True)
    )
    reasons = [one for one in resolved if isinstance(one, str)]
    if reasons:
        return LawPoint(_refused(statement, "unknown_alias", " ".join(reasons)), shown)
    if not statement.is_supported:
        return LawPoint(statement, shown)
    if written.conflict is None:
        for alias in statement.citations:
            if sources[alias].standing not in {"in_force", "unknown"}:
                told = sources[alias].standing.replace("_", " ")
                by = sources[alias].repealed_by
                why = f" ({by})" if by else ""
                reason = f"{sources[alias].citation} is {told} on {as_of}{why}."
                return LawPoint(_refused(statement, "not_in_force", reason), shown)
    if is_quoted:
        return LawPoint(statement, shown)
    found = [one for one in resolved if isinstance(one, Resolved)]
    faults = filter(
        None,
        (
            _other_clause(statement, found, passages),
            _other_lead(statement, passages),
            _left_out(statement, passages),
        ),
    )
    fault = next(faults, None)
    if fault is not None:
        return LawPoint(fault, shown)
    others = (
        told
        for alias in statement.citations
        for told in exceptions_of(passages[alias].text)
        if not excepts(statement.text)
    )
    return LawPoint(statement, shown, tuple(dict.fromkeys(others)))


def _other_clause(
    statement: CheckedStatement, resolved: Sequence[Resolved], passages: Mapping[str, Passage]
) -> CheckedStatement | None:
    """Refuse what another clause of the article says than the one that is cited."""
    quote = statement.quote
    own = [one for one in resolved if quote is not None and one.alias == quote.alias]
    if quote is None or any(one.spans is None for one in own):
        return None
    begin = passages[quote.alias].char_start
    first, last = quote.char_start - begin, quote.char_end - begin
    spans = [span for one in own for span in one.spans or ()]
    if any(start < last and first < end for start, end in spans):
        return None
    shown = ", ".join(one.shown for one in own)
    reason = f"The supporting words are in another clause of the article than {shown}."
    return _refused(statement, "wrong_clause", reason)


def _other_lead(
    statement: CheckedStatement, passages: Mapping[str, Passage]
) -> CheckedStatement | None:
    """Refuse what puts an item below the words that lead to another paragraph's items."""
    quote = statement.quote
    leads = None if quote is None else misplaced_lead(passages[quote.alias].text, statement.text)
    if leads is None:
        return None
    reason = f"What it says is below “{leads[0]}”, not below “{leads[1]}”."
    return _refused(statement, "wrong_clause", reason)


def _left_out(
    statement: CheckedStatement, passages: Mapping[str, Passage]
) -> CheckedStatement | None:
    """Refuse what leaves out the exception of the sentence that supports it."""
    quote = statement.quote
    if quote is None:
        return None
    passage = passages[quote.alias]
    begin = passage.char_start
    left = dropped_limit(
        passage.text, quote.char_start - begin, quote.char_end - begin, statement.text
    )
    if left is None:
        return None
    reason = f"It leaves out what limits the article: “{left}”"
    return _refused(statement, "drops_exception", reason)


def _conflicts(
    result: Mapping[str, Any],
    points: Sequence[LawPoint],
    written: Sequence[_Written],
    sources: Mapping[str, LawSource],
) -> tuple[list[LawConflict], list[LawPoint]]:
    """Return the conflicts that are kept, and their statements that are not."""
    kept: list[LawConflict] = []
    refused: list[LawPoint] = []
    for number, _ in enumerate(result.get("conflicts") or ()):
        own = [
            point
            for point, each in zip(points, written, strict=True)
            if each.conflict == number
        ]  # fmt: skip
        sound = [point for point in own if point.statement.is_supported]
        named = list(dict.fromkeys(p.statement.citations[0] for p in sound))
        if len(sound) < len(own) or len(named) != 2:
            reason = "The other side of the conflict is not supported, so that there is none."
        else:
            first, second = (sources[alias] for alias in named)
            by, is_first = find_precedence(first, second)
            if is_first:
                kept.append(LawConflict(by, first.alias, second.alias, tuple(own)))
                continue
            what = {"wording": "the wording that holds", "rank": "the higher rank"}
            reason = (
                f"{first.citation} does not prevail over {second.citation}: the latter is "
                f"{what.get(by, 'the newer law of the same rank')}."
            )
        refused += [
            replace(one, statement=_refused(one.statement, "wrong_precedence", reason))
            for one in sound
        ]
    return kept, refused


def _changes(
    sources: Mapping[str, LawSource],
    points: Sequence[LawPoint],
    conflicts: Sequence[LawConflict],
) -> Iterator[LawConflict]:
    """Yield the other wordings of articles that are cited, where they read otherwise."""
    cited = {alias for point in points for alias in point.statement.citations}
    told = {frozenset((one.prevails, one.yields)) for one in conflicts}
    for other in sources.values():
        pair = frozenset((other.alias, other.change_of or other.alias))
        if other.change_of is None or not pair & cited or pair in told:
            continue
        own = sources[other.change_of]
        _, is_first = find_precedence(own, other)
        first, second = (own, other) if is_first else (other, own)
        yield LawConflict("wording", first.alias, second.alias)


def _refused(statement: CheckedStatement, code: StatementCode, reason: str) -> CheckedStatement:
    return replace(statement, reason_code=code, reason=reason)
