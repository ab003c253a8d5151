"""Reference lists: their entries, read from a draft or a bibliography file."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from rag_assets.auditing.citation_forms import WrittenCitation
from rag_assets.evidence.bibliography import PersonName, split_names
from rag_assets.model import HAN, HAN_RANGES, UsageError

# One entry of a list of references.

_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a reference list.

    Args:
        text: as printed, or composed from the fields of a bibliography file.
        label: what the draft cites it by: a number (`3`), a BibTeX key; empty in a list that is
            cited by author and year.
        authors: family names or organisations in their order; editors where there are no authors.
        year: with the letter that tells two works of a year apart (`2021a`); empty where unknown.
        title: empty where it could not be parted from the rest of the text.
        doi: lower case, without `https://doi.org/`; empty where unknown.
        pages: the range of pages, as printed (`55-65`); empty where unknown.
        line: of the draft or the file, from 1; 0 where it has none. `file` names another file.
        start: offset in the draft's text, code points; -1 for an entry from a file. `end` its end.
        people: authors or editors with their given names, as a bibliography file writes them.
        attachments: paths of files that a bibliography file names, as written there.
    """

    text: str
    label: str = ""
    authors: tuple[str, ...] = ()
    year: str = ""
    title: str = ""
    doi: str = ""
    pages: str = ""
    line: int = 0
    start: int = -1
    end: int = -1
    file: str = ""
    people: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()


def csl_entry(item: Mapping[str, Any], label: str, *, file: str = "") -> Entry:
    """Return the entry of a CSL-JSON item, as Zotero and Mendeley store it in Word fields too.

    Args:
        item: https://docs.citationstyles.org, "CSL-JSON".
        label: what the draft cites it by.
        file: that it was read from.
    """
    if "itemType" in item:
        item = _csl_of_zotero(item)
    people = item.get("author") or item.get("editor") or ()
    authors = tuple(filter(None, map(_csl_family, people)))
    date = item.get("issued") or {}
    parts = (date.get("date-parts") or [[]])[0]
    written = str(parts[0]) if parts else str(date.get("raw") or date.get("literal") or "")
    year = found[0] if (found := _YEAR.findall(written)) else ""
    title = " ".join(re.sub(r"</?\w+[^<>]*>", "", str(item.get("title") or "")).split())
    container = str(item.get("container-title") or "")
    text = ". ".join(filter(None, [", ".join(authors), year, title, container]))
    doi = read_doi(str(item.get("DOI") or ""))
    attachments = (str(one.get("path") or "") for one in item.get("attachments") or ())
    return Entry(
        text, label, authors, year, title, doi, str(item.get("page") or ""), file=file,
        people=tuple(filter(None, map(_csl_name, people))),
        attachments=tuple(filter(None, attachments)),
    )  # fmt: skip


def _csl_of_zotero(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an item of Zotero's own JSON, as Better BibTeX exports it, with the names of CSL."""
    people: dict[str, list[Mapping[str, Any]]] = {}
    for one in item.get("creators") or ():
        name = {"family": one.get("lastName"), "given": one.get("firstName")}
        people.setdefault(one.get("creatorType") or "author", []).append(
            name if one.get("lastName") else {"literal": one.get("name")}
        )
    return {
        "author": people.get("author"),
        "editor": people.get("editor"),
        "issued": {"raw": (_YEAR.findall(str(item.get("date") or "")) or [""])[0]},
        "title": item.get("title"),
        "container-title": item.get("publicationTitle"),
        "DOI": item.get("DOI"),
        "page": item.get("pages"),
        "attachments": item.get("attachments"),
    }


def _csl_name(person: Mapping[str, Any]) -> str:
    family, given = _csl_family(person), str(person.get("given") or "")
    if not given or not family:
        return family
    return f"{family}{given}" if HAN.search(family) else f"{given} {family}"


def _csl_family(person: Mapping[str, Any]) -> str:
    particle = str(person.get("non-dropping-particle") or "")
    family = str(person.get("family") or person.get("literal") or "")
    if HAN.search(family):  # a Chinese name is known by its whole
        return family + str(person.get("given") or "")
    return f"{particle} {family}".strip()


def read_doi(text: str) -> str:
    """Return the first DOI of a text in lower case, empty where there is none."""
    match = _DOI.search(unicodedata.normalize("NFKC", text))
    return match.group().rstrip(".,;:)").lower() if match else ""


_PLAIN = re.compile(r"[^\w]+|_")


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Return letters and digits alone, lower case, without accents: `Gyöngyi, Z.` → `gyongyiz`."""
    text = text.replace("ß", "ss").replace("ø", "o").replace("Ø", "O").replace("ł", "l")
    split = unicodedata.normalize("NFKD", text.casefold().replace("ı", "i"))
    bare = "".join(c for c in split if not unicodedata.combining(c))
    return _PLAIN.sub("", unicodedata.normalize("NFC", bare))


# The parts of a printed entry: who, when, what.

YEAR = r"(?:1[5-9]|20)\d\d"
_LETTERED_YEAR = re.compile(rf"(?<![\d/.:\-–]){YEAR}[a-z]?(?![\d/])(?!-\d{{2,4}}[^-])")
_DATED = re.compile(rf"[(（](?P<year>{YEAR}[a-z]?|n\.\s?d\.|in press)[^()（）]{{0,20}}[)）]")
_PARTICLE = (
    r"(?:(?:van|von|vom|de|der|den|del|della|di|da|dos|du|la|le|el|al|bin|ten|ter|zu)\s+){0,3}"
)
_UP = r"A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f\u0391-\u03a9\u0410-\u042f"
_FAMILY = rf"{_PARTICLE}[{_UP}][\w'’`´\-‐]+(?:[\s][{_UP}][\w'’\-‐]+)?"
_INITIALS = rf"(?:[{_UP}]\.?[\s\-‐]?){{1,4}}(?:,?\s*(?:Jr|Sr|I{{2,3}})\b\.?)?"
_GIVEN = rf"(?:[{_UP}][\w'’\-‐]*\.?\s+){{1,4}}"
# `Dean, J.`; `Dean J`; `J. Dean`; `Jeffrey Dean`; a Chinese name.
_NAME_END = r"\s*(?:[,;.:，“\"(（&]|and\b|et\s+al|等|$)"
_WORD_OR_INITIAL = rf"(?:[{_UP}][\w'’\-‐]+|[{_UP}]\.)"
_FULL = rf"(?P<full>{_GIVEN}{_PARTICLE}[{_UP}][\w'’\-‐]+)(?={_NAME_END})"
_FULL_NAME = re.compile(_FULL)
_AUTHOR = re.compile(
    rf"""
    (?P<inverted>{_FAMILY}),\s*(?P<initials>{_INITIALS})(?=[\s,;.:&(（]|$)
  | (?P<vancouver>{_FAMILY}(?:\s[{_UP}][\w'’\-‐]+)?)\s+
    (?:[{_UP}]{{1,3}}|[{_UP}](?:[\s\-][{_UP}]){{1,2}})(?={_NAME_END})
  | (?:[{_UP}]\.[\s\-]?){{1,4}}\s?(?P<led>{_FAMILY})
  | (?P<han>[{HAN_RANGES}·]{{2,6}})(?=\s*[,，、;；.．。:：\[［(（等]|\s+and\b|\s*$)
  | (?P<inverted_given>{_FAMILY}),\s*
    (?P<given>{_WORD_OR_INITIAL}(?:[\s\-](?:{_WORD_OR_INITIAL}|[{_UP}]\b)){{0,3}})(?={_NAME_END})
  | {_FULL}
    """,
    re.VERBOSE,
)
_THEN_YEAR = re.compile(rf"[.,]?\s*[(（]?{YEAR}")
_THEN_MORE = re.compile(rf"[.,]?\s*[(（]?{YEAR}|,\s+(?:[{_UP}]|and\b|&)|\s+(?:and|&)\s+[{_UP}]")
_BETWEEN = re.compile(
    r"\s*(?:(?:[,;，；、]|\.(?=,))\s*)?(?:(?:and|&|und|et(?!\s+al)|y|和|与|及)\s+|(?:\.\s?){3}\s*|…\s*|[和与及])?"
)
_ET_AL = re.compile(r"[,，]?\s*(?:\*?et\s+al\b\.?\*?|and\s+others|等人?)[.,，]?", re.IGNORECASE)
_QUOTED_TITLE = re.compile(
    r"[“\"«「](?P<title>[^”\"»」]{4,300})[”\"»」]|《(?P<han>[^》]{2,120})》"
    r"|(?<=[\s)])[‘'](?P<single>(?:[^‘’']|['’](?=\w)){8,300})[’'](?=[,.\s])"
)
_KIND_MARK = re.compile(r"\s*[\[［](?:[A-Z]{1,2}(?:/[A-Z]{2})?)[\]］]")
_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}|[*_]{1,3}(?!\w)|</?(?:i|b|em|strong|sup|sub)>")
_SENTENCE_END = re.compile(
    rf"(?<![\s.(][{_UP}])(?<!\bal)[.．。](?=\s|[{HAN_RANGES}“]|$)|[?!？！](?=\s|$)"
)
_PAGES_OF_WORK = re.compile(
    r"(?:\bpp?\.?\s*|[:：]\s*|,\s*)(?P<pages>[A-Za-z]?\d{1,6}\s*[-–—~～]{1,2}\s*[A-Za-z]?\d{1,6})(?![\d-])"
)
_LABEL = re.compile(
    r"\s*(?:[\[［〔【](?P<bracket>\d{1,4}|[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f+]{1,7}\d{2}[a-z]?)"
    r"[\]］〕】]|[(（](?P<round>\d{1,4})[)）](?=\s)"
    r"|(?P<plain>\d{1,4})(?:[.)、．](?!\d)|\t))[\s\u3000]*"
)


def parse_entry(text: str, label: str = "") -> Entry:
    """Return a printed entry with what could be read of its authors, year, title, DOI and pages.

    Read are the forms of APA, Chicago, MLA, Harvard, IEEE, Vancouver, ACM and GB/T 7714.

    Args:
        text: without its label.
    """
    text = " ".join(_EMPHASIS.sub("", unicodedata.normalize("NFC", text)).split())
    authors, after = _read_authors(text)
    dated = _DATED.search(text)
    rest = text[after:]
    quoted = _QUOTED_TITLE.search(text, 0 if not authors else max(after - 1, 0))
    # A second pair of 《》 is the journal's.
    if quoted is not None:
        title = (quoted["title"] or quoted["han"] or quoted["single"]).strip(" ,.，")
    else:
        title = _title_of(rest)
    if dated is not None and _LETTERED_YEAR.match(dated["year"]):
        year = dated["year"]
    else:
        outside = text.replace(title, " ") if title else text
        without_doi = _DOI.sub(" ", re.sub(r"https?://\S+", " ", outside))
        years = _LETTERED_YEAR.findall(without_doi) or _LETTERED_YEAR.findall(text)
        # Where a journal stands behind its year, or the year at the end: what is no volume.
        year = years[0] if years else ""
    if not authors and not title and after == 0:
        title = _title_of(text)
    pages = _PAGES_OF_WORK.search(_DOI.sub(" ", rest))
    return Entry(text, label, authors, year, title, read_doi(text), pages["pages"] if pages else "")


def _read_authors(text: str) -> tuple[tuple[str, ...], int]:
    """Return family names and organisations, and the offset behind them."""
    families: list[str] = []
    position = 0
    is_full = False
    while match := _author_at(text, position, is_full=is_full):
        is_full = match["full"] is not None
        families.append(_family_of(match))
        position = match.end()
        if others := _ET_AL.match(text, position):
            position = others.end()
            break
        between = _BETWEEN.match(text, position)
        if between is None or between.end() == position:
            break
        if not _AUTHOR.match(text, between.end()) and not _ET_AL.match(text, between.end()):
            break
        position = between.end()
        if others := _ET_AL.match(text, position):
            position = others.end()
            break
    if families:
        return tuple(families), position
    # An organisation or a name alone, before the year or the first full stop.
    head = _DATED.search(text)
    end = head.start() if head is not None and head.start() < 120 else -1
    if end <= 0:
        stop = _SENTENCE_END.search(text)
        short = stop is not None and stop.start() <= 80 and stop.end() < len(text) - 10
        end = stop.start() if short and stop is not None else -1
        if end > 0 and (_KIND_MARK.search(text[:end]) or text[:1] in '“"《'):
            end = -1
    if end > 0:
        name = text[:end].strip(" .,，")
        if name and text[:1] not in '“"《':
            return (name,), end
    return (), 0


def _author_at(text: str, position: int, *, is_full: bool) -> re.Match[str] | None:
    """Return the author at an offset.

    `Marco Baroni, Georgiana Dinu` are two, `Dean, Jeffrey` is one; `Martin J. Wainwright` is no
    `Martin J`, where names are written in full or a year or another author follows.

    Args:
        is_full: whether the author before is written so.
    """
    full = _FULL_NAME.match(text, position)
    then = _THEN_YEAR if position else _THEN_MORE
    if full is not None and (is_full or then.match(text, full.end())):
        return full
    match = _AUTHOR.match(text, position)
    is_two = (
        match is not None
        and match["inverted_given"] is not None
        and all(word[:1].isupper() for word in match["inverted_given"].split())
        and " " in match["inverted_given"]
        and " " in match["given"]
    )
    return full if is_two else match


def _family_of(match: re.Match[str]) -> str:
    groups = match.groupdict()
    for form in ("inverted", "vancouver", "led", "inverted_given", "han"):
        if groups.get(form):
            return str(groups[form])
    return family_name(groups["full"])


def _title_of(rest: str) -> str:
    rest = _DATED.sub("", rest, count=1) if _DATED.match(rest.lstrip(" .,")) else rest
    rest = re.sub(rf"^[\s.,，:：;)]*(?:{YEAR}[a-z]?[.,，]?\s*)?", "", rest)
    rest = re.sub(r"^[(（][^()（）]{0,30}[)）][.,，:：]?\s*", "", rest)
    mark = _KIND_MARK.search(rest)
    stop = _SENTENCE_END.search(rest)
    ends = [found.start() for found in (mark, stop) if found is not None]
    title = rest[: min(ends)] if ends else rest
    return title.strip(" .,，。") if len(title) <= 400 else ""


# The entries of a draft's own list.

LIST_HEADING = re.compile(
    r"^[ \t]*(?P<marks>\#{1,6}[ \t]*|\*\*)?(?:\d[\d.]*[.、]?[ \t]*)?"
    r"(?:references(?:[ \t]+cited)?|bibliography|works[ \t]+cited|literature(?:[ \t]+cited)?|"
    r"cited[ \t]+literature|list[ \t]+of[ \t]+(?:references|sources|works)|"
    r"references[ \t]+and[ \t]+notes|(?:(?<=\*\*)|(?<=\#)|(?<=\#[ \t]))sources|"
    r"literaturverzeichnis|literatur|références(?:[ \t]+bibliographiques)?|bibliographie|"
    r"referencias(?:[ \t]+bibliográficas)?|referências(?:[ \t]+bibliográficas)?|bibliograf[ií]a|"
    r"список[ \t]+литературы|"
    r"参[ \u3000]*考[ \u3000]*文[ \u3000]*献|引用文献|主要参考文献|文献目录|参考书目)"
    r"[ \t]*[:：]?[ \t]*(?:\*\*|\#+)?[ \t]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_ANY_HEADING = re.compile(r"(?m)^(#{1,6})[ \t]+\S")
_UNDERLINE = re.compile(r"\r?\n[ \t]*(?:=+|-+)[ \t]*\r?(?=\n|\Z)")
_BULLET = re.compile(r"[ \t]*[-*+•][ \t]+")
_LINE = re.compile(r"[^\r\n]+")
# A list of sources without a heading, at the end of a draft.
_FEWEST_WITHOUT_HEADING = 3
# An entry is longer than a person writes; a chapter behind the list is not one.
_LONGEST_ENTRY = 1500


def find_list(text: str) -> tuple[tuple[Entry, ...], tuple[tuple[int, int], ...]]:
    """Return the entries of all reference lists of a draft and the spans of the lists.

    Args:
        text: of the draft, its front matter blanked.
    """
    regions = [*_regions(text)]
    entries = [entry for start, end in regions for entry in read_list(text, start, end)]
    if not entries:
        return (), ()
    return tuple(entries), tuple(regions)


def _regions(text: str) -> Iterator[tuple[int, int]]:
    for heading in LIST_HEADING.finditer(text):
        underline = _UNDERLINE.match(text, heading.end())
        marks = (heading["marks"] or "").strip()
        start = underline.end() if underline else heading.end()
        level = len(marks) if marks.startswith("#") else 1 if underline else 6
        ends = (
            other.start()
            for other in _ANY_HEADING.finditer(text, start)
            if len(other[1]) <= level or not marks.startswith("#")
        )
        yield start, next(ends, len(text))
    if not LIST_HEADING.search(text):
        lines = [*_LINE.finditer(text)]
        first = len(lines)
        while first and (found := _LABEL.match(lines[first - 1].group())) and found["bracket"]:
            first -= 1
        numbers = [_label_of(line.group()) for line in lines[first:]]
        if len(numbers) >= _FEWEST_WITHOUT_HEADING and numbers == [
            str(number) for number in range(1, len(numbers) + 1)
        ]:
            yield lines[first].start(), len(text)


def _label_of(line: str) -> str:
    match = _LABEL.match(line)
    return next(filter(None, match.groups()), "") if match is not None else ""


def read_list(text: str, start: int, end: int) -> Iterator[Entry]:
    """Yield the entries between two offsets of a draft: by their numbers, else by paragraphs."""
    lines = [*_LINE.finditer(text, start, end)]
    lines = [line for line in lines if line.group().strip()]
    numbered = [number for number, line in enumerate(lines) if _label_of(_unlisted(line.group()))]
    if len(numbered) * 2 > _paragraphs(text, lines) and numbered:
        firsts = numbered
    else:
        firsts = [*_first_lines(text, lines)]
    for first, following in pairwise([*firsts, len(lines)]):
        begin, last = lines[first].start(), lines[following - 1].end()
        written = _unlisted(text[begin:last])
        match = _LABEL.match(written) if first in numbered else None
        label = _label_of(written) if match is not None else ""
        body = written[match.end() :] if match is not None else written
        if not any(map(str.isalpha, body)) or len(body) > _LONGEST_ENTRY:
            continue
        line = text.count("\n", 0, begin) + 1
        yield replace(parse_entry(body, label), line=line, start=begin, end=last)


def _unlisted(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() :] if bullet is not None else line


def _paragraphs(text: str, lines: Sequence[re.Match[str]]) -> int:
    return sum(1 for a, b in pairwise(lines) if text.count("\n", a.end(), b.start()) > 1) + 1


def _first_lines(text: str, lines: Sequence[re.Match[str]]) -> Iterator[int]:
    """Yield the lines with which entries begin in a list without numbers.

    Blank lines part entries; where there are none, bullets do, else each line that is not indented.
    """
    if not lines:
        return
    bullets = [number for number, line in enumerate(lines) if _BULLET.match(line.group())]
    if len(bullets) * 2 > len(lines) or (
        bullets and bullets[0] == 0 and _paragraphs(text, lines) == 1
    ):
        yield from bullets
        return
    parted = _paragraphs(text, lines) > 1
    yield 0
    for number, (before, line) in enumerate(pairwise(lines), 1):
        is_apart = text.count("\n", before.end(), line.start()) > 1
        if is_apart if parted else not line.group()[:1].isspace():
            yield number


# Bibliography files: BibTeX, CSL-JSON, RIS, Zotero RDF.

BIBLIOGRAPHY_SUFFIXES = (".bib", ".json", ".ris", ".rdf")
_CSL_KEYS = ("citation-key", "citationKey", "id", "itemKey")
# `description:path:type` of BibTeX's field `file`, several divided by semicolons; a backslash
# before a mark makes it part of a name.
_BETWEEN_FILES, _BETWEEN_PARTS = re.compile(r"(?<!\\);"), re.compile(r"(?<!\\):")
_BIB_KEY = re.compile(
    r"(?m)^[ \t]*@(?!comment|string|preamble)\w+\s*[{(]\s*([^,\s]+)\s*,", re.IGNORECASE
)


def read_bibliography(path: Path) -> tuple[Entry, ...]:
    """Return the entries of a BibTeX, CSL-JSON, RIS or Zotero RDF file.

    Raises:
        UsageError: the file cannot be read as one of these.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the bibliography cannot be read: {error}") from error
    suffix = path.suffix.lower()
    if suffix == ".bib":
        return tuple(read_bibtex(text, path.name))
    if suffix == ".json":
        try:
            items = json.loads(text)
            return tuple(
                csl_entry(item, next((str(item[n]) for n in _CSL_KEYS if item.get(n)), ""),
                          file=path.name)
                for item in (items.get("items", []) if isinstance(items, dict) else items)
                if item.get("itemType") not in ("attachment", "note")
            )  # fmt: skip
        except (ValueError, AttributeError) as error:
            raise UsageError(f"{path}: this is not CSL-JSON: {error}") from error
    if suffix == ".ris":
        return tuple(_read_ris(text, path.name))
    if suffix == ".rdf":
        return tuple(_read_rdf(path, text))
    raise UsageError(
        f"{path}: unknown kind of bibliography. Export it as BibTeX (.bib), CSL-JSON (.json), "
        "RIS (.ris) or Zotero RDF (.rdf)."
    )


def repeated_keys(path: Path) -> tuple[str, ...]:
    """Return a sentence for each key that a BibTeX file has twice; BibTeX reads the first alone."""
    if path.suffix.lower() != ".bib" or not path.is_file():
        return ()
    keys = Counter(_BIB_KEY.findall(path.read_text(encoding="utf-8-sig")))
    return tuple(
        f"{path.name} has the key `{key}` {count} times; only the first entry counts."
        for key, count in keys.items()
        if count > 1
    )


def read_bibtex(text: str, file: str) -> Iterator[Entry]:
    """Yield the entries of a `.bib` file.

    Args:
        file: its name, for the entries.
    """
    from bibtexparser.entrypoint import parse_string

    lines = {match[1]: text.count("\n", 0, match.start()) + 1 for match in _BIB_KEY.finditer(text)}
    # A key that is there twice: the first counts, as in BibTeX.
    works = {
        entry.key: {name.lower(): str(each.value) for name, each in entry.fields_dict.items()}
        for entry in parse_string(text).entries
    }
    for key, own in works.items():
        fields = dict(own)
        # A chapter takes what it lacks from its book, whose title is that of the book.
        for parent in (fields.get("crossref", ""), *fields.get("xdata", "").split(",")):
            for name, value in works.get(parent.strip(), {}).items():
                is_book = name == "title" and parent == fields.get("crossref")
                if name not in {"doi", "file", "pages", "subtitle"}:
                    fields.setdefault("booktitle" if is_book else name, value)
        yield bibtex_entry(key, fields, line=lines.get(key, 0), file=file)


def bibtex_entry(key: str, fields: Mapping[str, str], *, line: int = 0, file: str = "") -> Entry:
    """Return the entry of BibTeX's or biblatex's fields, by their names in lower case."""
    from pylatexenc.latex2text import LatexNodes2Text

    plain = LatexNodes2Text(keep_braced_groups=False, strict_latex_spaces=False).latex_to_text

    def value(*names: str) -> str:
        found = next((fields[name] for name in names if fields.get(name)), "")
        return " ".join(plain(found).replace("{", "").replace("}", "").split())

    people = next((fields[n] for n in ("author", "editor") if fields.get(n)), "")
    authors = tuple(
        filter(None, (_bibtex_family(plain, name) for name in re.split(r"\s+and\s+", people)))
    )
    years = _YEAR.findall(value("year", "date"))
    title = ": ".join(filter(None, (value("title"), value("subtitle"))))
    others = " et al" if re.search(r"\band\s+others\s*$", people) else ""
    parts = [", ".join(authors) + others, years[0] if years else "", title]
    parts += [value("journal", "journaltitle", "booktitle"), value("institution", "school")]
    parts.append(value("note"))
    names = (
        " ".join(plain(name).replace("{", "").replace("}", "").split())
        for name in re.split(r"\s+and\s+", people)
    )
    return Entry(
        ". ".join(filter(None, parts)), key, authors, years[0] if years else "", title,
        read_doi(value("doi") or value("url")), value("pages"), line=line, file=file,
        people=tuple(name for name in names if name and name.lower() != "others"),
        attachments=tuple(_bibtex_files(fields.get("file", ""))),
    )  # fmt: skip


# The list of references that biber writes for biblatex: https://ctan.org/pkg/biber.

_BIBER_ENTRY = re.compile(r"\\entry\{(?P<key>[^{}]*)\}\{[^{}]*\}(?P<body>.*?)\\endentry", re.DOTALL)
_BIBER_FIELD = re.compile(
    r"\\(?:field|strng)\{(?P<name>\w+)\}\{(?P<value>(?:[^{}]|\{[^{}]*\})*)\}"
    r"|\\verb\{(?P<verb>\w+)\}\s*\\verb (?P<text>[^\n]*)"
)
_BIBER_NAMES = re.compile(r"\\name\{(?:author|editor)\}(?P<names>.*?)\n\s*\}\s*\n", re.DOTALL)
_BIBER_FAMILY = re.compile(r"family=\{((?:[^{}]|\{[^{}]*\})*)\}")


def read_biber(text: str, file: str) -> Iterator[Entry]:
    """Yield the entries of a `.bbl` file by biber; none of one by BibTeX."""
    for match in _BIBER_ENTRY.finditer(text):
        fields = {
            one["name"] or one["verb"]: one["value"] or one["text"] or ""
            for one in _BIBER_FIELD.finditer(match["body"])
        }
        names = _BIBER_NAMES.search(match["body"])
        people = _BIBER_FAMILY.findall(names["names"]) if names else []
        fields["author"] = " and ".join(f"{{{family}}}" for family in people)
        line = text.count("\n", 0, match.start()) + 1
        yield bibtex_entry(match["key"], fields, line=line, file=file)


def _bibtex_files(written: str) -> Iterator[str]:
    for one in filter(str.strip, _BETWEEN_FILES.split(written)):
        parts = _BETWEEN_PARTS.split(one.strip())
        # Without description and type it is the path alone, of Windows with the letter of a drive.
        path = parts[1] if len(parts) == 3 else one.strip()
        yield re.sub(r"\\([\\:;_&%#{}])", r"\1", path)


def _bibtex_family(plain: Any, written: str) -> str:
    name = written.strip()
    if name.lower() == "others" or not name:
        return ""
    if name.startswith("{") and name.endswith("}") and "," not in name:
        return " ".join(plain(name[1:-1]).split())
    return family_name(" ".join(plain(name).replace("{", "").replace("}", "").split()))


@lru_cache(maxsize=65536)
def family_name(printed: str) -> str:
    """Return the family name of a printed name with its particle, or the organisation."""
    first: PersonName | None = next(iter(split_names(printed)), None)
    if first is None:
        return ""
    if first.literal:
        return first.literal
    if first.is_chinese:
        return first.written
    return f"{first.particle} {first.family}".strip()


def _read_ris(text: str, file: str) -> Iterator[Entry]:
    import rispy

    for number, item in enumerate(rispy.loads(text, skip_unknown_tags=True), 1):
        people = item.get("authors") or item.get("first_authors") or item.get("editors") or ()
        authors = tuple(filter(None, map(family_name, people)))
        years = _YEAR.findall(str(item.get("year") or item.get("publication_year") or ""))
        title = str(item.get("title") or item.get("primary_title") or "")
        journal = str(item.get("journal_name") or item.get("secondary_title") or "")
        pages = "-".join(filter(None, [item.get("start_page"), item.get("end_page")]))
        year = years[0] if years else ""
        printed = ". ".join(filter(None, [", ".join(authors), year, title, journal]))
        label = str(item.get("id") or item.get("label") or number)
        attached = (item.get(f"file_attachments{n}") for n in (1, 2))
        yield Entry(
            printed, label, authors, year, title, read_doi(str(item.get("doi") or "")), pages,
            file=file, people=tuple(people),
            attachments=tuple(path for path in attached if path),
        )  # fmt: skip


_RDF = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "z": "http://www.zotero.org/namespaces/export#",
    "bib": "http://purl.org/net/biblio#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "link": "http://purl.org/rss/1.0/modules/link/",
}


def _read_rdf(path: Path, text: str) -> Iterator[Entry]:
    """Read what Zotero exports as "Zotero RDF", with the paths of its files."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise UsageError(f"{path}: this is not Zotero RDF: {error}") from error

    def all_of(node: Any, what: str) -> Any:
        return node.xpath(what, namespaces=_RDF)

    files = {
        node.get(f"{{{_RDF['rdf']}}}about"): all_of(node, "rdf:resource/@rdf:resource")
        for node in all_of(root, "z:Attachment")
    }
    for node in all_of(root, "*[z:itemType and dc:title]"):
        kind = all_of(node, "string(z:itemType)")
        if kind in ("attachment", "note"):
            continue
        item = {
            "itemType": kind,
            "title": all_of(node, "string(dc:title)"),
            "date": all_of(node, "string(dc:date)"),
            "pages": all_of(node, "string(bib:pages)"),
            "DOI": " ".join(map(str, all_of(node, ".//dc:identifier/text()"))),
            "creators": [
                {
                    "creatorType": role.removesuffix("s"),
                    "lastName": all_of(person, "string(foaf:surname)"),
                    "firstName": all_of(person, "string(foaf:givenName | foaf:givenname)"),
                }
                for role in ("authors", "editors")
                for person in all_of(node, f"bib:{role}//foaf:Person")
            ],
            "attachments": [
                {"path": str(name)}
                for link in all_of(node, "link:link/@rdf:resource")
                for name in files.get(link, ())
            ],
        }
        key = all_of(node, "string(z:citationKey)") or node.get(f"{{{_RDF['rdf']}}}about", "")
        yield csl_entry(item, str(key).lstrip("#"), file=path.name)


# What a reader of LaTeX or Word hands on.


@dataclass(frozen=True, slots=True)
class DraftSource:
    """A draft that is not written in Markdown, as Markdown.

    Args:
        text: Markdown.
        written: citations that the format marks (fields of Word), by their offsets in `text`.
        entries: references that the file carries beside its text: fields, `.bib` files, a LaTeX
            `thebibliography`.
        lines: (offset in `text`, file, line from 1) wherever the place in the source changes,
            ascending; empty where lines are those of `text`.
        digest: SHA-256 of everything that was read, the draft and what it includes.
        warnings: sentences a person can act on.
    """

    text: str
    digest: str
    written: tuple[WrittenCitation, ...] = ()
    entries: tuple[Entry, ...] = ()
    lines: tuple[tuple[int, str, int], ...] = ()
    warnings: tuple[str, ...] = ()
