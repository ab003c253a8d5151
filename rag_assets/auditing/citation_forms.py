"""Citations as people write them, and the places that they name."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag_assets.law import ONE_ARTICLE, find_references, national_laws
from rag_assets.law.citing import write_citation
from rag_assets.model import HAN_RANGES, RECOGNISED

# Where in a document a citation says that its support stands: `p. 3`, `pp. 3-5`, `第3页`.

_RANGE = r"\d{1,5}(?:\s*[-\u2010-\u2015~～至到]{1,2}\s*\d{1,5})?(?:\s*ff?\b\.?)?"
_LIST = rf"{_RANGE}(?:\s*(?:,|，|、|and|&|和)\s*{_RANGE})*"
_PAGES = re.compile(
    rf"(?:(?:pp?|pgs?|pages?|S|Seiten?|páginas?|с|стр)\b\.?\s*(?P<latin>{_LIST})"
    rf"|第?\s*(?P<han>{_LIST})\s*[页頁]|[页頁]\s*(?P<after>{_LIST}))",
    re.IGNORECASE,
)
_BARE = re.compile(_LIST)
_ONE = re.compile(
    r"(?P<first>\d{1,5})(?:\s*[-\u2010-\u2015~～至到]{1,2}\s*(?P<last>\d{1,5}))?(?P<open>\s*ff?\b)?"
)
_OTHER = re.compile(
    r"(?:ch(?:ap(?:ter)?s?)?|sec(?:tion|t)?s?|art(?:icle)?s?|para(?:graph)?s?|fig(?:ure)?s?|"
    r"tab(?:le)?s?|app(?:endix)?|vol(?:ume)?|no|ll?|lines?|nn?|note|eq|p|pp)\b\.?\s*[\w.\-]{1,12}(?:\s?\(\w{1,4}\)){0,3}"
    r"|§{1,2}\s*[\w.\-]{1,12}(?:\s?\(\w{1,4}\)){0,3}"
    # 第二十条第（二）项, 第二百七十六条之一
    r"|(?:[、,及和与至到\s]*第?\s*[(（]?[〇零一二三四五六七八九十百千\d]{1,10}[)）]?\s*[条條章节節款项項目编編]"
    r"(?:之[一二三四五六七八九十\d]+)?)+",
    re.IGNORECASE,
)
# The same in a text that says more.
PAGES = re.sub(r"\?P<\w+>", "?:", _PAGES.pattern)
PLACE = re.compile(rf"(?<!\w)(?:{PAGES}|{_OTHER.pattern})", re.IGNORECASE)
# What LaTeX writes for a space: p.~9, pp.\,2--3.
_TIE = re.compile(r"(?<=[A-Za-z.§])(?:~|\\[,;: ])+")
# Pages of front matter, and of a part of a journal: p. xii, p. e14.
_OTHER_PAGE = re.compile(r"p(?:age|\.)?\s*([ivxlc]+|[a-z]\d+)\.?", re.IGNORECASE)
# `p. 3ff.`: this page and those that follow; nobody means more than a few.
_FOLLOWING_PAGES = 3


@dataclass(frozen=True, slots=True)
class LocatorHint:
    """A place named in a citation.

    Args:
        text: as written.
        pages: ranges of pages, both ends included; empty where something else is named.
    """

    text: str
    pages: tuple[tuple[int, int], ...] = ()

    def names_page(self, first: int, last: int, labels: Sequence[str] = ()) -> bool:
        """Say whether one of the pages from `first` to `last` is named.

        Args:
            first: place in the file, from 1.
            labels: the number that each page of the document bears in print. A page that is named
                is the one that bears the number; where none does, the one at that place.
        """
        named = [*self._printed(labels)]
        return any(start <= last and first <= end for start, end in named or self.pages)

    def _printed(self, labels: Sequence[str]) -> Iterator[tuple[int, int]]:
        other = _OTHER_PAGE.fullmatch(self.text)
        named = other[1].casefold() if other else None
        for sheet, marked in enumerate(labels, start=1):
            label = marked.removesuffix(RECOGNISED).rstrip()
            is_named = label.isdecimal() and any(a <= int(label) <= b for a, b in self.pages)
            if is_named or label.casefold() == named:
                yield sheet, sheet


def read_hint(text: str, *, bare: bool) -> LocatorHint | None:
    """Return the place that the whole of `text` names, None where it names none.

    Args:
        text: what stands behind the key.
        bare: whether numbers alone are pages, as they are behind a comma.
    """
    written = " ".join(text.split()).strip("{} ")
    normal = _TIE.sub(" ", unicodedata.normalize("NFKC", written)).strip().rstrip(".")
    match = _PAGES.fullmatch(normal)
    if match is not None:
        return LocatorHint(written, _ranges(next(group for group in match.groups() if group)))
    if bare and _BARE.fullmatch(normal):
        return LocatorHint(written, _ranges(normal))
    return LocatorHint(written) if _OTHER.fullmatch(normal) else None


def find_hint(text: str) -> LocatorHint | None:
    """Return the place with which `text` begins: the suffix of a Pandoc or LaTeX citation.

    Numbers alone are pages there. Other words (`and passim`) name no place.
    """
    suffix = _TIE.sub(" ", unicodedata.normalize("NFKC", text))
    suffix = suffix.strip().lstrip(",").strip().lstrip("{").strip()
    pages = _PAGES.match(suffix)
    if pages is not None:
        return LocatorHint(pages.group(), _ranges(next(group for group in pages.groups() if group)))
    bare = _BARE.match(suffix)
    if bare is not None:
        return LocatorHint(bare.group(), _ranges(bare.group()))
    other = _OTHER.match(suffix)
    return LocatorHint(other.group()) if other else None


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    ranges = []
    for match in _ONE.finditer(text):
        first = int(match["first"])
        last = int(match["last"]) if match["last"] else first
        if match["last"] and last < first:
            # 134-9 is 134 to 139.
            kept = len(match["first"]) - len(match["last"])
            last = int(match["first"][:kept] + match["last"]) if kept > 0 else first
        if match["open"]:
            last = max(last, first + _FOLLOWING_PAGES)
        ranges.append((min(first, last), max(first, last)))
    return tuple(ranges)


# Citations as they are written: `{#doc_uid}`, Pandoc's `[@key]` and `@key`, LaTeX's `\cite`, and
# `[law > chapter > article]`. Words that name an article cite it too: 《劳动合同法》第三十九条.

CitationForm = Literal["anchor", "pandoc", "mention", "latex", "statute", "words", "written"]

# Full-width braces and signs are what a Chinese input method types; they mean the same. So does the
# sign of the other form between the braces.
# The length is bounded so that an unclosed brace cannot swallow a chapter.
_SIGNS = "#＃@＠"
ANCHOR = rf"[{{｛][^\S\n]*[{_SIGNS}][^{{}}｛｝]{{0,400}}[}}｝]"
_ANCHOR = re.compile(ANCHOR)
_ITEM = re.compile(rf"(?:(?!\s+[{_SIGNS}])[^;,；，、])+")
_ATTRIBUTE = re.compile(r"(?:^|\s)(?:\.[^\W\d]|[\w-]+=)")
_ENTRY_END = re.compile("[;；]")
_LAST_PART = re.compile(r"\s+(?=\S)")

# LaTeX: the starred and capitalised forms of natbib and biblatex too, up to two optional notes
# before the keys; those that end with s take both again and again: \cites[1]{lee}[see][3]{chen}.
_LATEX_NOTES = r"(?:\s?\[(?:[^\[\]{{}}]|\{{[^{{}}]*\}}){{0,200}}\]){{0,2}}"
_LATEX_KEYS = r"\{{[^{{}}]{{0,2000}}\}}"
LATEX = (
    r"\\(?P<{0}>(?!nocite|citetext|citestyle|citesetup)[A-Za-z]*[cC]ite[A-Za-z]*)\*?(?:"
    r"(?:(?<=s)|(?<=s\*))(?:\([^()]{{0,200}}\)){{0,2}}"
    rf"{_LATEX_NOTES}{_LATEX_KEYS}(?:{_LATEX_NOTES}{_LATEX_KEYS}){{{{0,40}}}}"
    rf"|{_LATEX_NOTES}{_LATEX_KEYS})"
)
_LATEX_SOURCE = re.compile(
    rf"(?P<notes>{_LATEX_NOTES})\s?{_LATEX_KEYS}".replace("{{", "{").replace("}}", "}")
)
_LATEX_NOTE = re.compile(r"\[((?:[^\[\]{}]|\{[^{}]*\})*)\]")
# The author's name, the title or the whole reference is part of the sentence there.
_TEXTUAL = re.compile(r"(?:[cC]itet(?!ext)|[tT]extcite|[cC]iteauthor|citetitle|[fF]ullcite)")

# https://pandoc.org/MANUAL.html#citation-syntax; a key in running text is read no further than
# Latin letters go, since Chinese goes on without a space. Between round brackets it has an end.
_LETTERS = r"A-Za-z0-9_\u00c0-\u024f"
_AT = "[@＠]"
_OPEN = r"\[［【〔"
_CLOSE = r"\]］】〕"
_END_OF_KEY = r"\s,，、;；:：.。!！?？()（）\[\]［］【】〔〕{}｛｝<>《》“”\"@＠"
_KEY_IN_TEXT = (
    rf"(?:\{{[^{{}}\n]+\}}|[{_LETTERS}]+(?:[:.\#$%&\-\u2010\u2011\u00ad+?<>~/][{_LETTERS}]+)*)"
)
# Of digits alone without a blank before them it cannot be told whether they are a page.
_PLACE = (
    r"(?:(?:\s?[\[［](?=(?i:pp?\b|pages?\b|ch|sec|art|§|第))|\s[\[［](?=\d))"
    r"[^\[\]［］]{0,80}[\]］](?![(\[]))?"
)
_NUMBERED = (
    r"第\s*[〇零一二三四五六七八九十百千\d]+(?:\s*[-\u2010-\u2015~～至到]\s*\d+)?"
    r"\s*[页頁条條款項项章节節]"
)
_TO_BRACKET = (
    rf"(?=\s*(?:(?:[;；]|[,，、]?\s*(?:-?{_AT}|{_NUMBERED})|[\s,，、]\s*(?:\d|pp?\b|§|[页頁]))"
    r"[^()（）\n]{0,200})?[)）])"
)
_KEY_IN_BRACKETS = (
    rf"(?=[^{_END_OF_KEY}]{{0,120}}[{HAN_RANGES}])[^{_END_OF_KEY}]{{1,120}}?{_TO_BRACKET}"
)
MENTION = (
    rf"(?<![{_LETTERS}@＠./:=&?\#%+\\~\-])-?{_AT}(?:{_KEY_IN_BRACKETS}|{_KEY_IN_TEXT}{_PLACE})"
)
_INSIDE = rf"[^{_OPEN}{_CLOSE}]"
PANDOC = (
    rf"[{_OPEN}](?:[^{_OPEN}{_CLOSE}@＠]{{0,120}}[\s\-;；,，{HAN_RANGES}])?{_AT}{_INSIDE}{{1,400}}"
    rf"[{_CLOSE}](?![(\[])"
)
# [law > chapter > article]: only what ends with an article, one or several in a bracket; an image,
# a note and the words of a link are none.
_LEVEL = rf"(?:[^{_OPEN}{_CLOSE}<>＞›;；|]{{1,120}}|\s*【[^{_OPEN}{_CLOSE}<>＞›;；|]{{1,60}}】\s*)"
_ENTRY = (
    rf"[^{_OPEN}{_CLOSE}{{}}｛｝<>＞›;；|^@＠]{{2,120}}(?:[>＞›]{_LEVEL}){{0,8}}"
    rf"[>＞›]\s*{ONE_ARTICLE}\s*"
)
_ENTRIES = rf"[{_OPEN}]{_ENTRY}(?:[;；]{_ENTRY}){{0,20}}[{_CLOSE}]"
STATUTE = rf"(?<!!){_ENTRIES}(?!\()(?!\[(?!{_ENTRY}))"
_KEY = re.compile(
    rf"(?:(?<![^\s\-;；,，、(（{_OPEN}])|(?<=[{HAN_RANGES}]))-?{_AT}"
    rf"(?P<key>\{{[^{{}}\n]+\}}|[^\s;,；，、{_OPEN}{_CLOSE}{{}}]+)"
)
_STATUTE = re.compile(_ENTRIES)
# pandoc-crossref and Quarto point at figures and sections in the same way.
_CROSS_REFERENCE = re.compile(r"(?:fig|tbl|tab|sec|eq|lst|thm|lem|def|cor|prp|exm|exr|cnj)[:\-]")


@dataclass(frozen=True, slots=True)
class Citation:
    """One cited document, where it stands in the draft.

    Args:
        namespace: as written before the colon, None where the draft leaves it open.
        doc_uid: uid or key as written, in NFKC; empty for `{#}`; of a statute all between the
            brackets, law > chapter > article; of a citation as printed (`Lee et al., 2021`, `[3]`)
            its words.
        start: offset of the citation in the draft's text, in code points; `end` its end.
        form: how it is written.
        hint: the place in the document that it names.
        claim: what it is to support, where its sentence cites others for other clauses; empty
            means the whole sentence.
        entries: places in the draft's reference list, from 0, of a citation as printed; none where
            no entry fits, several where more than one does.
    """

    namespace: str | None
    doc_uid: str
    start: int
    end: int
    form: CitationForm = "anchor"
    hint: LocatorHint | None = None
    claim: str = ""
    entries: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """Return the citation as a person writes it between the braces, without `#`."""
        return f"{self.namespace}:{self.doc_uid}" if self.namespace else self.doc_uid

    def written_as(self, label: str) -> str:
        """Return `label` in the form of this citation."""
        if self.form == "latex":
            return f"\\cite{{{label}}}"
        if self.form in {"statute", "words"}:
            return f"[{label}]"
        return f"@{label}" if self.form in {"pandoc", "mention"} else f"{{#{label}}}"


@dataclass(frozen=True, slots=True)
class WrittenCitation:
    """A citation as printed: a bracket, a superscript, names with a year, a field of Word.

    Args:
        start: offset of its first character in the draft's text, code points; `end` its end.
        citations: of it, one a source, of the form `written`.
        is_word: whether it is part of its sentence: `Lee (2021) found`, not `found (Lee, 2021)`.
    """

    start: int
    end: int
    citations: tuple[Citation, ...]
    is_word: bool = False


def find_anchors(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of every anchor in `text` whose brace no backslash escapes."""
    for match in _ANCHOR.finditer(text):
        slashes = 0
        while text[match.start() - slashes - 1 : match.start() - slashes] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            yield match.span()


def is_attribute_list(anchor: str) -> bool:
    """Say whether `anchor` is Markdown's `{#id .class key=value}` rather than a citation."""
    return _ATTRIBUTE.search(anchor[1:-1]) is not None


def is_textual(written: str) -> bool:
    """Say whether a citation stands for words of its sentence: `@key found that …`."""
    if written.startswith("\\"):
        return _TEXTUAL.match(written, 1) is not None
    return written.startswith(("@", "＠", "-"))


def is_cross_reference(written: str) -> bool:
    """Say whether `@fig:…` and its like are all that is written."""
    keys = [match["key"].strip("{}") for match in _KEY.finditer(written)]
    return bool(keys) and all(_CROSS_REFERENCE.match(key) for key in keys)


def read_citations(written: str, offset: int) -> tuple[Citation, ...]:
    """Return the citations of one anchor, bracket, mention or command; never empty.

    Args:
        written: from its first to its last character.
        offset: of it in the draft's text, in code points.
    """
    if written.startswith("\\"):
        return _read_latex(written, offset)
    if written.startswith(("{", "｛")):
        return _read_anchor(written, offset)
    if _STATUTE.fullmatch(written):
        return tuple(_read_statutes(written, offset))
    return _read_pandoc(written, offset)


def _read_anchor(anchor: str, offset: int) -> tuple[Citation, ...]:
    """Read `{#…}`, `{@…}`. Whatever stands between the braces is taken as a uid, spaces included.

    A uid that does not exist becomes an error that the writer sees, where an anchor passed over
    would not be seen.
    """
    citations: list[Citation] = []
    for match in _ITEM.finditer(anchor, 1, len(anchor) - 1):
        written = match.group()
        item = written.strip()
        if not item.lstrip(_SIGNS).strip():
            continue
        if citations and not item.startswith(tuple(_SIGNS)):
            hint = _more_pages(citations[-1].hint, item) or read_hint(item, bare=True)
            if hint is not None:
                end = offset + match.start() + len(written.rstrip())
                citations[-1] = replace(citations[-1], hint=hint, end=end)
                continue
        start = offset + match.start() + len(written) - len(written.lstrip())
        name, hint = _split_hint(item.lstrip(_SIGNS).strip())
        namespace, doc_uid = split_namespace(name)
        citations.append(
            Citation(namespace, doc_uid, start, start + len(written.strip()), "anchor", hint)
        )
    return tuple(citations) or (Citation(None, "", offset, offset + len(anchor)),)


def _more_pages(hint: LocatorHint | None, item: str) -> LocatorHint | None:
    """Return `pp. 3, 7` where `7` follows `pp. 3`."""
    if hint is None or not hint.pages:
        return None
    more = read_hint(item, bare=True)
    if more is None or not more.pages:
        return None
    return LocatorHint(f"{hint.text}, {more.text}", hint.pages + more.pages)


def _split_hint(item: str) -> tuple[str, LocatorHint | None]:
    for gap in _LAST_PART.finditer(item):
        hint = read_hint(item[gap.end() :], bare=False)
        if hint is not None:
            return item[: gap.start()], hint
    return item, None


def split_namespace(name: str) -> tuple[str | None, str]:
    """Return the namespace of a citation, None where none is written, and its uid or key."""
    namespace, colon, doc_uid = unicodedata.normalize("NFKC", name).partition(":")
    if not colon:
        return None, namespace
    return namespace.strip() or None, doc_uid.strip()


def _read_pandoc(written: str, offset: int) -> tuple[Citation, ...]:
    form: CitationForm = "mention" if is_textual(written) else "pandoc"
    keys = [m for m in _KEY.finditer(written) if not _CROSS_REFERENCE.match(m["key"].strip("{}"))]
    citations = []
    for position, match in enumerate(keys):
        key = match["key"].strip("{}").rstrip(".:?!") if form == "pandoc" else match["key"]
        following = keys[position + 1].start() if position + 1 < len(keys) else len(written)
        suffix = written[match.start("key") + len(match["key"]) : following]
        namespace, doc_uid = split_namespace(key.strip("{}"))
        # In `@key [p. 3]` the place stands in brackets of its own.
        hint = find_hint(_ENTRY_END.split(suffix)[0].strip().strip("[]［］【】〔〕"))
        start = offset + match.start()
        citations.append(Citation(namespace, doc_uid, start, offset + match.end(), form, hint))
    return tuple(citations) or (Citation(None, "", offset, offset + len(written), form),)


def _read_statutes(written: str, offset: int) -> Iterator[Citation]:
    for match in re.finditer(r"[^;；]+", written[1:-1]):
        start = offset + 1 + match.start()
        label = re.sub(r"\s*\n\s*", " ", match.group().strip())
        yield Citation(None, label, start, start + len(match.group()), "statute")


def find_laws_in_words(text: str, offset: int, *, has_english: bool = False) -> Iterator[Citation]:
    """Yield the articles that a sentence names with their law in title marks, or a national one.

    Args:
        offset: of the sentence in the draft's text, in code points.
        has_english: whether the English name of a Chinese law means that law: Criminal Law may be
            of any country.
    """
    for one in find_references(text, national_laws()):
        is_sure = one.form == "title" or (one.form == "words" and one.documents)
        if is_sure or (has_english and one.form == "english"):
            named = write_citation(one.law or "", (), one.shown, one.clause, one.version or "")
            label = named[1:-1]
            yield Citation(None, label, offset + one.start, offset + one.end, "words")


def _read_latex(written: str, offset: int) -> tuple[Citation, ...]:
    citations: list[Citation] = []
    for source in _LATEX_SOURCE.finditer(written):
        notes = _LATEX_NOTE.findall(source["notes"])
        # With one note it is the place, with two the second is: \citep[see][p. 3]{key}.
        hint = find_hint(re.sub("[{}]", "", notes[-1])) if notes else None
        keys_start = source.end("notes") + 1
        found = []
        for match in re.finditer(r"[^,\s][^,]*", written[keys_start : source.end() - 1]):
            key = match.group().rstrip()
            namespace, doc_uid = split_namespace(key)
            start = offset + keys_start + match.start()
            found.append(Citation(namespace, doc_uid, start, start + len(key), "latex"))
        if found and hint is not None:
            found[-1] = replace(found[-1], hint=hint)
        citations += found
    return tuple(citations) or (Citation(None, "", offset, offset + len(written), "latex"),)
