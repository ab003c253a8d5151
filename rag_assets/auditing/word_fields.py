"""Citation fields of Word documents: what each reference manager stores in them."""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_assets.auditing.citation_forms import LocatorHint, find_hint, read_hint
from rag_assets.auditing.references import Entry, csl_entry, family_name
from rag_assets.model import HAN, ParseFailure

if TYPE_CHECKING:
    from lxml.etree import _Element

# One source of a citation field. Every manager's record is first brought into the form of CSL-JSON.

_CSL = re.compile(r"\bCSL_CITATION\s*(?={)|\bZOTERO_ITEM\s+(?={)")
_CITAVI = re.compile(r"CITAVI[ .]?PLACEHOLDER\s*\{(?P<data>[\w+/=\s-]+)\}", re.IGNORECASE)
_WORD = re.compile(r"\s*CITATION\s+(?P<rest>\S.*)", re.DOTALL)
_SWITCH_OR_WORD = re.compile(r"\\\w|\"[^\"]*\"|[^\s\\]+")
_LIST = re.compile(
    r"\s*(?:ADDIN\s+)?(?:ZOTERO_BIBL\b|Mendeley Bibliography\b|EN\.REFLIST\b|"
    r"CITAVI[ .]?BIBLIOGRAPHY\b|BIBLIOGRAPHY\b)",
    re.IGNORECASE,
)
MENDELEY_TAG = "MENDELEY_CITATION_v3_"
LIST_TAGS = ("MENDELEY_BIBLIOGRAPHY", "CitaviBibliography")
_SOURCE = "{http://schemas.openxmlformats.org/officeDocument/2006/bibliography}"


class UnreadableFieldError(ValueError):
    """A citation field whose data cannot be read; says why."""


@dataclass(frozen=True, slots=True)
class CitedItem:
    """One source that a field cites.

    Args:
        key: the same for the same source in every field of its manager.
        hint: the place that the field names.
    """

    key: str
    entry: Entry
    hint: LocatorHint | None = None


def is_list_field(code: str) -> bool:
    """Tell whether a field prints the list of references."""
    return _LIST.match(code) is not None


def read_citation_field(
    code: str, data: str, sources: Mapping[str, Entry]
) -> tuple[CitedItem, ...] | None:
    """Return the sources that a field cites, None where it is no citation field.

    Args:
        code: the field's instruction, its runs joined, or the tag of a content control.
        data: what Word keeps beside it (`w:fldData`, base64), "" without.
        sources: Word's own sources by their tag (`read_word_sources`).

    Raises:
        UnreadableFieldError: it is a citation field whose data is damaged or missing.
    """
    try:
        return _read(code, data, sources)
    except UnreadableFieldError:
        raise
    except (AttributeError, TypeError, ValueError, LookupError, RecursionError) as error:
        raise UnreadableFieldError("its data has another form than its manager writes") from error


def _read(code: str, data: str, sources: Mapping[str, Entry]) -> tuple[CitedItem, ...] | None:
    if code.startswith(MENDELEY_TAG):
        return _read_csl(_decode(code.removeprefix(MENDELEY_TAG)).decode("utf-8", "replace"))
    csl = _CSL.search(code)
    if csl is not None:
        return _read_csl(code[csl.end() :])
    if re.match(r"\s*ADDIN\s+EN\.CITE(?!\.DATA)", code):
        start = code.find("<EndNote")
        return _read_endnote(code[start:].encode() if start >= 0 else _decode(data))
    citavi = _CITAVI.search(code)
    if citavi is not None:
        return _read_citavi(_decode(citavi["data"]))
    word = _WORD.match(code)
    return _read_own(word["rest"], sources) if word is not None else None


def _decode(data: str) -> bytes:
    """Return what base64 holds, in either alphabet, with or without its padding."""
    plain = "".join(data.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error as error:
        raise UnreadableFieldError(f"its data is no base64 ({error})") from error


def _read_json(text: str) -> Mapping[str, Any]:
    try:
        # Behind the object a manager may write marks of its own.
        found, _ = json.JSONDecoder().raw_decode(text.lstrip("\ufeff \n\r\t"))
    except ValueError as error:
        raise UnreadableFieldError(f"its data is no JSON ({error})") from error
    if not isinstance(found, Mapping):
        raise UnreadableFieldError("its data is no JSON object")
    return found


def _read_csl(text: str) -> tuple[CitedItem, ...]:
    """Read what Zotero and Mendeley store: https://github.com/citation-style-language/schema,
    csl-citation.json.
    """
    items = [one for one in _read_json(text).get("citationItems") or () if isinstance(one, dict)]
    if not items or any(not isinstance(one.get("itemData"), dict) for one in items):
        raise UnreadableFieldError("it holds no data of the cited source")
    return tuple(_csl_item(item) for item in items)


def _csl_item(item: Mapping[str, Any]) -> CitedItem:
    entry = csl_entry(item["itemData"], "")
    addresses = item.get("uris") or item.get("uri") or ()
    address = addresses if isinstance(addresses, str) else next(iter(addresses), "")
    hint = _csl_hint(str(item.get("label") or "page"), str(item.get("locator") or "").strip())
    suffix = str(item.get("suffix") or "")
    return CitedItem(address or _content_key(entry), entry, hint or find_hint(suffix))


def _csl_hint(label: str, locator: str) -> LocatorHint | None:
    if not locator:
        return None
    if label == "page":
        return read_hint(locator, bare=True) or LocatorHint(f"p. {locator}")
    return LocatorHint(f"{label} {locator}")


def _content_key(entry: Entry) -> str:
    # `ITEM-1` of Mendeley is another source in every field.
    return entry.doi or "\n".join([*entry.authors, entry.year, entry.title]).casefold()


def _item(title: str, people: Sequence[str], year: str, doi: str, **more: str) -> Entry:
    names = [{"family": name} for name in people if name]
    record = {
        "title": title, "author": names, "DOI": doi, "issued": {"raw": year},
        **{key.replace("_", "-"): value for key, value in more.items()},
    }  # fmt: skip
    return csl_entry(record, "")


def _page_hint(pages: str) -> LocatorHint | None:
    pages = pages.strip(" ,;:")
    return (read_hint(pages, bare=True) or find_hint(pages)) if pages else None


# EndNote: <EndNote><Cite><Author/><Year/><Pages/><record>…</record></Cite></EndNote>.


def _read_endnote(data: bytes) -> tuple[CitedItem, ...]:
    from rag_assets.parsing import parse_xml

    # What stands behind the document in the field's data is padding.
    end = data.rfind(b"</EndNote>")
    try:
        root = parse_xml(data[: end + len(b"</EndNote>")], "EN.CITE")
    except ParseFailure as failure:
        raise UnreadableFieldError("its data is no XML of EndNote") from failure
    cites = [cite for cite in root.iter("Cite") if cite.get("Hidden") != "1"]
    return tuple(_endnote_item(cite) for cite in cites)


def _endnote_item(cite: "_Element") -> CitedItem:
    people = [_plain(each) for each in cite.iterfind("record/contributors/authors/author")]
    people = people or [_plain(each) for each in cite.iterfind("record/contributors//author")]
    written = [_plain(cite.find("Author"))] if cite.find("Author") is not None else []
    entry = _item(
        _plain(cite.find("record/titles/title")),
        # An organisation ends with a comma.
        [name[:-1] if name.endswith(",") else family_name(name) for name in people or written],
        _plain(cite.find("record/dates/year")) or _plain(cite.find("Year")),
        _plain(cite.find("record/electronic-resource-num")),
        page=_plain(cite.find("record/pages")),
        container_title=_plain(cite.find("record/titles/secondary-title")),
    )
    key = cite.find("record/foreign-keys/key")
    number = _plain(cite.find("RecNum")) or _plain(cite.find("record/rec-number"))
    library = "" if key is None else key.get("db-id", "")
    place = _page_hint(_plain(cite.find("Pages"))) or _page_hint(_plain(cite.find("Suffix")))
    return CitedItem(
        f"endnote:{library}:{number}" if library else _content_key(entry), entry, place
    )


def _plain(element: "_Element | None") -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


# Citavi: JSON with the whole record of every source.


def _read_citavi(data: bytes) -> tuple[CitedItem, ...]:
    entries = _read_json(data.decode("utf-8", "replace")).get("Entries") or ()
    if not entries or any(not isinstance(one.get("Reference"), dict) for one in entries):
        raise UnreadableFieldError("it holds no data of the cited source")
    return tuple(map(_citavi_item, entries))


def _citavi_item(one: Mapping[str, Any]) -> CitedItem:
    record = one["Reference"]
    people = record.get("Authors") or record.get("Organizations") or record.get("Editors") or ()
    entry = _item(
        str(record.get("Title") or ""),
        [str(person.get("LastName") or "") for person in people],
        str(record.get("Year") or record.get("YearResolved") or ""),
        str(record.get("Doi") or ""),
        page=_citavi_pages(record.get("PageRange")),
    )
    key = str(one.get("ReferenceId") or record.get("Id") or "") or _content_key(entry)
    hint = _page_hint(_citavi_pages(one.get("PageRange")))
    return CitedItem(key, entry, hint)


def _citavi_pages(pages: object) -> str:
    if isinstance(pages, Mapping):
        pages = pages.get("OriginalString") or pages.get("PrettyString")
    return pages if isinstance(pages, str) else ""


# Word's own: `CITATION Tag \l 1033 \p 12 \m Other`, the sources in a part of customXml.


def read_word_sources(root: "_Element") -> Iterator[tuple[str, Entry]]:
    """Yield the sources of a `b:Sources` part with their tags; of another part nothing.

    They are described in ECMA-376 part 1, 22.6.
    """
    if root.tag != _SOURCE + "Sources":
        return
    for source in root.iterfind(_SOURCE + "Source"):
        fields = {each.tag.removeprefix(_SOURCE): _plain(each) for each in source if not len(each)}
        names = source.find(f"{_SOURCE}Author/{_SOURCE}Author")
        if names is None:
            names = source.find(f"{_SOURCE}Author/{_SOURCE}Editor")
        people = [] if names is None else [*map(_own_name, names.iter(_SOURCE + "Person"))]
        people += [] if names is None else [*map(_plain, names.iter(_SOURCE + "Corporate"))]
        doi = next((v for k, v in fields.items() if k in {"DOI", "StandardNumber", "URL"}), "")
        container = next(
            (v for k, v in fields.items() if k in {"JournalName", "BookTitle", "ConferenceName"}),
            "",
        )
        yield (
            fields.get("Tag", ""),
            _item(
                fields.get("Title", ""), people, fields.get("Year", ""), doi,
                page=fields.get("Pages", ""), container_title=container,
            ),
        )  # fmt: skip


def _own_name(person: "_Element") -> str:
    last, first = _plain(person.find(_SOURCE + "Last")), _plain(person.find(_SOURCE + "First"))
    return last + first if HAN.search(last) else last


def _read_own(rest: str, sources: Mapping[str, Entry]) -> tuple[CitedItem, ...]:
    items: list[tuple[str, dict[str, str]]] = []
    switch = ""
    for token in _SWITCH_OR_WORD.findall(rest):
        word = token.strip('"')
        if token.startswith("\\"):
            switch = token[1:]
            if items and switch != "m":
                items[-1][1].setdefault(switch, "")
        elif not items or switch == "m":
            items.append((word, {}))
            switch = ""
        elif switch:
            items[-1][1][switch] = word
    missing = [tag for tag, _ in items if tag not in sources]
    if missing or not items:
        raise UnreadableFieldError(f"the document has no source {', '.join(missing)}".rstrip())
    return tuple(
        CitedItem(
            f"word:{tag}", sources[tag],
            _page_hint(switches.get("p", "")) or _page_hint(switches.get("s", "")),
        )
        for tag, switches in items
    )  # fmt: skip
