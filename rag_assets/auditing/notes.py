"""References in footnotes: written out, shortened, or pointing back (“ibid.”, “see note 3”)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.auditing.citation_forms import (
    ANCHOR,
    LATEX,
    PANDOC,
    PLACE,
    STATUTE,
    Citation,
    LocatorHint,
    WrittenCitation,
    find_laws_in_words,
    read_hint,
)
from rag_assets.auditing.references import YEAR, Entry, fold, parse_entry
from rag_assets.model import HAN, HAN_RANGES

# The notes of a draft in Markdown, and the parts of a note that cite one source each.

_DEFINITION = re.compile(r"(?m)^\[\^(?P<label>[^\]\s]+)\]:[ \t]*")
_NOTE_END = re.compile(r"\n(?=\s*\n|\[\^[^\]\s]+\]:)|\Z")
_MARK = re.compile(r"\[\^(?P<label>[^\]\s]+)\](?!:)")
_LEAD = (
    r"(?:(?:but\s+)?see(?:\s+also)?|cf\b\.?|compare|e\.g\.,?|for\s+example,?|accord|contra|"
    r"for\s+(?:\w+\s+){1,4}see|(?:vgl\.?|siehe|so|ähnlich|dazu|hierzu)(?:\s+auch)?|"
    r"(?:quoted|cited)\s+(?:in|from)|zit(?:iert)?\.?\s+nach|"
    r"(?:可)?(?:参见|参看|参阅|详见|另见|又见|转引自|引自|见))[,:：]?"
)
_LEADS = re.compile(rf"(?:\s*{_LEAD}(?:\s+|(?<=[{HAN_RANGES}:：])))*\s*", re.IGNORECASE)
_PART_END = re.compile(rf"[;；]\s*|(?<=[.。])\s*(?={_LEAD}\s)", re.IGNORECASE)
# A citation that says itself which document it means.
_CITED = re.compile(rf"{ANCHOR}|{PANDOC}|{STATUTE}|{LATEX.format('command')}")
_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}|[*_]{1,3}(?!\w)|\\(?=[*_\\])")

# Names at the beginning of a reference: `Fay Chang`, `F. Chang and J. Dean`, `Chang, F.; Dean, J.`,
# `Chang, Fay/Dean, Jeffrey:`, 张三、李四：.
_UP = r"A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f"
_WORD = rf"[{_UP}][\w'’\-]+"
_PARTICLE = r"(?:(?:van|von|vom|de|der|den|del|della|di|da|dos|du|la|le|al|zu)\s+){0,3}"
_FULL = rf"(?:(?:{_WORD}|[{_UP}]\.)[\s\-]*){{1,3}}(?<=[\s.])\s*{_PARTICLE}{_WORD}"
_INVERTED = rf"{_PARTICLE}{_WORD},\s*(?:[{_UP}]\.[\s\-]?){{1,4}}"
_SLASHED = rf"{_PARTICLE}{_WORD},\s*{_WORD}(?:\s+(?:{_WORD}|[{_UP}]\.))?"
_NAME_ALONE = re.compile(rf"\s*(?:(?i:{_LEAD})\s+)?{_INVERTED}\s*")
_AND = r"(?:\s*,)?\s*(?:\band\b|&|\bund\b|\bet\b|\by\b)\s*"
_OTHERS = r"(?:,?\s*(?:et\s+al\b\.?|u\.\s?a\.|and\s+others|等人?))"
_EDITED = r"(?:,?\s*[(（]?(?:eds?|hrsg|hg)\b\.?[)）]?|主编|编著?|著)"
_HAN_NAME = rf"(?:[\[［〔（(][{HAN_RANGES}]{{1,3}}[\]］〕）)]\s*)?[{HAN_RANGES}·]{{2,12}}?"
_NAMES = re.compile(
    rf"""
    (?:(?P<han>{_HAN_NAME}(?:[、，]{_HAN_NAME}){{0,8}})(?:等人?)?{_EDITED}?\s*[:：，,]\s*(?=《)
    | (?P<list>(?:{_FULL}(?:,\s*{_FULL}){{0,8}}{_AND}{_FULL}
        | {_INVERTED}(?:(?:{_AND}|\s*[,;/]\s*){_INVERTED}){{0,8}}
        | {_SLASHED}(?:\s*/\s*{_SLASHED}){{0,8}}(?=\s*:)
        | {_FULL}){_OTHERS}?{_EDITED}?)
      (?:\s*[,:]\s*|\s+(?=[“"‘(（]))
    )
    """,
    re.VERBOSE,
)
_KIND_MARK = re.compile(r"[\[［](?:[JMCDNRSPG]|EB|DB|Z)(?:/OL)?[\]］]")
_TITLE = re.compile(r"[“\"«„][^”\"»“]{4,300}[”\"»“]|《[^》]{2,120}》")
_PLAIN_TITLE = re.compile(r"[^,(（]{4,}?(?=\s*(?:[,(（]|\.\s|\Z))")
_ADDRESS = re.compile(r"\b(?:doi:?\s*)?10\.\d{4,9}/\S+|https?://\S+", re.IGNORECASE)
# “OSDI 2006”, “in: Der Staat 12 (1973)”, “3. Aufl. 2019” at the end.
_VENUE = re.compile(
    rf"[,.]\s*(?:in:?\s+)?(?:\d{{1,2}}\.\s*)?[{_UP}][^,]{{0,80}}?\b{YEAR}\s*(?:,|\.?\s*\Z)"
)
_NUMBER = r"\d{1,4}(?:\s*[-–—]{1,2}\s*\d{1,4})?(?:\s*ff?\b\.?)?"
_PRINTED = re.compile(
    rf"[(（][^()（）]*?{YEAR}[a-z]?[)）](?:[,:]?\s*{_NUMBER}(?![\w.]*\w))?|{YEAR}\s*年"
)
# A page without its `p.`: “at 12”, “(OUP 2006) 12”, “, 195.”
_BARE_PAGE = re.compile(
    rf"(?:\bat|\bhier|[,:)\]）〕])\s*(?P<pages>{_NUMBER})\s*[)）]?\s*[.。]?\s*\Z"
)
_MOST_PAGES = 10
_WORDS_BEHIND = 4

# What points back.
_SAME = re.compile(
    r"(?:ibid(?:em)?|ebd|ebenda|idem?|loc\.?\s?cit|a\.?\s?a\.?\s?O|同上[注书文]?|同前[注书文]?|前引书)"
    r"(?!\s*\d*注)(?![A-Za-z])\.?",
    re.IGNORECASE,
)
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_TO_NOTE = re.compile(
    rf"(?P<who>[^\d()（）《》]{{0,60}}?)[,，\s]*(?:[(（]\s*)?(?:(?:supra|above|oben|wie|前引?|前揭|同前?)\s*)?"
    rf"(?:\b(?:foot)?notes?|\bn\.?|\bfn\.?|\bfußn(?:ote|\.)|\banm(?:erkung|\.)|脚?注释?)\s*"
    rf"[\[〔(（]?\s*(?P<number>\d{{1,4}}|[{_CIRCLED}])\s*[\]〕)）]?",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"(?P<who>[^\d()（）《》]{2,60}?)[,，]?\s*(?:op\.?\s?cit|loc\.?\s?cit|a\.?\s?a\.?\s?O|supra|前引[书文]|"
    r"前揭[书文]|同前[书文])\.?(?!\s*(?:note|n\.))",
    re.IGNORECASE,
)
_SHORT = re.compile(
    rf"(?P<who>{_PARTICLE}{_WORD}(?:{_AND}{_WORD})?|[{HAN_RANGES}·]{{2,4}}){_OTHERS}?"
    rf"(?:[,:，：]\s*|\s+(?=[(（“\"\d])|(?=《))(?P<what>.+)"
)
_NAME = re.compile(rf"{_PARTICLE}{_WORD}(?:{_AND}{_WORD})?|[{HAN_RANGES}·]{{2,4}}")
_SMALL = re.compile(r"\b(?:above|supra|oben|at|and|hier|f{1,2}|in|see)\b|[第页頁]", re.IGNORECASE)


def find_note_references(
    text: str, entries: Sequence[Entry], taken: Sequence[WrittenCitation]
) -> tuple[tuple[WrittenCitation, ...], tuple[Entry, ...]]:
    """Return the citations in the notes of a draft, and the sources that they write out.

    A note that explains something is left alone.

    Args:
        text: of the draft, in Markdown.
        entries: its references that are known already; those of the notes follow them.
        taken: citations that were found already, those of fields of Word.

    Returns:
        Citations by their place; their entries count on behind `entries`. One that points to a
        source that the draft names nowhere has none.
    """
    reader = _NoteReader([*entries])
    for label, start, end in _notes_in_order(text):
        held = [one for one in taken if start <= one.start and one.end <= end]
        reader.read(label, text, start, end, held)
    written = sorted(reader.written, key=lambda one: one.start)
    return tuple(written), tuple(reader.entries[len(entries) :])


def _notes_in_order(text: str) -> list[tuple[str, int, int]]:
    """Return label, start and end of every note, in the order of their marks."""
    order = {label: n for n, label in reversed([*enumerate(_MARK.findall(text))])}
    notes = []
    for match in _DEFINITION.finditer(text):
        end = _NOTE_END.search(text, match.end())
        notes.append((match["label"], match.end(), end.start() if end else len(text)))
    return sorted(notes, key=lambda note: order.get(note[0], len(order)))


@dataclass(frozen=True, slots=True)
class _Found:
    """Which sources a part of a note means; `end` of its reference in the part."""

    sources: tuple[int, ...]
    hint: LocatorHint | None
    end: int


class _NoteReader:
    """Reads notes one after another and remembers what each cites."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.written: list[WrittenCitation] = []
        self._by_note: dict[str, tuple[int, ...]] = {}
        self._by_number: list[tuple[int, ...]] = []
        self._last: tuple[int, ...] = ()

    def read(
        self, label: str, text: str, start: int, end: int, held: Sequence[WrittenCitation]
    ) -> None:
        """Read the note [start, end) of a text; `held` are the citations that it holds already."""
        cited: dict[int, None] = {}
        before = {c.start: c.entries for one in held for c in one.citations}
        for first, last in _parts(text, start, end):
            known = [sources for at, sources in before.items() if first <= at < last]
            if known or any(one.start < last and first < one.end for one in held):
                self._last = tuple(dict.fromkeys(one for each in known for one in each))
            elif (found := self._read_part(text[first:last])) is not None:
                words = " ".join(text[first : first + found.end].split()).rstrip(".。")
                citation = Citation(
                    None, words, first, first + found.end, "written", found.hint,
                    entries=found.sources,
                )  # fmt: skip
                self.written.append(WrittenCitation(first, citation.end, (citation,)))
                self._last = found.sources
            else:
                continue
            cited |= dict.fromkeys(self._last)
        self._by_note[label] = tuple(cited)
        self._by_number.append(tuple(cited))

    def _read_part(self, written: str) -> _Found | None:
        if _CITED.search(written) or next(find_laws_in_words(written, 0), None) is not None:
            return None
        lead = _LEADS.match(written)
        at = lead.end() if lead is not None else 0
        plain = written[at:].rstrip()
        for read in (self._read_same, self._read_to_note, self._read_full, self._read_again):
            found = read(plain)
            if found is not None:
                return replace(found, end=at + found.end)
        return None

    def _read_same(self, text: str) -> _Found | None:
        match = _SAME.match(text)
        if match is None or not _only_place(text[match.end() :]):
            return None
        return _Found(self._last, _place(text[match.end() :]), len(text))

    def _read_to_note(self, text: str) -> _Found | None:
        match = _TO_NOTE.match(text)
        if match is None or not _only_place(text[match.end() :]):
            return None
        number = match["number"]
        if number in _CIRCLED:
            number = str(_CIRCLED.index(number) + 1)
        position = int(number) - 1
        there = position < len(self._by_number)
        sources = self._by_note.get(number, self._by_number[position] if there else ())
        who = _first_name(match["who"])
        named = tuple(one for one in sources if _is_by(self.entries[one], who))
        if (
            len(who) > 1
            and not named
            and not any(fold(e.text).find(who) >= 0 for e in self.entries)
        ):
            return None  # words before it: “Compare the data of note 3”
        return _Found(named or sources, _place(text[match.end() :]), len(text))

    def _read_full(self, text: str) -> _Found | None:
        plain = _EMPHASIS.sub("", text)
        names, title = _NAMES.match(plain), _TITLE.search(plain)
        if names is not None:
            is_begun, behind = not plain[names.end() : names.end() + 1].islower(), names.end()
        else:
            # “Bigtable” (2006), not: “Bigtable” is a system of 2006.
            is_begun = title is not None and title.start() == 0
            is_begun = is_begun and not plain[title.end() if title else 0 :].lstrip()[:1].islower()
            behind = 0
        is_listed = _KIND_MARK.search(plain) is not None
        is_marked = (title is not None or plain != text) and re.search(YEAR, plain) is not None
        has_venue = plain[behind : behind + 1].isupper() and _VENUE.search(plain, behind)
        is_printed = is_marked or has_venue or _PRINTED.search(plain, behind)
        if not is_listed and not (is_begun and (is_printed or _ADDRESS.search(plain))):
            return None
        ends = [
            match.end()
            for pattern in (_PRINTED, _VENUE, PLACE, _BARE_PAGE, _ADDRESS)
            for match in pattern.finditer(plain, behind)
        ]
        end = max(ends, default=len(plain))
        if plain != text or len(plain[end:].split()) <= _WORDS_BEHIND:
            end = len(text)
        source = self._entry(plain[:end], names)
        return _Found((source,), _place_of_work(plain[behind:end]), end)

    def _entry(self, text: str, names: re.Match[str] | None) -> int:
        """Return the place of a reference that is written out, among those known or behind them."""
        entry = parse_entry(text)
        if names is not None:
            written = _TITLE.search(text) or _PLAIN_TITLE.match(text, names.end())
            title = entry.title if written is None else written.group().strip('“”"«»„《》 .,')
            entry = replace(entry, authors=_families(names) or entry.authors, title=title)
        title = fold(entry.title)
        for number, known in enumerate(self.entries):
            same = fold(known.title)
            if (title and title == same) or (len(same) > 8 and same in fold(text)):
                return number
        self.entries.append(entry)
        return len(self.entries) - 1

    def _read_again(self, text: str) -> _Found | None:
        """Read a reference that is shortened to a name and a word of its title, or its year."""
        plain = _EMPHASIS.sub("", text)
        again = _AGAIN.match(plain)
        short = _SHORT.match(plain)
        if again is not None and _only_place(plain[again.end() :]):
            who, what, place = again["who"], "", _place(plain[again.end() :])
        elif short is not None:
            who, place = short["who"], _place(short["what"])
            what = _BARE_PAGE.sub("", PLACE.sub(" ", short["what"]))
        else:
            return None
        name = _first_name(who)
        sources = [n for n, entry in enumerate(self.entries) if _is_by(entry, name)]
        words = [fold(word) for word in re.findall(r"\w+", what)]
        words = [word for word in words if word]
        fitting = [n for n in sources if all(word in _said(self.entries[n]) for word in words)]
        if again is not None and not sources and _NAME.fullmatch(who):
            return _Found((), place, len(text))  # to a source that the draft names nowhere
        if not fitting or (again is None and not words and len(fitting) > 1):
            return None
        # Of several works by one author the one that was cited last.
        recent = [n for n in self._recent() if n in fitting]
        return _Found((recent[0],) if again and recent else tuple(fitting), place, len(text))

    def _recent(self) -> Iterator[int]:
        for sources in reversed([*self._by_number, self._last]):
            yield from sources


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of a note that may cite one source each, blanks left out."""
    first = start
    for match in [*_PART_END.finditer(text, start, end), None]:
        last = match.start() if match is not None else end
        is_name = re.fullmatch(
            rf"\s*(?:{_LEAD}\s+)?{_INVERTED}\s*", text[first:last], re.IGNORECASE
        )
        if match is not None and is_name:
            continue  # `Chang, F.; Dean, J.: Bigtable`
        inside = text[first:last]
        if inside.strip():
            yield first + len(inside) - len(inside.lstrip()), first + len(inside.rstrip())
        first = match.end() if match is not None else end


def _families(names: re.Match[str]) -> tuple[str, ...]:
    if names["han"]:
        people = re.split("[、，]", names["han"])
        return tuple(re.sub(r"^[\[［〔（(].*?[\]］〕）)]\s*", "", person) for person in people)
    listed = re.sub(rf"{_OTHERS}|{_EDITED}", "", names["list"])
    inverted = re.findall(rf"({_PARTICLE}{_WORD}),\s*(?:[{_UP}]\.|{_WORD})", listed)
    if inverted and re.match(rf"{_INVERTED}|{_SLASHED}", listed):
        return tuple(inverted)
    people = re.split(rf",\s*(?!{_AND})|{_AND}", listed)
    return tuple(person.split()[-1] for person in people if person.split())


def _first_name(who: str) -> str:
    return fold(re.split(_AND, re.sub(_OTHERS, "", who), maxsplit=1)[0])


def _is_by(entry: Entry, name: str) -> bool:
    return bool(name) and any(name == fold(a) or fold(a).endswith(name) for a in entry.authors)


def _said(entry: Entry) -> str:
    return fold(f"{entry.text} {entry.title} {entry.year}")


def _only_place(text: str) -> bool:
    rest = _SMALL.sub(" ", PLACE.sub(" ", text))
    return not any(character.isalpha() for character in rest)


def _place(text: str) -> LocatorHint | None:
    """Return the last place that a text names, also a number alone at its end."""
    found = [one for one in PLACE.findall(text) if re.search(r"\d|第", one)]
    if found:
        return read_hint(found[-1], bare=False)
    bare = _BARE_PAGE.search("," + text.lstrip(" ,"))
    return read_hint(bare["pages"], bare=True) if bare is not None else None


def _place_of_work(text: str) -> LocatorHint | None:
    """Return the place that a reference points to, not the pages on which the work is printed."""
    hint = _place(text)
    if hint is None or not hint.pages:
        return hint
    first, last = hint.pages[-1]
    is_year = hint.pages[0][0] > 1500 and HAN.search(hint.text) is None and "p" not in hint.text
    return None if last - first >= _MOST_PAGES or is_year else hint
