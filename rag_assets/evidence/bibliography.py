"""The sources that a pack or an audit uses, for a reference manager."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.evidence.pack import READABLE_SCHEMAS, pack_from_json
from rag_assets.law import LAW_NOUNS, NUMBER
from rag_assets.model import (
    HAN,
    HAN_RANGES,
    UsageError,
    code_span,
    drop_controls,
    escape_inline,
    escape_prose,
)
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table
from rag_assets.storage import current_folder, find_versions, read_json, read_pointer, write_version
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

# Printed names of authors in their parts: family and given name, or an organisation.

_HAN_NAME = re.compile(rf"[{HAN_RANGES}]{{2,4}}")
_HAN_PARTS = re.compile(rf"[{HAN_RANGES}·]+")
# What stands between Chinese names in a row.
_HAN_COMMA = re.compile(r"[,，、;；]")
# Names from other languages in Chinese letters: 卡尔·马克思.
_DOTS = re.compile(r"[·・•‧]")
_LONGEST_HAN_NAME = 4
# Family names of two characters (复姓) that are in use.
_DOUBLE_FAMILY_NAME_LIST = (
    "欧阳 太史 端木 上官 司马 东方 独孤 南宫 万俟 闻人 夏侯 诸葛 尉迟 公羊 赫连 澹台 皇甫 宗政 "
    "濮阳 公冶 太叔 申屠 公孙 慕容 仲孙 钟离 长孙 宇文 司徒 鲜于 司空 闾丘 令狐 百里 呼延 东郭 "
    "拓跋 歐陽 諸葛 司馬 東方 南宮 獨孤 鍾離 長孫 鮮于 東郭 萬俟 聞人"
)
_DOUBLE_FAMILY_NAMES = frozenset(_DOUBLE_FAMILY_NAME_LIST.split())
# How the names of Chinese offices and firms end; of three characters and more.
_HAN_ORGANISATION = re.compile(
    r"(?:局|部|院|会|會|署|厅|廳|委|处|處|组|組|所|社|室|中心|大学|大學|学会|學會|政府|公司|集团|集團|银行|銀行|法院|"
    r"检察院|编辑部|课题组)$"
)
_ORGANISATION = re.compile(
    r"\b(?:organi[sz]ation|university|universit[àäé]t?|institut[eo]?|committee|ministry|group|"
    r"consortium|team|collaboration|association|department|society|agency|commission|council|"
    r"bank|cent(?:er|re)|foundation|office|bureau|authority|academy|federation|union|network|"
    r"laborator(?:y|ies)|company|corporation|inc|ltd|llc|gmbh|project|initiative|of|for|the|"
    r"and|&)(?=\W|$)",
    re.IGNORECASE,
)
# Vancouver style: the family name, then initials without full stops.
_INITIALS = re.compile(r"[^\W\d_a-zà-öø-ÿ]{1,4}(?:-[^\W\d_a-zà-öø-ÿ])?")
_SUFFIX = re.compile(r"(?:Jr|Sr)\.?|I{2,3}|IV")
_DEGREE = re.compile(r"(?:Ph\.?D|M\.?D|M\.?Sc|B\.?Sc|Dr|Prof)\.?")


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name in its parts.

    Args:
        family: without its particle; empty for an organisation.
        given: first names or initials.
        particle: `von`, `de la`: before the family name, not sorted by.
        suffix: `Jr.`, `III`.
        literal: the name of an organisation, or one that has no parts; empty for a person.
    """

    family: str = ""
    given: str = ""
    particle: str = ""
    suffix: str = ""
    literal: str = ""

    @property
    def inverted(self) -> str:
        """`von Family, Suffix, Given`, as reference managers read it; a Chinese name as it is
        written, since only those that know Chinese put `Family, Given` together again.
        """
        if self.literal:
            return self.literal
        if self.is_chinese:
            return self.written
        family = f"{self.particle} {self.family}".strip()
        return ", ".join(part for part in (family, self.suffix, self.given) if part)

    @property
    def is_chinese(self) -> bool:
        """Whether both parts are in Chinese letters."""
        return _HAN_PARTS.fullmatch(self.family + self.given) is not None

    @property
    def written(self) -> str:
        """A Chinese name without blank: 王小明; one from another language 卡尔·马克思."""
        if not self.given or _is_family_name(self.family):
            return f"{self.family}{self.given}"
        return f"{self.given}·{self.family}"


def split_names(printed: str) -> tuple[PersonName, ...]:
    """Return the names that one author of a title page or sidecar holds: one, or Chinese ones in a
    row (王小明，李华).

    王, 小明 is a family name and a given one: what stands before the comma is a family name.
    """
    parts = [part.strip() for part in _HAN_COMMA.split(printed) if part.strip()]
    if len(parts) > 1 and all(map(_is_han_name, parts)) and not _is_parted(parts):
        return tuple(split_name(part) for part in parts)
    return (split_name(printed),)


def _is_parted(parts: list[str]) -> bool:
    return len(parts) == 2 and _is_family_name(parts[0])


def _is_han_name(part: str) -> bool:
    return _HAN_NAME.fullmatch(part.replace(" ", "")) is not None or _is_family_name(part)


def _is_family_name(text: str) -> bool:
    return len(text) == 1 or text in _DOUBLE_FAMILY_NAMES


def split_name(printed: str) -> PersonName:
    """Return the parts of a name as a title page or sidecar has it.

    Read are `Given von Family`, `Family, Given`, `Family, Jr., Given`, `Family GM` (Vancouver),
    Chinese names (family name first, of one or two characters), organisations in English and
    Chinese. Of `Given Family` the last word is the family name: that some languages put it first,
    or have two, a title page does not say; a sidecar's `Family, Given` does.
    """
    name = " ".join(printed.replace("{", "").replace("}", "").split()).strip(" ,;")
    if HAN.search(name) or not name:
        return _split_chinese(name)
    words = name.split(" ")
    while len(words) > 1 and _DEGREE.fullmatch(words[-1]):
        words = words[:-1]
    name = " ".join(words).rstrip(",")
    if "," in name:
        return _split_western(name)
    if len(words) == 1 or _ORGANISATION.search(name):
        return PersonName(literal=name)
    if _is_vancouver(words):
        initials = ". ".join(words[-1].replace("-", ""))
        return PersonName(family=" ".join(words[:-1]), given=f"{initials}.")
    has_suffix = len(words) > 2 and _SUFFIX.fullmatch(words[-1])
    return _split_western(" ".join(words[:-1]), words[-1]) if has_suffix else _split_western(name)


def _is_vancouver(words: list[str]) -> bool:
    before = " ".join(words[:-1])
    return (
        _INITIALS.fullmatch(words[-1]) is not None
        and any(map(str.islower, before))
        and "." not in before
    )


def _split_chinese(name: str) -> PersonName:
    # A dot or comma at an end parts nothing: what would stand on its other side is no name.
    name = name.strip(" ,，·・•‧")
    compact = name.replace(" ", "")
    if "," in name or "，" in name:
        family, given = re.split("[,，]", name, maxsplit=1)
        return PersonName(family=family.strip(), given=given.strip())
    if _DOTS.search(compact):
        *given_names, family = _DOTS.split(compact)
        return PersonName(family=family, given="·".join(given_names))
    is_organisation = len(compact) > 2 and _HAN_ORGANISATION.search(compact)
    if is_organisation or not _HAN_NAME.fullmatch(compact):
        return PersonName(literal=name)
    width = 2 if len(compact) > 2 and compact[:2] in _DOUBLE_FAMILY_NAMES else 1
    return PersonName(family=compact[:width], given=compact[width:])


def _split_western(name: str, suffix: str = "") -> PersonName:
    from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

    try:
        parts = parse_single_name_into_parts(name)
    except InvalidNameError:
        return PersonName(literal=f"{name} {suffix}".strip())
    family, given = " ".join(parts.last), " ".join(parts.first)
    particle, jr = " ".join(parts.von), " ".join(parts.jr)
    if not family:
        return PersonName(literal=f"{name} {suffix}".strip())
    return PersonName(family, given, particle, suffix or jr)


# One cited document as a reference manager knows it.

Kind = Literal["article", "preprint", "statute", "webpage", "document"]

# DOIs that servers of preprints give: arXiv, bioRxiv and medRxiv, SSRN, Preprints.org.
_PREPRINT_DOI = re.compile(r"10\.(?:48550/|1101/\d|2139/ssrn|20944/)")
_DATE = re.compile(r"(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?)?(?!\d)")
# Locators in a statute begin with the article; in English a title must be that of a law as well,
# since a chapter may be called “Article 3”, too.
_IN_ARTICLE = re.compile(rf"第\s?{NUMBER}\s?条")
_IN_ENGLISH_ARTICLE = re.compile(r"(?:Article|Art\.|Section|Sec\.|§)\s*\d", re.IGNORECASE)
# Where only a preamble is used, the title says it. 算法 and 方法 are no laws.
_STATUTE_TITLE = re.compile(
    r"^中华人民共和国\S*(?:法|法典|条例|细则|办法|规定)(?:\s*[（(].*)?$|(?:法典|宪法|条例|实施细则|管理办法)"
    r"(?:\s*[（(].*)?$|\bAct(?:\s+of)?,?\s+\d{4}$|^(?:Regulation|Directive)\s+\((?:EU|EC|EEC)\)"
)
_PLACE = re.compile(r"\bpp?\. (?P<page>\d+)|\bcharacters (?P<character>\d+)")
# What a source has under the name of its column.
_PLAIN = ("title", "publisher", "url", "doi", "language")


@dataclass(frozen=True, slots=True)
class Reference:
    """What is known of a cited document.

    Args:
        key: what a draft cites it by: its citation key, else its uid.
        cite_as: what names it between `{#` and `}`: its uid, with its namespace where another one
            has a citable document of that uid.
        kind: an article where it has a DOI; a statute where articles of it are used or its title
            is that of one; a web page where it has only an address; what the file does not say is
            not guessed.
        issued: year, month and day as far as known.
        accessed: likewise, when it was looked at.
        where: locators of the passages that are used, each once, in the order of their places.
        missing: what a reference list wants and nothing says, in words.
    """

    key: str
    namespace: str
    doc_uid: str
    cite_as: str
    kind: Kind
    title: str
    authors: tuple[PersonName, ...] = ()
    issued: tuple[int, ...] = ()
    accessed: tuple[int, ...] = ()
    publisher: str = ""
    url: str = ""
    doi: str = ""
    language: str = ""
    where: tuple[str, ...] = ()
    missing: tuple[str, ...] = field(default=())


def make_reference(row: Mapping[str, Any], where: tuple[str, ...]) -> Reference:
    """Return the reference of a row of the published table `documents`, or of a pack's source.

    Args:
        row: with `namespace`, `doc_uid`, `cite_as`, `citation_key`, `title`, `authors`,
            `year`, dates, ….
        where: locators of the passages that are used.
    """
    plain = {name: _one_line(str(row[name] or "")) for name in _PLAIN}
    issued = read_date(str(row["published_date"] or "")) or (
        (int(row["year"]),) if row["year"] else ()
    )
    names = [name for printed in row["authors"] or () for name in split_names(_one_line(printed))]
    authors = tuple(name for name in names if name.inverted)
    kind = _kind(plain["doi"], plain["url"], plain["title"], where)
    wanted = {"author": authors, "year": issued, "DOI or URL": plain["doi"] or plain["url"]}
    if kind == "statute":  # is cited by its title and year
        wanted = {"year": issued}
    return Reference(
        key=_one_line(row["citation_key"] or "") or row["doc_uid"],
        namespace=row["namespace"],
        doc_uid=row["doc_uid"],
        cite_as=row["cite_as"],
        kind=kind,
        title=plain.pop("title") or row["doc_uid"],
        authors=authors,
        issued=issued,
        accessed=read_date(str(row["accessed_at"] or "")),
        where=tuple(sorted(where, key=_place)),
        missing=tuple(name for name, value in wanted.items() if not value),
        **plain,
    )


def _one_line(text: str) -> str:
    """Return a value as every format holds it: a line break would begin another field or record."""
    return " ".join(drop_controls(text).split())


def read_date(text: str) -> tuple[int, ...]:
    """Return year, month and day of a date as far as it names them; empty where it does not."""
    match = _DATE.match(text.strip())
    if match is None:
        return ()
    parts = [int(match["year"])]
    for name, most in (("month", 12), ("day", 31)):
        if not match[name] or not 1 <= int(match[name]) <= most:
            break
        parts.append(int(match[name]))
    return tuple(parts)


def _place(locator: str) -> tuple[int, int]:
    """Return page or first character of a locator, by which it is sorted; others come last."""
    match = _PLACE.search(locator)
    if match is None:
        return 1, 0
    return 0, int(match["page"] or match["character"])


def _kind(doi: str, url: str, title: str, where: Sequence[str]) -> Kind:
    if doi:
        return "preprint" if _PREPRINT_DOI.match(doi.lower()) else "article"
    if _is_statute(title, where):
        return "statute"
    return "webpage" if url else "document"


def _is_statute(title: str, where: Sequence[str]) -> bool:
    if _STATUTE_TITLE.search(title) or any(map(_IN_ARTICLE.match, where)):
        return True
    is_law = not LAW_NOUNS.isdisjoint(re.findall(r"\w+", title.lower()))
    return is_law and any(map(_IN_ENGLISH_ARTICLE.match, where))


# Keys of references: what a draft cites by, each of one document only.


def with_distinct_keys(
    references: Sequence[Reference],
) -> tuple[tuple[Reference, ...], tuple[str, ...]]:
    """Return the references with a key each of its own, and what to know of those that shared one.

    Documents of one uid in several namespaces are told apart by the namespace; those that were
    given one citation key by a, b, c behind it. Capitals tell no keys apart: to BibTeX they are
    one.
    """
    taken = {one.key.casefold() for one in references}
    groups: dict[str, list[Reference]] = {}
    for one in references:
        groups.setdefault(one.key.casefold(), []).append(one)
    new: dict[int, str] = {}
    notes = []
    for group in groups.values():
        if len(group) == 1:
            continue
        if all(one.key == one.doc_uid for one in group):
            keys = [f"{one.namespace}-{one.doc_uid}" for one in group]
        else:
            keys = [_free(group[0].key, taken) for _ in group]
            notes.append(_told(group, keys))
        new |= {id(one): key for one, key in zip(group, keys, strict=True)}
    return tuple(replace(one, key=new.get(id(one), one.key)) for one in references), tuple(notes)


def _free(key: str, taken: set[str]) -> str:
    found = next(one for end in _endings() if (one := f"{key}{end}").casefold() not in taken)
    taken.add(found.casefold())
    return found


def _endings() -> Iterator[str]:
    """Yield a to z, then z1, z2 and so on."""
    yield from "abcdefghijklmnopqrstuvwxyz"
    yield from (f"z{number}" for number in count(1))


def _told(group: Sequence[Reference], keys: Sequence[str]) -> str:
    pairs = ", ".join(
        f"`{one.namespace}:{one.doc_uid}` is `{key}` here"
        for one, key in zip(group, keys, strict=True)
    )
    return (
        f"`{group[0].key}` is the citation key of {len(group)} documents: {pairs}. A draft that "
        "cites it may mean either: give each its own with `rag meta set UID citation_key=…`."
    )


# References as CSL-JSON, BibTeX, RIS and Markdown, written by libraries.

_CSL_TYPES: dict[Kind, str] = {
    "article": "article-journal", "preprint": "article", "statute": "legislation",
    "webpage": "webpage", "document": "document",
}  # fmt: skip
_BIBTEX_TYPES: dict[Kind, str] = {
    "article": "article", "preprint": "misc", "statute": "misc", "webpage": "misc",
    "document": "misc",
}  # fmt: skip
_RIS_TYPES: dict[Kind, str] = {
    "article": "JOUR", "preprint": "UNPB", "statute": "STAT", "webpage": "ELEC",
    "document": "GEN",
}  # fmt: skip
# Words whose capitals a style must not lower: COVID-19, SSTables, mRNA.
_CAPITALS = re.compile(r"(?<![\\\w{])[A-Za-z]*(?:[a-z0-9][A-Z]|[A-Z]{2})[\w-]*(?![\w}])")
_UNSAFE_IN_BIBTEX = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20"})
# A key may hold any letter, but not what ends it.
_UNSAFE_IN_KEY = re.compile(r"[\s,{}%#~@\\\"'=()]+")


def render_csl(references: Sequence[Reference]) -> str:
    """Return CSL-JSON, which Zotero, Pandoc and citeproc read."""
    return json.dumps([_csl(one) for one in references], indent=1, ensure_ascii=False) + "\n"


def _csl(reference: Reference) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": reference.key,
        "type": _CSL_TYPES[reference.kind],
        "title": reference.title,
        "author": [_csl_name(name) for name in reference.authors],
        "issued": {"date-parts": [list(reference.issued)]} if reference.issued else None,
        "publisher": reference.publisher,
        "DOI": reference.doi,
        "URL": reference.url,
        "accessed": {"date-parts": [list(reference.accessed)]} if reference.accessed else None,
        "language": reference.language,
    }
    return {name: value for name, value in values.items() if value}


def _csl_name(name: PersonName) -> dict[str, str]:
    parts = {
        "literal": name.literal,
        "family": name.family,
        "given": name.given,
        "non-dropping-particle": name.particle,
        "suffix": name.suffix,
    }
    return {part: value for part, value in parts.items() if value}


def render_bibtex(references: Sequence[Reference]) -> str:
    """Return BibTeX: characters of TeX escaped, capitals inside words protected.

    DOI and URL are left as they are: BibTeX styles and biblatex take them verbatim.
    """
    from bibtexparser.entrypoint import write_string
    from bibtexparser.library import Library
    from bibtexparser.middlewares import MergeCoAuthors, MergeNameParts

    library = Library([_bibtex(one) for one in references])
    return write_string(library, prepend_middleware=[MergeNameParts("last"), MergeCoAuthors()])


def _bibtex(reference: Reference) -> Any:
    from bibtexparser.model import Entry, Field

    encode = _encoder().unicode_to_latex
    month = f"{reference.issued[1]:02d}" if len(reference.issued) > 1 else ""
    values: dict[str, Any] = {
        "author": [_bibtex_name(name) for name in reference.authors],
        "title": _CAPITALS.sub(r"{\g<0>}", encode(reference.title)),
        "year": str(reference.issued[0]) if reference.issued else "",
        "month": month,
        # BibTeX styles know no statutes; this is printed by all of them.
        "howpublished": _called(reference) if reference.kind == "statute" else "",
        "publisher": encode(reference.publisher),
        "doi": reference.doi.translate(_UNSAFE_IN_BIBTEX),
        "url": reference.url.translate(_UNSAFE_IN_BIBTEX),
        "urldate": _date(reference.accessed, "-"),
        "langid": {"zh": "chinese", "en": "english"}.get(reference.language[:2], ""),
    }
    fields = [Field(name, value) for name, value in values.items() if value]
    return Entry(_BIBTEX_TYPES[reference.kind], _UNSAFE_IN_KEY.sub("-", reference.key), fields)


def _called(statute: Reference) -> str:
    return "法律法规" if statute.language.startswith("zh") else "Statute"


def _bibtex_name(name: PersonName) -> Any:
    from bibtexparser.middlewares import NameParts

    encode = _encoder().unicode_to_latex
    if name.literal:
        return NameParts(last=[f"{{{encode(name.literal)}}}"])
    if name.is_chinese:
        # In one piece: styles would print given name and family name with a blank between.
        return NameParts(last=[name.written])
    parts = {"first": name.given, "von": name.particle, "last": name.family, "jr": name.suffix}
    return NameParts(**{part: [encode(text)] if text else [] for part, text in parts.items()})


@cache
def _encoder() -> "UnicodeToLatexEncoder":
    from pylatexenc.latexencode import (
        RULE_DICT,
        UnicodeToLatexConversionRule,
        UnicodeToLatexEncoder,
    )

    # BibTeX counts braces before TeX sees them, those behind a backslash too.
    braces = {ord("{"): r"\textbraceleft", ord("}"): r"\textbraceright"}
    # Chinese stays as it is: no TeX has commands for it, and those that set it read UTF-8.
    return UnicodeToLatexEncoder(
        conversion_rules=[UnicodeToLatexConversionRule(RULE_DICT, braces), "defaults"],
        unknown_char_policy="keep",
        unknown_char_warning=False,
        replacement_latex_protection="braces-all",
    )


def render_ris(references: Sequence[Reference]) -> str:
    """Return RIS, which every reference manager imports."""
    import rispy

    class Writer(rispy.RisWriter):  # type: ignore[misc]
        def set_header(self, count: int) -> str:  # noqa: ARG002 - the library's signature
            return ""  # the number that it writes before an entry is not of the format

    text: str = rispy.dumps([_ris(one) for one in references], implementation=Writer)
    return text


def _ris(reference: Reference) -> dict[str, Any]:
    values: dict[str, Any] = {
        "type_of_reference": _RIS_TYPES[reference.kind],
        "id": reference.key,
        "title": reference.title,
        "authors": [name.inverted for name in reference.authors],
        "year": str(reference.issued[0]) if reference.issued else "",
        "date": _ris_date(reference.issued) if len(reference.issued) > 1 else "",
        "publisher": reference.publisher,
        "doi": reference.doi,
        "urls": [reference.url] if reference.url else [],
        "access_date": _ris_date(reference.accessed) if reference.accessed else "",
        "language": reference.language,
    }
    return {name: value for name, value in values.items() if value}


def _ris_date(parts: Sequence[int]) -> str:
    """Return `YYYY/MM/DD/`, parts that are not known left empty."""
    return _date(parts, "/") + "/" * (4 - len(parts))


def _date(parts: Sequence[int], between: str) -> str:
    return between.join(
        f"{part:04d}" if place == 0 else f"{part:02d}" for place, part in enumerate(parts)
    )


def render_markdown(references: Sequence[Reference], title: str, notes: Sequence[str]) -> str:
    """Return the list for a reader: who, when, what, where it is used, and what is missing.

    Args:
        references: in their order.
        title: of what they are used by.
        notes: sentences that a person should know.
    """
    return "\n".join([*_markdown(references, title, notes)]).rstrip("\n") + "\n"


def _markdown(references: Sequence[Reference], title: str, notes: Sequence[str]) -> Iterator[str]:
    yield f"# Sources used: {_line(title)}"
    yield ""
    for note in notes:
        yield f"- WARN: {escape_prose(note)}"
    if notes:
        yield ""
    for number, one in enumerate(references, start=1):
        year = str(one.issued[0]) if one.issued else "n.d."
        names = escape_inline("; ".join(name.inverted for name in one.authors))
        yield (
            f"{number}. {f'{names} ({year})' if names else f'({year})'}. *{_line(one.title)}*."
            + (f" {_line(one.publisher)}." if one.publisher else "")
        )
        if one.doi or one.url:
            yield f"   {escape_inline(f'https://doi.org/{one.doi}' if one.doi else one.url)}"
        cite = code_span(f"{{#{one.cite_as}}}")
        yield f"   - cite as {cite}, key {code_span(one.key)}"
        if one.accessed:
            yield f"   - looked at on {_date(one.accessed, '-')}"
        if one.where:
            yield f"   - used: {_line(', '.join(one.where))}"
        if one.missing:
            yield (
                f"   - not found in the document: {', '.join(one.missing)}. State it in "
                "`<file>.meta.yaml` or with `rag meta set`, then `rag ingest`."
            )
    yield ""
    yield f"Sources used (doc_uid list): {', '.join(code_span(one.doc_uid) for one in references)}"


def _line(text: str) -> str:
    """Return what stands behind words of ours, on one line."""
    return escape_inline(text, opens=False)


# Which documents a pack or an audit uses, and their references written beside it.

Notify = Callable[[str], None]

# By the name that the command line uses: the suffix of the file.
FORMATS = {"markdown": ".md", "csl": ".json", "bibtex": ".bib", "ris": ".ris"}

# What an audit offers beside what the draft cites.
_NOT_USED = ("counter", "suggest", "nearest")

# (namespace, doc_uid); the namespace is empty where an audit does not say it.
DocumentKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ExportedSources:
    """References and where they lie.

    Args:
        used_by: name of the pack or audit.
        files: by suffix.
        is_new: False where the same files stood there already.
        notes: sentences a person should know.
    """

    used_by: str
    references: tuple[Reference, ...]
    files: Mapping[str, Path]
    is_new: bool
    notes: tuple[str, ...]


def export_used_sources(
    workspace: Workspace,
    path: Path | None = None,
    *,
    formats: Sequence[str] = (),
    notify: Notify = lambda sentence: None,
) -> ExportedSources:
    """Write the references of the documents that a pack or an audit uses.

    Title, authors, year, DOI and the rest are those of today's publication, so that a sidecar or
    an override that was added since counts; for a document that is not published any more, those
    that the pack was made with.

    Args:
        workspace: that holds the publications.
        path: of a pack (any of its files) or of an audit's JSON; without, the latest pack.
        formats: names of `FORMATS`; without, all.
        notify: is told where another process is writing.

    Returns:
        Files `outputs/used_sources_v###.*`; where the last version holds the same, that one.

    Raises:
        UsageError: no pack; not a pack or audit; it uses nothing; a document that nothing knows.
        DamagedFileError: the file is not what was written.
    """
    data = _json_of(path) if path is not None else latest_pack(workspace)
    loaded = read_json(data, "evidence pack or audit")
    known, pairs = _used(loaded, data)
    if not pairs:
        raise UsageError(f"{data}: it uses no source. Name another pack or audit, or ask again.")
    return export_references(
        workspace, data.stem, pairs, known=known, formats=formats, notify=notify
    )


def export_references(
    workspace: Workspace,
    used_by: str,
    pairs: Iterable[tuple[DocumentKey, str]],
    *,
    known: Mapping[DocumentKey, Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
    formats: Sequence[str] = (),
    notify: Notify = lambda sentence: None,
) -> ExportedSources:
    """Write the references of documents, as `export_used_sources` does.

    Args:
        used_by: what uses them, for people.
        pairs: of a document and where it is used in it, in the order of the references; the place
            is empty where none is named.
        known: what is known of documents that are not published any more.
        notes: sentences a person should know, to which others are added.

    Raises:
        UsageError: a document that nothing knows.
    """
    used: dict[DocumentKey, tuple[str, ...]] = {}
    for key, locator in pairs:
        before = used.get(key, ())
        used[key] = before if not locator or locator in before else (*before, locator)
    rows, unpublished = _rows(workspace, known or {}, used, used_by)
    references, shared = with_distinct_keys(
        [make_reference(rows[key], where) for key, where in used.items()]
    )
    notes = (*notes, *unpublished, *shared)
    suffixes = [FORMATS[name] for name in formats or FORMATS]
    texts = {
        ".md": render_markdown(references, used_by, notes),
        ".json": render_csl(references),
        ".bib": render_bibtex(references),
        ".ris": render_ris(references),
    }
    texts = {suffix: texts[suffix] for suffix in suffixes}
    stored = _stored(workspace, texts)
    if stored is not None:
        return ExportedSources(used_by, references, stored, False, notes)
    written = write_version(
        workspace.outputs,
        "used_sources",
        texts,
        workspace.meta / "version_log.jsonl",
        workspace.locks / "outputs.lock",
        f"sources of {used_by}",
        notify,
    )
    return ExportedSources(used_by, references, written.files, True, notes)


def latest_pack(workspace: Workspace) -> Path:
    """Return the JSON file of the pack with the highest number.

    Raises:
        UsageError: there is none.
    """
    found = find_versions(workspace.outputs, "evidence_pack", ".json")
    if not found:
        raise UsageError(
            f"{workspace.outputs} holds no evidence pack. Make one with `rag query`, or name an "
            "audit's JSON."
        )
    return found[-1][1]


def _json_of(path: Path) -> Path:
    data = path.with_suffix(".json")
    if not data.is_file():
        found = f"{data.name} beside it is missing" if path.exists() else "there is no such file"
        raise UsageError(
            f"{path}: {found}. Name a draft (.md, .txt, .tex, .docx), or a pack or an audit below "
            "outputs/."
        )
    return data


def _used(
    loaded: Mapping[str, Any], data: Path
) -> tuple[dict[DocumentKey, Mapping[str, Any]], list[tuple[DocumentKey, str]]]:
    """Return what the file itself knows of documents, and those that it uses with locators."""
    schema = str(loaded.get("schema"))
    known: dict[DocumentKey, Mapping[str, Any]] = {}
    if schema in READABLE_SCHEMAS:
        pack = pack_from_json(loaded)
        known = {(one.namespace, one.doc_uid): asdict(one) for one in pack.sources}
        pairs = [((item.namespace, item.doc_uid), item.locator) for item in pack.items]
    elif schema.startswith("rag-assets/") and "audit" in schema:
        pairs = list(dict.fromkeys(_cited(loaded)))
    else:
        raise UsageError(
            f"{data}: neither an evidence pack of this version nor an audit (schema {schema}). "
            "Ask the question again, or audit the draft again."
        )
    return known, pairs


def _cited(value: Any, namespace: str = "") -> Iterator[tuple[DocumentKey, str]]:
    """Yield every document that an audit names, wherever it names it, unless it is an error."""
    if isinstance(value, Mapping):
        if value.get("status") == "ERROR":
            return
        namespace = str(value.get("namespace") or namespace)
        if value.get("doc_uid"):
            yield (namespace, str(value["doc_uid"])), str(value.get("locator") or "")
        for name, one in value.items():
            if not name.startswith(_NOT_USED):
                yield from _cited(one, namespace)
    elif isinstance(value, list):
        for one in value:
            yield from _cited(one, namespace)


def _rows(
    workspace: Workspace,
    known: Mapping[DocumentKey, Mapping[str, Any]],
    used: Mapping[DocumentKey, tuple[str, ...]],
    used_by: str,
) -> tuple[dict[DocumentKey, Mapping[str, Any]], tuple[str, ...]]:
    published = {
        (row["namespace"], row["doc_uid"]): row
        for name in workspace.namespace_names
        for row in _published(workspace, name, {uid for _, uid in used})
    }
    rows: dict[DocumentKey, Mapping[str, Any]] = {}
    notes = []
    for key in used:
        namespace, uid = key
        anywhere = [row for (_, one), row in published.items() if one == uid]
        if key in published:
            rows[key] = published[key]
        elif not namespace and len(anywhere) == 1:
            rows[key] = anywhere[0]
        elif key in known:
            rows[key] = known[key]
            notes.append(
                f"`{uid}` is not published in '{namespace}' any more: its reference is what the "
                "pack was made with."
            )
        else:
            raise UsageError(
                f"{used_by} uses '{uid}', which no current publication holds. `rag documents` "
                "lists what is there; `rag ingest` publishes what is in raw/."
            )
        homes = [row["namespace"] for row in anywhere if row["citable"]]
        own = rows[key]["namespace"]
        rows[key] = {**rows[key], "cite_as": f"{own}:{uid}" if set(homes) - {own} else uid}
    return rows, tuple(notes)


def _published(workspace: Workspace, name: str, uids: set[str]) -> list[dict[str, Any]]:
    folder = workspace.namespace(name).publications
    if read_pointer(folder) is None:
        return []
    found = current_folder(folder, name)
    connection = open_catalogue(found / catalogue_name(found.name))
    try:
        rows: list[dict[str, Any]] = read_table(
            connection, "documents", "doc_uid", sorted(uids)
        ).to_pylist()
    finally:
        connection.close()
    return rows


def _stored(workspace: Workspace, texts: Mapping[str, str]) -> dict[str, Path] | None:
    """Return the files of the last version where they hold the same."""
    found = {s: find_versions(workspace.outputs, "used_sources", s) for s in texts}
    if not all(found.values()) or len({versions[-1][0] for versions in found.values()}) != 1:
        return None
    files = {suffix: versions[-1][1] for suffix, versions in found.items()}
    same = all(files[s].read_text(encoding="utf-8") == text for s, text in texts.items())
    return files if same else None
