"""What a command says of a pack or an audit on a terminal: short, in lines of its width.

The files that it names hold everything; `--full` prints them instead.
"""

import dataclasses
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from rag_assets.cli.options import DONE, FAILED, print_json
from rag_assets.model import EAST_ASIAN_RANGES, count_of, shorten

if TYPE_CHECKING:
    from rag_assets.answering import Answer
    from rag_assets.answering.law import LawAnswer, LawPoint, Words
    from rag_assets.auditing import CitationAudit, CitationVerdict
    from rag_assets.auditing.claims import ClaimAudit
    from rag_assets.evidence import EvidenceItem, EvidencePack, Replay

_WIDTHS = (60, 100)
_INDENT = "   "
# Quotes of a pack that are printed whole, and words of the others; its files have all of them.
_WHOLE_QUOTES, _QUOTED_WORDS = 3, 25

full_option = click.option(
    "--full", "is_full", is_flag=True, help="Print the whole file that is saved, as Markdown."
)


def summarise_pack(pack: "EvidencePack", told: Collection[str] = ()) -> str:
    """Return the passages of a pack, each with key and place, then the titles of its sources.

    Args:
        told: warnings of the pack that the command says elsewhere.
    """
    match = pack.match
    lines = [] if match is None or match.is_good else [*_wrapped(match.sentence or "", ""), ""]
    for item in pack.items:
        lines += [*_item(item, pack), ""]
    titles = {pack.short_citation(item): item.title for item in pack.items}
    lines += ["Sources"] if titles else []
    for key, title in titles.items():
        lines += _wrapped(f"{_INDENT}{key}: {title or key}", _INDENT * 2)
    lines += [""] if titles else []
    if not pack.items:
        lines += ["Nothing was found.", ""]
    for warning in pack.warnings:
        if warning not in told:
            lines += _wrapped(f"note: {warning}", "")
    return "\n".join(lines).rstrip()


def _item(item: "EvidenceItem", pack: "EvidencePack") -> Iterator[str]:
    from rag_assets.evidence.locating import first_words

    quote = item.shown_quote
    if item.rank > _WHOLE_QUOTES:
        quote = first_words(quote, _QUOTED_WORDS)
    cut = " …" if len(quote) < len(item.shown_quote) else ""
    place = f"[{pack.short_citation(item)}, {item.locator}]"
    yield from _wrapped(f"{item.rank}. “{quote}{cut}” {place}", _INDENT)
    if item.edited is not None:
        yield from _wrapped(f"{_INDENT}edited; searches read “{item.edited}”", _INDENT)
    if item.law is not None:
        from rag_assets.evidence.rendering import describe_law as describe_standing

        cited = f"{item.law.citation}: " if item.law.citation else ""
        yield from _wrapped(f"{_INDENT}{cited}{describe_standing(item.law, pack.as_of)}", _INDENT)


def summarise_answer(answer: "Answer") -> str:
    """Return the answer with its places, then its sources and what a reader has to know."""
    from rag_assets.answering import word_of

    lines: list[str] = []
    if not answer.is_found:
        lines = [*_wrapped(answer.notices[0], ""), ""]
        lines += [word_of(answer.question, "nearest"), ""] if answer.statements else []
    said = [f"{one.text} [{answer.place_of(one)}]" for one in answer.statements]
    for paragraph in said if answer.is_quoted else filter(None, [" ".join(said)]):
        lines += [*_wrapped(paragraph, ""), ""]
    lines += [word_of(answer.question, "sources")] if answer.sources else []
    for source in answer.sources:
        head = f"{answer.key_of(source.aliases[0])}: {source.title or source.doc_uid}"
        lines += _wrapped(f"{_INDENT}{head}", _INDENT * 2)
        for one in () if answer.is_quoted else answer.statements:
            if one.quote is not None and one.quote.alias in source.aliases:
                lines += _wrapped(
                    f"{_INDENT * 2}{one.quote.place}: “{one.quote.text}”", _INDENT * 2
                )
    if answer.unsupported:
        lines += ["", f"{word_of(answer.question, 'struck')}:"]
        for one in answer.unsupported:
            lines += [*_wrapped(f"- {one.text}", "  "), *_wrapped(f"  → {one.reason}", "    ")]
    notes = answer.notices[not answer.is_found :]
    lines += ["", *(line for notice in notes for line in _wrapped(notice, ""))] if notes else []
    return "\n".join(lines).strip()


def summarise_law_answer(answer: "LawAnswer") -> str:
    """Return what has to be known, the points, what conflicts, and every cited article whole."""
    from rag_assets.answering.law import show_rank, show_ranks, words_for

    words = words_for(answer.question)
    lines = [words.as_of.format(day=answer.as_of), ""]
    lines += [line for notice in answer.notices for line in (*_wrapped(notice, ""), "")]
    lines += _law_points(answer, words)
    for place, source in enumerate(answer.cited, start=1):
        text = answer.trace.passages[source.alias].text.strip()
        lines += [f"{place}. {source.citation}", show_rank(source, answer, words), text, ""]
    if len(answer.levels) > 1:
        lines += [*_wrapped(show_ranks(answer, words), ""), ""]
    lines += _law_conflicts(answer, words)
    if answer.dropped:
        lines.append(f"{words.dropped}:")
        for point in answer.dropped:
            lines += _dropped(point)
    return "\n".join(lines).rstrip()


def _law_points(answer: "LawAnswer", words: "Words") -> Iterator[str]:
    """Yield what a model wrote; articles that rules quote are shown below their rank alone."""
    for place, point in enumerate(() if answer.is_quoted else answer.points, start=1):
        yield from _wrapped(f"{place}. {point.statement.text}", _INDENT)
        yield from (f"{_INDENT}{cited}" for cited in point.citations)
        for told in point.exceptions:
            yield from _wrapped(f"{_INDENT}{words.exception}: {told}", _INDENT)
        yield ""


def _law_conflicts(answer: "LawAnswer", words: "Words") -> Iterator[str]:
    from rag_assets.answering.law import tell_conflict

    if not answer.conflicts:
        return
    yield f"== {words.conflicts}"
    for one in answer.conflicts:
        yield from _wrapped(f"- {tell_conflict(answer, one, words)}", "  ")
        for point in one.said:
            yield from _wrapped(f"  - {point.statement.text}", "    ")
        for alias in answer.only_beside(one):
            yield from ("", answer.trace.passages[alias].text.strip())
        yield ""


def _dropped(point: "LawPoint") -> Iterator[str]:
    cited = f" {' '.join(point.citations)}" if point.citations else ""
    yield from _wrapped(f"- {point.statement.text}{cited}", "  ")
    yield from _wrapped(f"  → {point.statement.reason}", "    ")


def print_replay(found: "Replay", as_json: bool) -> None:
    """Print whether what was made again is the same, and end with 1 where it is not."""
    if as_json:
        print_json({**dataclasses.asdict(found), "same": found.is_same})
    elif found.is_same:
        asked = ", ".join(found.publications) or "no publication"
        click.echo(f"{found.pack}: the same, byte for byte; made from {asked}.")
    else:
        click.echo(f"{found.pack}: not the same.")
        for sentence in found.differences:
            click.echo(f"  {sentence}")
    click.get_current_context().exit(DONE if found.is_same else FAILED)


def summarise_citations(audit: "CitationAudit", *, is_draft: bool = True) -> str:
    """Return what of the citations needs eyes, most urgent first, and which are supported.

    Args:
        is_draft: else they are those of a sentence on the command line: each is shown.
    """
    counts = ", ".join(f"{count} {status}" for status, count in audit.counts.items() if count)
    if not is_draft:
        return "\n".join(line for row in audit.rows for line in _citation(row))
    from rag_assets.auditing import place_in, unit_of

    unit = unit_of(audit.draft_name)
    lines: list[str] = []
    unchecked = sum(row.status == "ERROR" for row in audit.rows)
    if unchecked:
        verb = "was" if unchecked == 1 else "were"
        said = f"{unchecked} of {len(audit.rows)} citations {verb} not checked: see ERROR below."
        lines += [*_wrapped(said, ""), ""]
    lines += [*_wrapped(f"{audit.draft_name}: {counts or 'no citations'}", ""), ""]
    for row in sorted(audit.by_urgency, key=lambda row: row.status != "ERROR"):
        if row.status != "OK":
            where = place_in(audit.draft_name, row.line, row.file)
            lines += [*_citation(row, where), ""]
    sound = [
        f"{row.line} of {row.file}" if row.file else str(row.line)
        for row in audit.rows
        if row.status == "OK"
    ]
    if sound:
        lines += [*_wrapped(f"OK: the sentences in {unit} {', '.join(sound)}", ""), ""]
    for warning in audit.warnings:
        lines += _wrapped(f"note: {warning}", "")
    return "\n".join(lines).rstrip()


# What `rag check` prints at most, before it names the report; what does not fit is in that.
MOST_LINES = 37
_GROUPS = ("Cannot be checked", "Contradicted", "Differs", "Missing", "Weak", "Not read")
# The words that a count of a group has: `3 contradicted`.
_COUNTED = ("contradicted", "with other figures or words", "not found", "weak", "not read", "OK")
_SMALL_READER = (
    "The small built-in model is often unsure: read the weak ones yourself, or install a better "
    "one (`rag models add`)."
)
# How sure a model was; the report says it.
_MEASURED = re.compile(r" \((?:read|judged) by [^()]*(?:\([^()]*\)[^()]*)*\)")


def summarise_check(
    audit: "CitationAudit",
    keys: Mapping[tuple[str, str | None], str],
    sources: str,
    unread: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """Return the counts of a draft, then what needs attention first, in `MOST_LINES` at most.

    Args:
        keys: citation keys by namespace and uid.
        sources: where files of sources are put, as it is shown.
        unread: files that could not be read, each with the reason.
    """
    from rag_assets.auditing import urgency

    absent: dict[str, list[CitationVerdict]] = {}
    rows: list[CitationVerdict] = []
    for row in audit.rows:
        if row.reason_code == "not_in_library":
            absent.setdefault(row.reason.partition("“")[2].partition("”")[0], []).append(row)
        else:
            rows.append(row)
    counts = Counter(_COUNTED[urgency(row)] for row in rows if row.status != "ERROR")
    faulty = sum(row.status == "ERROR" for row in rows)
    told = [f"{counts[word]} {word}" for word in (_COUNTED[-1], *_COUNTED[:-1]) if counts[word]]
    told += [f"{faulty} cannot be checked"] if faulty else []
    cited = sum(map(len, absent.values()))
    verb = "cites a source" if cited == 1 else "cite sources"
    told += [f"{cited} {verb} not in {sources}"] if cited else []
    head = f"{audit.draft_name}: {count_of(len(audit.rows), 'citation')}"
    lines = [*_wrapped(f"{head}: {', '.join(told)}" if told else head, "")]

    tail: list[str] = []
    if absent:
        what = count_of(len(absent), "source")
        tail += ["", *_cut(f"Put the files of {what} into {sources}, and run the command again:")]
        shown_entries = (f"{_places(audit, own)}: {entry}" for entry, own in absent.items())
        tail += _first(list(shown_entries), 6, 1)
    if unread:
        tail += ["", f"{count_of(len(unread), 'file')} could not be read:", *_first(unread, 3, 2)]
    warnings = [*notes, *(one for one in audit.warnings if not one.startswith("Row "))]
    if counts["weak"] and audit.scorer == "reader":
        warnings.insert(0, _SMALL_READER)
    tail += ["", "Notes:", *_first(warnings, 2, 2)] if warnings else []

    rows = [row for row in rows if row.status != "OK"]
    plain = {row.number: _MEASURED.sub("", row.reason) for row in rows}
    alike = Counter(plain.values())
    # What has a reason of its own comes before what shares one, and what has least in the source
    # before the rest.
    rows.sort(key=lambda row: (
        _group(row), alike[plain[row.number]] > 1, plain[row.number], row.score or 0.0
    ))  # fmt: skip
    shown = 0
    for (place, reason), own in groupby(rows, key=lambda row: (_group(row), plain[row.number])):
        group = list(own)
        # Where nothing was read, the first sentence stands for all.
        parts = [[row] for row in group] if place else [group]
        sign = f" ({len(group)}, the weakest first)" if len(parts) > 1 else ""
        block = ["", *_cut(f"{_GROUPS[place]}{sign}: {reason}", 3)]
        for part in parts:
            block += _finding(part[0], _places(audit, part), keys)
            if len(lines) + len(block) + len(tail) > MOST_LINES - 2:
                break
            lines, block, shown = [*lines, *block], [], shown + len(part)
        if block:
            rest = len(rows) - shown
            lines += ["", f"… and {rest} more: `--format markdown` prints all."]
            break
    return "\n".join([*lines, *tail]).rstrip()


def _places(audit: "CitationAudit", rows: Sequence["CitationVerdict"]) -> str:
    """Return `line 4, 10 of sections/method.tex`."""
    from rag_assets.auditing import place_in

    *others, last = dict.fromkeys(row.line for row in rows)
    first = place_in(audit.draft_name, last, rows[0].file)
    unit, number, file = first.partition(f" {last}")
    return f"{unit} {', '.join(map(str, [*others, last]))}{file}" if number else first


def _group(row: "CitationVerdict") -> int:
    from rag_assets.auditing import urgency

    return 0 if row.status == "ERROR" else 1 + urgency(row)


def _finding(
    row: "CitationVerdict", where: str, keys: Mapping[tuple[str, str | None], str]
) -> Iterator[str]:
    """Yield where a sentence stands and what it cites, its words, and the source's."""
    key = keys.get((row.namespace or "", row.doc_uid)) or row.doc_uid
    cited = f"{row.cites} = {key}" if row.paired and row.cites != key else key
    place = f", {row.locator}" if row.locator else ""
    yield from _cut(f"{_INDENT}{where}, {cited}{place}")
    # A citation that belongs to the sentence is not a part of what it claims.
    is_written = row.paired or row.status == "ERROR"
    words = row.claim if row.is_clause or not is_written else row.sentence
    yield from _cut(f"{_INDENT}  {words or row.sentence}")
    if row.shown_quote:
        most = 3 if row.reason_code == "facts_differ" else 1  # the figure that differs is in it
        yield from _cut(f"{_INDENT}  source: “{row.shown_quote}”", most, f"{_INDENT}  ")


def _first(texts: Sequence[str], most: int, lines: int) -> list[str]:
    """Return the first texts, each in so many lines at most, and how many more there are."""
    more = [f"{_INDENT}… and {len(texts) - most} more"] if len(texts) > most else []
    return [line for text in texts[:most] for line in _cut(f"{_INDENT}{text}", lines)] + more


def _cut(text: str, most: int = 1, hang: str = _INDENT) -> list[str]:
    """Return the first lines of a text, the last of them marked where there is more."""
    lines = _wrapped(text, hang)
    if len(lines) <= most:
        return lines
    indent = text[: len(text) - len(text.lstrip())] if most == 1 else hang
    rest = " ".join(line.strip() for line in lines[most - 1 :])
    return [*lines[: most - 1], indent + shorten(rest, _columns() - len(indent))]


def _citation(row: "CitationVerdict", where: str = "") -> Iterator[str]:
    """Yield the lines of a verdict; of one in a draft with its place."""
    # Here, since the words that judging reads cost a question half a second.
    from rag_assets.judging import show_score

    score = f" {show_score(row.score)}" if row.score is not None and row.scored_by else ""
    place = f", {row.locator}" if row.locator else ""
    line = f"{where}: " if where else ""
    yield from _wrapped(f"{line}{row.status}{score}, {row.shown_citation}{place}", _INDENT)
    if where:
        yield from _wrapped(f"{_INDENT}{row.claim or row.sentence}", _INDENT)
    if row.paired and where:
        yield from _wrapped(f"{_INDENT}cites {row.doc_uid}: {row.paired}", f"{_INDENT}  ")
    if row.shown_quote:
        yield from _wrapped(f"{_INDENT}source: “{row.shown_quote}”", _INDENT)
    yield from _wrapped(f"{_INDENT}→ {row.reason}", f"{_INDENT}  ")


def summarise_claims(audit: "ClaimAudit") -> str:
    """Return the strong assertions that cite nothing, and what could be cited for each."""
    told = ", ".join(f"{count} {status}" for status, count in audit.counts.items() if count)
    head = f"{audit.draft_name}: {told or 'no strong assertion without a source'}"
    lines = [*_wrapped(head, ""), ""]
    from rag_assets.auditing import place_in
    from rag_assets.auditing.report import describe_place, other_place

    if audit.inconsistent:
        lines += ["Inconsistent in the draft", ""]
    for one in audit.inconsistent:
        lines += _wrapped(describe_place(one, audit.draft_name), _INDENT)
        lines += _wrapped(f"{_INDENT}{one.sentence}", _INDENT)
        where = other_place(one, audit.draft_name)
        reason = f"{one.reason} ({where})" if where else one.reason
        lines += [*_wrapped(f"{_INDENT}→ {reason}", f"{_INDENT}  "), ""]
    for row in audit.by_urgency:
        if row.status != "SUPPORTED":
            where = place_in(audit.draft_name, row.line, row.file)
            lines += _wrapped(f"{where}: {row.status}, {row.claim_type}", _INDENT)
            lines += _wrapped(f"{_INDENT}{row.claim_text}", _INDENT)
            lines += [*_wrapped(f"{_INDENT}→ {row.reason}", f"{_INDENT}  "), ""]
    for warning in audit.warnings:
        lines += _wrapped(f"note: {warning}", "")
    return "\n".join(lines).rstrip()


def _columns() -> int:
    least, most = _WIDTHS
    return min(max(shutil.get_terminal_size((80, 24)).columns, least), most)


# A line may end behind a word, and behind any character of a script without spaces.
_PIECE = re.compile(rf"[{EAST_ASIAN_RANGES}][^\w\s]*|[^\s{EAST_ASIAN_RANGES}]+|\s")


def _wrapped(text: str, indent: str) -> list[str]:
    """Return a text in lines of the terminal's width; Chinese characters take two columns."""
    from rich.cells import cell_len

    columns = _columns()
    line, lines = text[: len(text) - len(text.lstrip())], []
    for piece in _PIECE.findall(" ".join(text.split())):
        if cell_len(line + piece) > columns and line.strip():
            lines.append(line.rstrip())
            line = indent
        if piece.strip() or line.strip():
            line += piece
    return [*lines, line.rstrip()]
