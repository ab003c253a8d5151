"""Word drafts: their text as Markdown, the citations of their fields, the paragraph of each place.

A copy of the document is parsed in which noncharacters mark the fields, notes and paragraphs. They
come through the parser as the letters beside them do, and are taken out of the text again.
"""

import re
import zipfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

from rag_assets.auditing.citation_forms import (
    ANCHOR,
    PANDOC,
    STATUTE,
    Citation,
    LocatorHint,
    WrittenCitation,
)
from rag_assets.auditing.pointers import find_place
from rag_assets.auditing.references import LIST_HEADING, DraftSource, Entry
from rag_assets.auditing.word_fields import (
    LIST_TAGS,
    MENDELEY_TAG,
    CitedItem,
    UnreadableFieldError,
    is_list_field,
    read_citation_field,
    read_word_sources,
)
from rag_assets.model import Block, ParsedDocument, ParseFailure, UsageError, hash_bytes

if TYPE_CHECKING:
    from lxml.etree import _Element

    from rag_assets.parsing import OfficePackage

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DOCUMENT = "word/document.xml"
# A zip package, or what Word makes of one with a password.
_CONTAINERS = (b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0")


def read_word(name: str, data: bytes) -> DraftSource:
    """Return what a Word document says, as Markdown, and what its fields cite.

    Headings, list items, tables and footnotes are marked as such; citations typed by hand stay as
    typed. The line of a place is its paragraph in Word, all of them counted, from 1.

    Args:
        name: of the file, for messages and places.

    Raises:
        UsageError: the file is damaged, protected or no Word document.
    """
    from rag_assets.parsing import OfficePackage, ParseHints, parse_document, sniff_media_type
    from rag_assets.workspace import shipped_settings

    # Other bytes would be told to be text and read as a draft that cites nothing.
    if not data.startswith(_CONTAINERS):
        raise UsageError(
            f"{name}: the draft cannot be read (damaged_file). It is no Word document: it begins "
            "with other bytes than one. Save it in Word again as .docx, or give it the suffix .md "
            "or .txt if it is text."
        )
    settings, marked = shipped_settings().parse, None
    try:
        if sniff_media_type(data, "docx").endswith("wordprocessingml.document"):
            marked = _Marked(OfficePackage(data, settings))
        document = parse_document(
            marked.packed(data) if marked else data, ParseHints(extension="docx"), settings
        )
    except ParseFailure as failure:
        raise UsageError(
            f"{name}: the draft cannot be read ({failure.reason_code}). {failure.message}"
        ) from failure
    return _Source(name, document, marked).read(hash_bytes(data))


# Marks: a sign and the number of what it marks, each digit a noncharacter. Unicode keeps these for
# the use inside of programs; no text holds them.

_FIELD, _FIELD_END, _LIST, _LIST_END, _NOTE, _PARAGRAPH = map(chr, range(0xFDD4, 0xFDDA))
_DIGITS = {ord(digit): chr(0xFDE0 + value) for value, digit in enumerate("0123456789")}
_VALUES = {ord(sign): digit for digit, sign in zip("0123456789", _DIGITS.values(), strict=True)}
_MARK = re.compile("([\ufdd4-\ufdd9])([\ufde0-\ufde9]*)")
_ANY_MARK = re.compile("[\ufdd4-\ufdef]")
# A shorter paragraph may be a heading, which a mark would make another; it is found by its words.
_FEWEST_LETTERS = 40
_ZOTERO_BOOKMARK = "ZOTERO_BREF_"


def _mark(sign: str, number: int | None = None) -> str:
    return sign if number is None else sign + str(number).translate(_DIGITS)


@dataclass(slots=True)
class _OpenField:
    """A field whose end was not reached yet."""

    data: str
    code: list[str] = field(default_factory=list)
    separate: "_Element | None" = None


class _Marked:
    """A Word package with marks at its citation fields, notes and paragraphs.

    Args:
        package: its trees are changed in place.
    """

    def __init__(self, package: "OfficePackage") -> None:
        self.cited: list[tuple[CitedItem, ...]] = []
        # Of paragraphs without a mark, by their letters, ascending.
        self.short: dict[str, list[int]] = {}
        self.unreadable: list[str] = []
        self._package = package
        self._main = package.main_part(_DOCUMENT)
        self._sources = dict(self._word_sources())
        self._bookmarks = self._zotero_bookmarks()
        notes = [
            part for kind in ("footnotes", "endnotes") for part in package.related(self._main, kind)
        ]
        self._parts = [self._main, *notes]
        for part in self._parts:
            root = package.tree(part)
            self._mark_fields(root)
            self._mark_controls(root)
            self._mark_bookmarks(root)
        body = package.tree(self._main)
        for reference in body.iter(W + "footnoteReference", W + "endnoteReference"):
            _put(reference, _mark(_NOTE), is_behind=False)
        for number, paragraph in enumerate(count_paragraphs(body), 1):
            self._mark_paragraph(paragraph, number)

    def packed(self, data: bytes) -> bytes:
        """Return the package with its marked parts."""
        from lxml import etree

        packed = BytesIO()
        changed = {part.casefold(): part for part in self._parts}
        with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
            for member in old.infolist():
                part = changed.get(member.filename.replace("\\", "/").lstrip("/").casefold())
                # Through the package, which bounds what is unpacked.
                content = (
                    self._package.read(member.filename)
                    if part is None
                    else etree.tostring(self._package.tree(part), encoding="UTF-8")
                )
                new.writestr(member.filename, content)
        return packed.getvalue()

    def _word_sources(self) -> Iterator[tuple[str, Entry]]:
        for part in self._package.related(self._main, "customXml"):
            yield from read_word_sources(self._package.tree(part))

    def _zotero_bookmarks(self) -> dict[str, str]:
        """Return what Zotero keeps of its bookmarks in properties of up to 255 characters each."""
        pieces: dict[str, list[tuple[int, str]]] = {}
        for part in self._package.related("", "custom-properties"):
            for each in self._package.tree(part):
                name, _, number = each.get("name", "").rpartition("_")
                if name.startswith(_ZOTERO_BOOKMARK) and number.isdigit():
                    pieces.setdefault(name, []).append((int(number), "".join(each.itertext())))
        return {name: "".join(text for _, text in sorted(of)) for name, of in pieces.items()}

    def _signs(self, code: str, data: str = "") -> tuple[str, str] | None:
        """Return the marks before and behind the result of a field, None of one of no concern."""
        if is_list_field(code):
            return _mark(_LIST), _mark(_LIST_END)
        try:
            items = read_citation_field(code, data, self._sources)
        except UnreadableFieldError as error:
            self.unreadable.append(str(error))
            return None
        if not items:
            return None
        self.cited.append(items)
        return _mark(_FIELD, len(self.cited) - 1), _mark(_FIELD_END, len(self.cited) - 1)

    def _mark_fields(self, root: "_Element") -> None:
        fields: list[_OpenField] = []
        tags = (W + "fldChar", W + "instrText", W + "fldSimple")
        for element in [each for each in root.iter(*tags) if not _is_deleted(each)]:
            kind = element.get(W + "fldCharType")
            if element.tag == W + "fldSimple":
                signs = self._signs(element.get(W + "instr", ""), _field_data(element))
                if signs is not None:
                    element.insert(0, _run(signs[0], None))
                    element.append(_run(signs[1], None))
            elif kind == "begin":
                fields.append(_OpenField(_field_data(element)))
            elif not fields:
                continue
            elif element.tag == W + "instrText" and fields[-1].separate is None:
                fields[-1].code.append(element.text or "")
            elif kind == "separate":
                fields[-1].separate = element
            elif kind == "end":
                closed = fields.pop()
                code = "".join(closed.code)
                if "EN.CITE.DATA" in code and fields:
                    fields[-1].data = fields[-1].data or closed.data
                    continue
                signs = None if closed.separate is None else self._signs(code, closed.data)
                if closed.separate is not None and signs is not None:
                    _put(closed.separate, signs[0], is_behind=True)
                    _put(element, signs[1], is_behind=False)

    def _mark_controls(self, root: "_Element") -> None:
        for control in root.iter(W + "sdt"):
            properties, content = control.find(W + "sdtPr"), control.find(W + "sdtContent")
            if properties is None or content is None or _is_deleted(control):
                continue
            tag = "".join(each.get(W + "val", "") for each in properties.iterfind(W + "tag"))
            is_list = tag.startswith(LIST_TAGS) or properties.find(W + "bibliography") is not None
            signs = None
            if is_list or tag.startswith(MENDELEY_TAG):
                signs = self._signs("BIBLIOGRAPHY" if is_list else tag)
            if signs is not None:
                paragraphs = list(content.iter(W + "p")) or [content]
                first, last = paragraphs[0], paragraphs[-1]
                at = 1 if first.find(W + "pPr") is not None else 0
                first.insert(at, _run(signs[0], None))
                last.append(_run(signs[1], None))

    def _mark_bookmarks(self, root: "_Element") -> None:
        ends = {each.get(W + "id"): each for each in root.iter(W + "bookmarkEnd")}
        for start in root.iter(W + "bookmarkStart"):
            code = self._bookmarks.get(start.get(W + "name", ""))
            end = ends.get(start.get(W + "id"))
            if code is None or end is None or _is_deleted(start):
                continue
            signs = self._signs(code)
            if signs is not None:
                _put_beside(start, signs[0], is_behind=True)
                _put_beside(end, signs[1], is_behind=False)

    def _mark_paragraph(self, paragraph: "_Element", number: int) -> None:
        texts = [
            each
            for each in paragraph.iter(W + "t")
            if not _is_deleted(each) and _MARK.search(each.text or "") is None
        ]
        letters = _letters("".join(each.text or "" for each in texts))
        level = [each for each in texts if each.getparent().find(f"{W}rPr/{W}vertAlign") is None]
        # Before the last letter: how a paragraph begins and ends says what it is.
        last = next((each for each in reversed(level) if _letters(each.text or "")), None)
        if len(letters) < _FEWEST_LETTERS or last is None:
            self.short.setdefault(letters, []).append(number)
            return
        text = last.text or ""
        at = max(index for index, character in enumerate(text) if character.isalnum())
        last.text = text[:at] + _mark(_PARAGRAPH, number) + text[at:]


def count_paragraphs(root: "_Element", w: str = W) -> "Iterator[_Element]":
    """Yield the paragraphs of a document in the order in which Word counts them: those of tables
    too, those of text boxes not.

    Args:
        w: namespace of its elements, in braces.
    """
    for paragraph in root.iter(w + "p"):
        if next(paragraph.iterancestors(w + "txbxContent"), None) is None:
            yield paragraph


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _is_deleted(element: "_Element") -> bool:
    return next(element.iterancestors(W + "del", W + "moveFrom"), None) is not None


def _field_data(element: "_Element") -> str:
    data = element.find(W + "fldData")
    return "" if data is None else data.text or ""


def _run(text: str, beside: "_Element | None") -> "_Element":
    """Return a run with a mark, in the size and weight of the run beside it."""
    from lxml import etree

    run = etree.Element(W + "r")
    properties = None if beside is None else beside.find(W + "rPr")
    if properties is not None:
        look = etree.SubElement(run, W + "rPr")
        look.extend(deepcopy(each) for each in properties if each.tag in {W + "b", W + "sz"})
    etree.SubElement(run, W + "t").text = text
    return run


def _put(element: "_Element", text: str, *, is_behind: bool) -> None:
    """Put a mark beside the run of an element."""
    run = element.getparent()
    marked = _run(text, run)
    if len(run) - (run.find(W + "rPr") is not None) > 1:  # the field's text is in the same run
        run, marked = element, marked[-1]
    (run.addnext if is_behind else run.addprevious)(marked)


def _put_beside(bookmark: "_Element", text: str, *, is_behind: bool) -> None:
    """Put a mark beside an end of a bookmark; between paragraphs, into the one it leads to."""
    parent = bookmark.getparent()
    if parent.tag in {W + "body", W + "tc", W + "sdtContent"}:
        near = bookmark.getnext() if is_behind else bookmark.getprevious()
        paragraphs = [] if near is None else list(near.iter(W + "p"))
        if paragraphs and is_behind:
            at = 1 if paragraphs[0].find(W + "pPr") is not None else 0
            paragraphs[0].insert(at, _run(text, None))
        elif paragraphs:
            paragraphs[-1].append(_run(text, None))
        return
    (bookmark.addnext if is_behind else bookmark.addprevious)(_run(text, None))


# The text, with its marks taken out.

# The mark before a footnote's own text, and the same mark where the text points to it.
_NOTE_LABEL = r"\[(\d{1,4}|[ivxlcdm]{1,12})\]"
_NOTE_TEXT = re.compile(rf"{_NOTE_LABEL}\s*")
_NOTE_IN_TEXT = re.compile(rf"{_NOTE}{_NOTE_LABEL}")
_LIST_MARK = re.compile(r"(?:[•◦▪‣·–*+-]|(?P<number>\d{1,4})[.)]|[A-Za-z]{1,4}[.)])\s+")
# Words that Markdown would take for its own marks at the start of a line.
_LINE_START = re.compile(r"(?m)^(\s*\d*)([#>+\-=]|(?<=\d)[.)](?=\s)|~~~)")
_INLINE = re.compile(r"[*`\\]|(?<!\w)_|_(?!\w)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ANCHOR = re.compile(rf"({ANCHOR}|{PANDOC}|{STATUTE})")
# Neither the words of a picture nor a reviewer's remark is what the writer says.
_LEFT_OUT = frozenset({"figure", "drawing", "note"})
_MOST_LEVELS = 6
_NUMBER_OF_HEADING = re.compile(r"^[\d.]+\s+")
_POINTS_TO_NOTE = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_DEFINES_NOTE = re.compile(r"\[\^([^\]\s]+)\]:")


class _Source:
    """Puts the text together, block by block.

    Args:
        name: of the file.
        document: as the parser returns it, with marks.
        marked: what they mean; None of a file of another kind, which has none.
    """

    def __init__(self, name: str, document: ParsedDocument, marked: _Marked | None) -> None:
        self._name = name
        self._document = document
        self._marked = marked
        self._text: list[str] = []
        self._length = 0
        self._lines: list[tuple[int, str, int]] = []
        self._starts: dict[int, int] = {}
        self._written: list[tuple[int, int, int]] = []
        self._paragraph = 1
        self._notes: dict[str, int] = {}
        self._entries: dict[str, int] = {}

    def read(self, digest: str) -> DraftSource:
        """Return the draft; `digest` of its bytes."""
        for number, block in enumerate(self._blocks()):
            if number:
                self._add_text("\n\n")
            for position, line in enumerate(block.split("\n")):
                if position:
                    self._add_text("\n")
                self._add_line(line, is_first=position == 0 or block.startswith("|"))
        self._add_text("\n")
        text = "".join(self._text)
        written: list[WrittenCitation] = []
        entries: list[Entry] = []
        cited = self._marked.cited if self._marked else []
        for number, start, end in sorted(self._written, key=lambda span: span[1]):
            for item in cited[number]:
                if item.key not in self._entries:
                    self._entries[item.key] = len(entries)
                    entries.append(item.entry)
            if text[start:end].strip():
                written.append(_cite(text, start, end, cited[number], self._entries))
        return DraftSource(
            text, digest, tuple(written), tuple(entries), tuple(self._lines), self._warnings()
        )

    def _warnings(self) -> tuple[str, ...]:
        failed = self._marked.unreadable if self._marked else []
        return tuple(
            f"{self._name}: a citation field cannot be read: {reason}. Its words are read as "
            "text; update the field in Word."
            for reason in dict.fromkeys(failed)
        )

    def _add_text(self, text: str) -> None:
        self._text.append(text)
        self._length += len(text)

    def _add_line(self, line: str, *, is_first: bool) -> None:
        """Add a line of Markdown without its marks; note what they say."""
        start, at = self._length, 0
        paragraph: int | None = None
        for match in _MARK.finditer(line):
            self._add_text(_ANY_MARK.sub("", line[at : match.start()]))
            at = match.end()
            number = int(match[2].translate(_VALUES) or 0)
            if match[1] == _PARAGRAPH:
                paragraph = number if paragraph is None else paragraph
            elif match[1] == _FIELD:
                self._starts[number] = self._length
            elif match[1] == _FIELD_END and number in self._starts:
                self._written.append((number, self._starts.pop(number), self._length))
        self._add_text(_ANY_MARK.sub("", line[at:]))
        if is_first and self._marked is not None:
            plain = _ANY_MARK.sub("", line)
            self._lines.append((start, self._name, self._place(plain, paragraph)))
        elif paragraph is not None and is_first:
            self._paragraph = paragraph

    def _place(self, line: str, paragraph: int | None) -> int:
        """Return the number of the paragraph that a line of Markdown begins with."""
        note = _DEFINES_NOTE.match(line)
        if note is not None:
            return self._notes.get(note[1], self._paragraph)
        if paragraph is None:
            words = _POINTS_TO_NOTE.sub("", line.split("|")[1] if line.startswith("|") else line)
            bare = _LIST_MARK.sub("", words.lstrip("# "), count=1)
            known = self._marked.short if self._marked else {}
            for text in (words, bare, _NUMBER_OF_HEADING.sub("", words.lstrip("# "))):
                numbers = known.get(_letters(text), []) if _letters(text) else []
                after = bisect_right(numbers, self._paragraph - (not self._lines))
                if after < len(numbers):
                    paragraph = numbers[after]
                    break
        self._paragraph = paragraph or self._paragraph
        for mark in _POINTS_TO_NOTE.finditer(line):
            self._notes.setdefault(mark[1], self._paragraph)
        return self._paragraph

    def _blocks(self) -> Iterator[str]:
        """Yield the blocks as Markdown, with their marks."""
        document = self._document
        texts = [document.text[block.start : block.end].strip() for block in document.blocks]
        notes = {
            match[1]
            for block, text in zip(document.blocks, texts, strict=True)
            if block.kind == "footnote" and (match := _NOTE_TEXT.match(text))
        }
        is_listed = False
        for block, text in zip(document.blocks, texts, strict=True):
            if not text or block.kind in _LEFT_OUT:
                continue
            if block.kind in {"heading", "title", "unplaced_heading"}:
                is_listed = LIST_HEADING.match(_ANY_MARK.sub("", text)) is not None
            elif _LIST in text and not is_listed:
                yield f"{'#' * _MOST_LEVELS} References"
                is_listed = True
            yield _written(block, text, notes)


def _written(block: Block, text: str, notes: set[str]) -> str:
    """Return one block as Markdown.

    Args:
        text: as the parser returns it.
        notes: labels of the notes that the document holds.
    """

    def escape(text: str) -> str:
        return _NOTE_IN_TEXT.sub(
            lambda match: f"[^{match[1]}]" if match[1] in notes else match.group(), _escape(text)
        )

    if block.kind in {"heading", "title", "unplaced_heading"}:
        level = min(block.level or 1, _MOST_LEVELS)
        return f"{'#' * level} {' '.join(escape(text).split())}"
    if block.kind == "code":
        return f"~~~\n{text}\n~~~"
    if block.kind == "table":
        return _NOTE_IN_TEXT.sub(lambda match: f"[^{match[1]}]", text)
    if block.kind == "footnote" and (match := _NOTE_TEXT.match(text)):
        return f"[^{match[1]}]: {escape(text[match.end() :])}"
    if block.kind == "list" and (match := _LIST_MARK.match(text)):
        mark = f"{match['number']}." if match["number"] else "-"
        return f"{mark} {' '.join(escape(text[match.end() :]).split())}"
    return _LINE_START.sub(r"\1\\\2", escape(text))


def _escape(text: str) -> str:
    """Return `text` with a backslash before what Markdown would read as marks; not in citations."""
    return "".join(
        part if number % 2 else _INLINE.sub(lambda match: "\\" + match.group(), part)
        for number, part in enumerate(_ANCHOR.split(text))
    )


# A field as a citation: which of its words are of which source.

_BRACKETED = re.compile(
    r"\s*[(（](?P<inside>[^()（）]*(?:[(（][^()（）]*[)）][^()（）]*)*)[)）]\s*"
)
_OPENS = re.compile(r"\s*[(（\[［〔【^]")
_HAS_NAME = re.compile(r"[^\W\d_]{2,}")
_PARTS = re.compile(r"[^;；]+")


def _cite(
    text: str, start: int, end: int, items: Sequence[CitedItem], places: Mapping[str, int]
) -> WrittenCitation:
    """Return the citation that the words [start, end) of a text print."""
    shown = text[start:end]
    line = text.rfind("\n", 0, start) + 1
    in_note = _DEFINES_NOTE.match(text, line) is not None
    spans = _part(shown, items)
    citations = []
    for item, (first, last) in zip(items, spans, strict=True):
        words = _ESCAPED.sub(r"\1", shown[first:last])
        hint = item.hint or (None if in_note else _shown_place(words))
        citations.append(
            Citation(
                None, words, start + first, start + last, "written", hint,
                entries=(places[item.key],),
            )
        )  # fmt: skip
    before = text[line:start]
    in_brackets = max(map(before.rfind, "(（[［")) > max(map(before.rfind, ")）]］"))
    is_word = not in_note and not in_brackets and _OPENS.match(shown) is None
    is_word = is_word and _HAS_NAME.search(shown) is not None
    return WrittenCitation(start, end, tuple(citations), is_word)


def _shown_place(words: str) -> LocatorHint | None:
    """Return the page that somebody typed into the words of a field."""
    hint = find_place(words, first=True) if _HAS_NAME.search(words) else None
    return hint if hint is not None and hint.pages else None


def _part(shown: str, items: Sequence[CitedItem]) -> list[tuple[int, int]]:
    """Return for each source of a field the span of its words; of all where they are not parted."""
    bracket = _BRACKETED.fullmatch(shown)
    first, last = bracket.span("inside") if bracket else (0, len(shown))
    whole = _trimmed(shown, first, last)
    parts = [_trimmed(shown, *match.span()) for match in _PARTS.finditer(shown, first, last)]
    if len(parts) != len(items):
        return [whole] * len(items)
    # A style may sort the sources of a bracket.
    spans: dict[int, tuple[int, int]] = {}
    ranked = sorted(
        ((_fit(shown[slice(*part)], item), -abs(at - number), number, at)
         for number, item in enumerate(items) for at, part in enumerate(parts)),
        reverse=True,
    )  # fmt: skip
    taken: set[int] = set()
    for _, _, number, at in ranked:
        if number not in spans and at not in taken:
            spans[number] = parts[at]
            taken.add(at)
    return [spans[number] for number in range(len(items))]


def _fit(words: str, item: CitedItem) -> int:
    names = item.entry.authors[:1] or (item.entry.title,)
    has_name = any(name.casefold() in words.casefold() for name in names if name)
    return 2 * has_name + bool(item.entry.year and item.entry.year in words)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    return start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())
