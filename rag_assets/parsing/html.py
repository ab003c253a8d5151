"""Web pages: what trafilatura takes for the content, with the structure of the page's own tree."""

import base64
import binascii
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import Any  # Any: elements of lxml, JSON-LD
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from rag_assets.model import (
    HAN_RANGES,
    BlockKind,
    ParsedDocument,
    ParseFailure,
)
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing import flow
from rag_assets.parsing.cleaning import guess_language, replace_surrogates
from rag_assets.parsing.page_styles import leave_unseen
from rag_assets.parsing.page_tables import (
    cell_text,
    code_text,
    is_data_table,
    named_grid,
    rows_of,
)
from rag_assets.parsing.page_tree import BLOCKS, place_notes, plain_page
from rag_assets.parsing.registry import ParseHints
from rag_assets.parsing.sections import subtype_of_title
from rag_assets.parsing.seen import LEVEL, apart, settle_raised
from rag_assets.parsing.sniffing import foreign_name_warning
from rag_assets.parsing.text import decode_text, decoder_version

PARSER_VERSION = "5"

_TOO_DEEP = (
    "The page's elements are nested too deep to be read as a tree: its text was kept whole, "
    "without headings, lists and tables; save the page again from a browser."
)
_UNSEEN = frozenset(
    {
        "applet", "audio", "canvas", "datalist", "embed", "head", "iframe", "input", "link", "map",
        "meta", "noembed", "noframes", "noscript", "object", "param", "rp", "script", "select",
        "source", "style", "svg", "template", "textarea", "title", "track", "video",
    }
)  # fmt: skip
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_FURNITURE = frozenset({"nav", "footer", "aside"})
_FURNITURE_ROLES = frozenset({"navigation", "contentinfo", "complementary", "banner", "search"})
_NOTE_NAMES = frozenset({"doc-footnote", "doc-endnote", "doc-endnotes", "footnote", "footnotes"})
_BLANKS = re.compile(r"[ \t\n\r\f]+")
_LINE_BREAK, _FORMULA = "\x01", "\x02"
# A text that is one formula: an equation of its own, whatever element it stands in.
_EQUATION = re.compile(rf"{_FORMULA}([^{_FORMULA}]+){_FORMULA}\s*([.,;:]?)")
# What stands alone before the text of an item or note is its mark; a sign or number in brackets
# that begins the text is one, too.
_LONE_MARK = re.compile(
    r"[•◦▪●○‣–*†‡§-]|\[\w{1,8}\]|\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,5})[.)]", re.IGNORECASE
)
_OWN_MARK = re.compile(
    r"(?:[•◦▪●○‣]|\[\w{1,8}\]|\(?(?P<number>\d{1,3}|[a-z]|[ivxlc]{1,5})[.)])\s", re.IGNORECASE
)
_UNPRINTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Deeper lists stay at this margin, or a page of nested lists would grow with its square.
_MAX_INDENTS = 10
# An image whose alternative text is so short and no letter of ASCII stands for that character.
_MAX_EMOJI_CHARACTERS = 3
# Smaller images are signs and buttons; smaller data are placeholders that a script replaces.
_MIN_PIXELS, _MIN_DATA_BYTES = 48, 500


class HtmlParser:
    """Reads HTML and XHTML. Nothing is fetched: images elsewhere are known by name only."""

    name = "html"
    media_types = ("text/html",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version with those of the encoding detector and the extractor."""
        packages = (f"{name}-{version(name)}" for name in ("trafilatura", "lxml"))
        return "+".join([decoder_version(PARSER_VERSION), *packages])

    def parse(self, data: bytes, hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the page's content, what it says about itself, and its figures.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`, `damaged_file`.
        """
        import lxml.html

        page, encoding, warnings = decode_text(data)
        tree = parse_page(page)
        is_article = False
        if tree is None:
            bare = re.sub(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?-->", " ", page)
            lines = html.unescape(re.sub(r"<[^<>]*>", "\n", bare)).split("\n")
            content = [Piece("paragraph", line) for line in map(_fold, lines) if line]
            warnings = (*warnings, _TOO_DEEP)
        else:
            plain_page(tree)
            warnings = (*warnings, *leave_unseen(tree).warnings())
            place_notes(tree)
            page = apart(lxml.html.tostring(tree, encoding="unicode"))
            content, is_article = choose_content(page, visible_pieces(tree), _depth_of(tree))
        written = flow.flow_pieces(_in_flow(content))
        if not written.text:
            raise ParseFailure(
                "empty_file",
                "The page shows no text (a frame, or a page that a script fills): open it in a "
                "browser, save it as a complete page and replace it.",
            )
        facts = _Facts() if tree is None else _read_facts(tree, content)
        return ParsedDocument(
            text=written.text,
            media_type=self.media_types[0],
            blocks=written.blocks,
            attachments=written.attachments,
            title=facts.title,
            authors=facts.authors,
            year=facts.year,
            doi=facts.doi,
            journal=facts.imprint.get("journal"),
            volume=facts.imprint.get("volume"),
            issue=facts.imprint.get("issue"),
            page_range=facts.imprint.get("page_range"),
            abstract=written.abstract,
            language=guess_language(written.text) or facts.language,
            metadata={
                **facts.metadata,
                "encoding": encoding,
                "extraction": "article" if is_article else "whole page",
            },
            warnings=(*foreign_name_warning(hints.extension, data), *warnings),
        )


@dataclass(slots=True)
class Piece:
    """A visible run of the page, in its order.

    Args:
        text: as shown, white space folded; tables as Markdown, code as it stands.
        level: of a heading or list item, from 1.
        mark: of a list item, `- ` or `3. `; None where it goes on with an item.
        linked: how many of its characters are links.
        is_furniture: in a navigation, footer, side note or banner by the page's own markup.
        path: elements from the outermost to the one that holds it.
        image: the element of a figure.
    """

    kind: BlockKind
    text: str
    level: int | None = None
    mark: str | None = ""
    linked: int = 0
    is_furniture: bool = False
    path: tuple[Any, ...] = ()
    image: Any = None

    @property
    def is_linked(self) -> bool:
        """Whether more of it is links, which lead away from the page."""
        return 2 * self.linked > max(1, len(self.text))


def parse_page(text: str) -> Any:
    """Return the page's lxml tree, None where its elements are nested deeper than libxml2 reads.

    Nothing is fetched.

    Raises:
        ParseFailure: `damaged_file` where libxml2 finds no element.
    """
    import lxml.etree
    import lxml.html

    parser = lxml.html.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, no_network=True
    )
    try:
        tree = lxml.html.document_fromstring(text.encode(), parser=parser)
    except (lxml.etree.ParserError, lxml.etree.XMLSyntaxError) as error:
        raise ParseFailure(
            "damaged_file",
            f"The page cannot be read as HTML ({error}): open it in a browser and save it again.",
        ) from error
    # 2,048 levels, a limit that "huge" does not lift for HTML; the rest would be lost unsaid.
    limit = lxml.etree.ErrorTypes.ERR_RESOURCE_LIMIT
    return None if any(entry.type == limit for entry in parser.error_log) else tree


def _depth_of(tree: Any) -> int:
    import lxml.etree

    deepest = depth = 0
    for event, _ in lxml.etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest


# 1. The visible pieces of a page


def visible_pieces(tree: Any) -> list[Piece]:
    """Return the pieces of a page in their order. Walks without recursion: depth has no limit."""
    import lxml.etree

    walk = _Walk()
    body = tree.find("body")
    events = lxml.etree.iterwalk(tree if body is None else body, events=("start", "end"))
    for event, element in events:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "end":
            walk.leave(element, tag)
        elif not tag or tag in _UNSEEN:
            events.skip_subtree()
        elif walk.take_whole(element, tag):
            events.skip_subtree()
            walk.stack.append(_Open(element, ""))
        else:
            walk.enter(element, tag)
    walk.flush()
    return walk.pieces


@dataclass(slots=True)
class _Open:
    """An element that the walk is inside of, with what its texts inherit."""

    element: Any
    tag: str
    kind: BlockKind = "paragraph"
    level: int | None = None
    mark: str | None = ""
    is_link: bool = False
    is_furniture: bool = False
    is_note: bool = False
    list_depth: int = 0
    # The number of the next item, once one is read.
    items: int | None = None


@dataclass(slots=True)
class _Walk:
    pieces: list[Piece] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    images: list[Piece] = field(default_factory=list)
    linked: int = 0

    def take_whole(self, element: Any, tag: str) -> bool:
        """Take an element that is one piece by itself; return False for all others."""
        if tag == "pre":
            self._append("code", code_text(element).strip("\n").rstrip())
        elif tag == "table" and "ltx_eqn_table" in (element.get("class") or "").split():
            # LaTeXML sets an equation and its number as a row.
            for row in rows_of(element):
                self._append("formula", " ".join(filter(None, map(cell_text, row))))
        elif tag == "table" and is_data_table(element):
            self._take_table(element)
        elif tag == "math":
            if element.get("display") == "block":
                self._append("formula", _fold(element.text_content()))
            else:
                formula = element.text_content()
                mark = "" if LEVEL in formula else _FORMULA
                self.texts.append(f"{mark}{formula}{mark}")
        elif tag == "img":
            sign = (element.get("alt") or "").strip()
            if 0 < len(sign) <= _MAX_EMOJI_CHARACTERS and not sign.isascii():
                self.texts.append(sign)
            else:
                # Behind the text that it stands in, so that no sentence is cut by it.
                self.images.append(self._piece("figure", "", image=element))
                if not "".join(self.texts).strip():
                    self.flush()
        else:
            return False
        return True

    def _take_table(self, element: Any) -> None:
        self.flush()
        self.stack.append(_Open(element, ""))
        captions = element.findall("caption")
        for caption in captions:
            self._append("caption", _fold(caption.text_content()))
        title, grid = named_grid(element)
        self._append("paragraph" if captions else "caption", title)
        linked = sum(len(link.text_content()) for link in element.iter("a"))
        self._append("table", flow.markdown_table(grid), linked)
        self.stack.pop()

    def enter(self, element: Any, tag: str) -> None:
        outer = self._innermost()
        if tag == "br":
            self.texts.append(_LINE_BREAK)
        elif tag in BLOCKS:
            self.flush()
        role = element.get("role") or ""
        names = (role, *(element.get("class") or "").split())
        opened = _Open(
            element,
            tag,
            kind=outer.kind,
            level=outer.level,
            mark=outer.mark,
            is_link=outer.is_link or tag == "a",
            is_note=outer.is_note or not _NOTE_NAMES.isdisjoint(names),
            list_depth=outer.list_depth + (tag in _LISTS or tag == "dl"),
        )
        is_frame = tag in _FURNITURE or role in _FURNITURE_ROLES
        if tag == "aside" and any(o.tag in {"article", "main"} for o in self.stack):
            is_frame = False  # a box in the text
        opened.is_furniture = not opened.is_note and (outer.is_furniture or is_frame)
        heading = tag[1:] if re.fullmatch(r"h[1-6]", tag) else ""
        heading = heading or (role == "heading" and element.get("aria-level")) or ""
        if heading.isdecimal():
            opened.kind, opened.level = "heading", int(heading)
            opened.mark = outer.mark if re.fullmatch(r"\w+\. ", outer.mark or "") else ""
        elif tag in {"figcaption", "caption"}:
            opened.kind, opened.level, opened.mark = "caption", None, ""
        elif tag == "li":
            opened.kind, opened.level, opened.mark = "list", max(1, opened.list_depth), "- "
            if outer.tag == "ol":
                opened.mark = self._number(element, outer)
        elif tag in {"dt", "dd"}:
            opened.kind, opened.level, opened.mark = "list", max(1, opened.list_depth), ""
            opened.level += tag == "dd"
        if opened.is_note and (opened.kind in {"list", "paragraph"} or not outer.is_note):
            opened.kind, opened.level = "footnote", None
            number = re.fullmatch(r"(\w+)\. ", opened.mark or "") if tag == "li" else None
            opened.mark = f"[{number[1]}] " if number else outer.mark if tag == "dd" else ""
        self.stack.append(opened)
        self._add(element.text)

    def _number(self, item: Any, outer: _Open) -> str:
        """Return the mark of an item of a numbered list (HTML standard, section 4.4.8)."""
        if outer.items is None:
            is_back = outer.element.get("reversed") is not None
            first = len(outer.element.findall("li")) if is_back else 1
            outer.items = _integer(outer.element.get("start"), first)
        number = _integer(item.get("value"), outer.items)
        outer.items = number + (-1 if outer.element.get("reversed") is not None else 1)
        kind = item.get("type") or outer.element.get("type") or "1"
        return "- " if kind in {"none", "disc"} else f"{_counter(number, kind)}. "

    def leave(self, element: Any, tag: str) -> None:
        if self.stack and self.stack[-1].element is element:
            if tag in BLOCKS and self.stack[-1].tag:
                self.flush()
            self.stack.pop()
        self._add(element.tail)

    def flush(self) -> None:
        """Close the running text: it becomes pieces, cut at empty lines."""
        place = self._innermost()
        linked, self.linked = self.linked, 0
        for part in re.split(rf"{_LINE_BREAK}\s*{_LINE_BREAK}", "".join(self.texts)):
            text = "\n".join(filter(None, map(_fold, part.split(_LINE_BREAK))))
            equation = _EQUATION.fullmatch(text)
            text = text.replace(_FORMULA, "")
            is_item = place.kind in {"list", "footnote"} or bool(place.mark)
            if equation and place.kind in {"paragraph", "list"}:
                self.pieces.append(self._piece("formula", equation[1] + equation[2]))
            elif is_item and place.mark is not None and _LONE_MARK.fullmatch(text):
                self._set_mark("- " if place.mark == "- " and len(text) == 1 else f"{text} ")
            elif place.kind == "footnote" and place.tag == "dt" and text.isdecimal():
                self._set_mark(f"[{text}] ")
            elif text:
                piece = self._piece(place.kind, text, min(linked, len(text)))
                piece.level, piece.mark = place.level, place.mark
                own, number = _OWN_MARK.match(text), (place.mark or "")[:-2]
                same = {_counter(int(number), kind) for kind in "1ai"} if number.isdecimal() else ()
                if own and (place.mark == "- " or (own["number"] or "").lower() in same):
                    piece.mark = ""
                self.pieces.append(piece)
                if is_item:
                    # The mark of an item belongs to its first text only.
                    self._set_mark(None)
        self.texts.clear()
        self.pieces.extend(self.images)
        self.images.clear()

    def _set_mark(self, mark: str | None) -> None:
        for opened, outer in zip(self.stack[::-1], self.stack[-2::-1], strict=False):
            opened.mark = "" if mark is None and opened.tag in {"dt", "dd"} else mark
            if opened.tag == "dt" and opened.is_note:
                outer.mark = opened.mark
            if opened.tag in {"li", "dt", "dd"} or opened.is_note > outer.is_note:
                break

    def _append(self, kind: BlockKind, text: str, linked: int = 0) -> None:
        self.flush()
        if text:
            self.pieces.append(self._piece(kind, text, linked))

    def _piece(self, kind: BlockKind, text: str, linked: int = 0, image: Any = None) -> Piece:
        path = tuple(opened.element for opened in self.stack)
        furniture = self._innermost().is_furniture
        return Piece(kind, text, None, "", linked, furniture, path, image)

    def _add(self, text: str | None) -> None:
        if text and self.stack:
            self.texts.append(text)
            if self.stack[-1].is_link:
                self.linked += len(text.strip())

    def _innermost(self) -> _Open:
        return self.stack[-1] if self.stack else _Open(None, "")


def _fold(text: str) -> str:
    return settle_raised(_BLANKS.sub(" ", text.replace(_LINE_BREAK, " ")).strip())


_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN = 4000


def _counter(number: int, kind: str) -> str:
    """Return a number as the type of a list writes it: `1`, `a`, `A`, `i` or `I`."""
    written, rest = "", number
    if kind in {"a", "A"} and number > 0:
        while rest:
            rest, place = divmod(rest - 1, 26)
            written = chr(ord(kind) + place) + written
    elif kind in {"i", "I"} and 0 < number < _MAX_ROMAN:
        for value, sign in _ROMAN:
            written, rest = written + sign * (rest // value), rest % value
    return (written.upper() if kind == "I" else written) or str(number)


def _integer(text: str | None, otherwise: int) -> int:
    return int(text) if text and re.fullmatch(r"\s*-?\d{1,9}\s*", text) else otherwise


# 2. Which of them are the content

# trafilatura keeps a piece where it has at least half of its sequences of words.
_MIN_SUPPORT, _SEQUENCE_WORDS = 0.5, 5
# Shorter pieces ("Home", "More") stand somewhere in most texts: they need kept text around them.
_MIN_ANCHOR_WORDS = 4
# How far before the first and behind the last kept text a short piece may stand.
_MARGIN_PIECES = 3
# Larger pages are documents of one text (a standard, a book), for which extraction is too slow.
_MAX_EXTRACTED_CHARACTERS = 4_000_000
# libxml2's own limit of depth, within which C recursion is safe.
_MAX_EXTRACTED_DEPTH = 255
# A page of which less is kept, and of whose rest most stands in tables and code, is no article.
_MIN_KEPT_SHARE, _MIN_ARTICLE_SHARE = 0.5, 0.1
# trafilatura's own MIN_EXTRACTED_SIZE: below it nothing was found.
_MIN_CONTENT_CHARACTERS = 250
_WORD = re.compile(rf"[\u3040-\u30ff{HAN_RANGES}\uac00-\ud7a3]|[^\W_\u3040-\u30ff{HAN_RANGES}]+")


def choose_content(page: str, pieces: Sequence[Piece], depth: int) -> tuple[list[Piece], bool]:
    """Return (the content among `pieces`, whether it is an article).

    trafilatura says which text is content; what it leaves ragged is completed by the tree: an item
    belongs to its list, a paragraph to the two kept ones around it, a heading to what stands below
    it, and a table or listing between kept text is content. A page that is no article (a table, a
    form, a directory) keeps all but what its own markup calls furniture.

    Args:
        page: the page's source, decoded.
        pieces: all visible ones, in order.
        depth: of the page's elements.
    """
    import trafilatura
    from trafilatura.xpaths import OVERALL_DISCARD_XPATH

    whole = [piece for piece in pieces if not piece.is_furniture]
    if len(page) > _MAX_EXTRACTED_CHARACTERS or depth > _MAX_EXTRACTED_DEPTH:
        return whole, False
    found = trafilatura.extract(parse_page(page), include_comments=False, include_tables=True)
    extracted = _words(found or "")
    sequences = {
        extracted[start : start + length]
        for length in range(1, _SEQUENCE_WORDS + 1)
        for start in range(len(extracted) - length + 1)
    }
    words = [_words(piece.text) for piece in pieces]
    kept = {
        index for index, own in enumerate(words) if own and _support(own, sequences) >= _MIN_SUPPORT
    }
    anchors = [index for index in sorted(kept) if len(words[index]) >= _MIN_ANCHOR_WORDS]
    if anchors:
        tree = pieces[0].path[0].getroottree()
        frames = {element for find in OVERALL_DISCARD_XPATH for element in find(tree)}
        frames.difference_update(*(pieces[index].path for index in kept))
        framed = {i for i, piece in enumerate(pieces) if not frames.isdisjoint(piece.path)}
        kept = _completed(pieces, kept, framed, anchors[0], anchors[-1])
    own_text = [piece for piece in whole if not piece.is_linked]
    size = sum(len(piece.text) for piece in own_text)
    kept_size = sum(len(pieces[index].text) for index in kept)
    tabular = sum(len(piece.text) for piece in own_text if piece.kind in {"table", "code"})
    if (
        size <= _MIN_CONTENT_CHARACTERS
        or kept_size < min(_MIN_CONTENT_CHARACTERS, _MIN_ARTICLE_SHARE * size)
        or (kept_size < _MIN_KEPT_SHARE * size and tabular >= _MIN_KEPT_SHARE * size)
    ):
        return whole, False
    return [pieces[index] for index in sorted(kept)], True


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def _support(piece: tuple[str, ...], sequences: set[tuple[str, ...]]) -> float:
    length = min(_SEQUENCE_WORDS, len(piece))
    count = len(piece) - length + 1
    return sum(piece[start : start + length] in sequences for start in range(count)) / count


def _completed(
    pieces: Sequence[Piece], kept: set[int], framed: set[int], first: int, last: int
) -> set[int]:
    """Return the kept pieces with what belongs to them, `first` and `last` being sure ones.

    Args:
        framed: pieces in elements whose names trafilatura knows as those of frames.
    """
    kept = {i for i in kept if first - _MARGIN_PIECES <= i <= last + _MARGIN_PIECES}
    lists: dict[Any, list[int]] = {}
    for index, piece in enumerate(pieces):
        if piece.kind in {"list", "footnote"}:
            holder = next((e for e in reversed(piece.path) if e.tag in {"ul", "ol", "dl"}), None)
            if holder is not None:
                lists.setdefault(holder, []).append(index)
    kept = _with_whole_lists(pieces, kept, lists)
    return _with_neighbours(pieces, kept, framed, first, last)


def _with_whole_lists(
    pieces: Sequence[Piece], kept: set[int], lists: Mapping[Any, list[int]]
) -> set[int]:
    for holder, items in lists.items():
        links = list(holder.iter("a"))
        is_inner = bool(links) and all((link.get("href") or "")[:1] == "#" for link in links)
        size = sum(len(pieces[index].text) for index in items)
        if is_inner and all(pieces[index].is_linked for index in items):
            kept.difference_update(items)  # the contents of the page
        elif 2 * sum(len(pieces[index].text) for index in items if index in kept) >= size:
            kept.update(items)
        elif 2 * sum(pieces[index].linked for index in items) > size:
            kept.difference_update(items)  # related pages
    return kept


def _with_neighbours(
    pieces: Sequence[Piece], kept: set[int], framed: set[int], first: int, last: int
) -> set[int]:
    """Return the kept pieces with what stands between them, headings above them and figures."""
    inner = [
        index
        for index in range(first + 1, last)
        if not pieces[index].is_furniture and not pieces[index].is_linked
    ]
    kept.update(i for i in inner if pieces[i].kind in {"table", "code", "formula"})
    kept.update(i for i in inner if {i - 1, i + 1} <= kept and i not in framed)
    kept.update(i for i, p in enumerate(pieces) if p.kind == "footnote" and not p.is_furniture)
    for index in sorted(kept, reverse=True):
        above = index - 1
        while above >= 0 and above not in kept and pieces[above].kind == "heading":
            if pieces[above].is_furniture or pieces[above].is_linked:
                break
            kept.add(above)
            above -= 1
    # Figures and their captions belong to the text on both sides.
    texts = [i for i, piece in enumerate(pieces) if piece.kind not in {"figure", "caption"}]
    before = -1
    for after in [*texts, len(pieces)]:
        if before in kept and (after in kept or after == len(pieces)):
            kept.update(i for i in range(before + 1, after) if not pieces[i].is_furniture)
        before = after
    # The title of links that were left out goes with them.
    below: int | None = None
    linked = size = 0
    for index, piece in reversed(list(enumerate(pieces))):
        is_title = piece.kind == "heading" and (
            below is None
            or (
                pieces[below].kind == "heading" and (pieces[below].level or 1) <= (piece.level or 1)
            )
        )
        if index in kept and not (is_title and 2 * linked > size):
            below, linked, size = index, 0, 0
        else:
            kept.discard(index)
            linked, size = linked + piece.linked, size + len(piece.text)
    return kept


# 3. The pieces as they are written


def _in_flow(pieces: Sequence[Piece]) -> list[flow.Piece]:
    """Return the content of a page as it is written.

    Items of one list are on consecutive lines, indented by their depth. What stands under a title
    like "References" is a list, though notes lead to it. The caption of a `figure` is that of the
    first figure or table in it.
    """
    written: list[flow.Piece] = []
    first: dict[Any, flow.Piece] = {}
    captions: list[tuple[Any, flow.Piece]] = []
    list_root, is_reference = None, False
    for piece in pieces:
        text = _UNPRINTED.sub(" ", replace_surrogates(piece.text)).strip("\n").rstrip()
        kind = piece.kind
        if kind == "heading":
            is_reference = subtype_of_title(text) == "references"
        elif kind == "footnote" and is_reference:
            kind = "list"
        root = next((e for e in piece.path if e.tag in _LISTS or e.tag == "dl"), None)
        root = root if kind == "list" else None
        indent = 2 * min((piece.level or 1) - 1 + (piece.mark is None), _MAX_INDENTS)
        new = flow.Piece(
            kind,
            (piece.mark or "") + (text if kind == "code" else text.strip()),
            piece.level,
            indent=indent if root is not None else 0,
            opens=root is not list_root,
        )
        figures = [e for e in piece.path[::-1] if e.tag == "figure"][:1]
        if kind == "figure":
            new.picture = _read_image(piece.image, in_figure=bool(figures))
        if not new.text and new.picture is None:
            continue
        list_root = root
        # A table is the last of its own path.
        holders = [e for e in piece.path[-1:] if e.tag == "table"] + figures
        if kind in {"figure", "table"}:
            for holder in holders:
                first.setdefault(holder, new)
        elif kind == "caption" and holders:
            captions.append((holders[0], new))
        written.append(new)
    for holder, caption in captions:
        if holder in first and first[holder].caption is None:
            first[holder].caption = caption
    return written


def _read_image(element: Any, *, in_figure: bool) -> flow.Picture | None:
    """Return an image, None where it is decoration, a button or a placeholder.

    HTML §4.8.4.4.5: an empty alternative text says decoration; so does the role `presentation`.
    """
    if not in_figure and (element.get("alt") == "" or element.get("role") == "presentation"):
        return None
    sizes = (re.match(r"\s*(\d{1,6})", element.get(side) or "") for side in ("width", "height"))
    if any(size is not None and int(size[1]) < _MIN_PIXELS for size in sizes):
        return None
    described = " ".join((element.get("alt") or "").split())
    # What a script would put in place stands first.
    for name in ("data-src", "data-original", "data-lazy-src", "src", "srcset", "data-srcset"):
        address = (element.get(name) or "").strip()
        if not address.lower().startswith("data:"):
            if not address:
                continue
            try:
                path = urlsplit(address.split(" ")[0]).path
            except ValueError:  # a malformed address still names something
                path = address
            shown = unquote(PurePosixPath(path).name).strip()
            return flow.Picture(described or shown or "image")
        embedded = decode_data_uri(address)
        if embedded is not None and len(embedded[1]) >= _MIN_DATA_BYTES:
            return flow.Picture(described or "image", *embedded)
    return None


def decode_data_uri(address: str) -> tuple[str, bytes] | None:
    """Return (media type, bytes) of a `data:` address (RFC 2397), None for any other or broken."""
    if address[:5].lower() != "data:" or "," not in address:
        return None
    head, _, packed = address[5:].partition(",")
    media_type = head.partition(";")[0].lower() or "text/plain"
    if not head.lower().endswith(";base64"):
        return media_type, unquote_to_bytes(packed)
    try:
        return media_type, base64.b64decode("".join(unquote(packed).split()))
    except (binascii.Error, ValueError):
        return None  # a truncated image


# 4. What the page says about itself

# The more a vocabulary is made for works, the earlier it is asked.
_TITLES = ("citation_title", "ld:headline", "og:title", "dc.title", "dcterms.title")
_AUTHORS = (
    "citation_author", "ld:author", "dc.creator", "dcterms.creator", "article:author", "author",
    "byl", "parsely-author",
)  # fmt: skip
_DATES = (
    "citation_publication_date", "citation_date", "ld:datepublished", "article:published_time",
    "dcterms.issued", "dc.date.issued", "dc.date", "dcterms.date", "datepublished", "pubdate",
    "date", "ld:datecreated", "ld:datemodified",
)  # fmt: skip
_PLAIN = {
    "description": ("description", "og:description", "ld:description", "dc.description"),
    "publisher": ("citation_journal_title", "og:site_name", "ld:publisher", "dc.publisher"),
    "tags": ("citation_keywords", "keywords", "news_keywords", "article:tag", "ld:keywords"),
    "url": ("canonical", "og:url"),
    "license": ("license", "dc.rights", "dcterms.license"),
}
# Fields of a document and the Highwire Press tags that state them.
_IMPRINT = {
    "journal": "citation_journal_title", "volume": "citation_volume", "issue": "citation_issue",
}  # fmt: skip
_WORKS = re.compile(
    r"article|posting|report|creativework|book|chapter|webpage|legislation|thesis|review|dataset",
    re.IGNORECASE,
)
# Where a <title> names the page and then the site.
_TITLE_PARTS = re.compile(r"\s+[|\u2013\u2014\u00b7\u00bb:\u2022/_-]+\s+|\s*[|_\uff5c]\s*")
_BY = re.compile(r"^\s*(?:by|von|par|por|作者|文)\s*[:：]?\s+", re.IGNORECASE)
_MAX_NAME_CHARACTERS, _MAX_AUTHORS = 80, 200


@dataclass(frozen=True, slots=True)
class _Facts:
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    language: str | None = None
    imprint: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)


def _read_facts(tree: Any, pieces: Sequence[Piece]) -> _Facts:
    """Return what a page states about itself.

    Sources: schema.org as JSON-LD, Highwire Press tags (what Google Scholar reads), Dublin Core,
    OpenGraph, HTML's own standard metadata names. trafilatura's own reading gives one author and
    a title without regard to these.
    """
    stated = _stated(tree)

    def first(keys: Sequence[str]) -> list[str]:
        return next((stated[key] for key in keys if stated.get(key)), [])

    metadata = {name: "; ".join(dict.fromkeys(first(keys))) for name, keys in _PLAIN.items()}
    times = (e.get("datetime") for e in tree.iter("time") if e.get("itemprop") == "datePublished")
    metadata["date"] = next(iter(first(_DATES)), None) or next(filter(None, times), "")
    year = re.search(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)", metadata["date"])
    dois = " ".join(first(("citation_doi", "dc.identifier", "prism.doi"))).lower()
    doi = re.search(r"10\.\d{4,9}/\S+", dois)
    named = first(_AUTHORS) or [
        element.text_content()
        for element in tree.iter("a", "span", "div", "p", "address")
        if "author" in ((element.get("rel") or ""), (element.get("itemprop") or ""))
    ]
    names = (_BY.sub("", " ".join(name.split())).strip() for name in named[:_MAX_AUTHORS])
    imprint = {name: next(iter(stated.get(key, ())), "") for name, key in _IMPRINT.items()}
    pages = [
        found[0] for name in ("first", "last") if (found := stated.get(f"citation_{name}page"))
    ]
    imprint["page_range"] = "-".join(dict.fromkeys(pages))
    declared = tree.get("lang") or next(iter(first(("og:locale", "content-language"))), "")
    language = re.match(r"[a-z]{2,3}(?![a-z])", declared.strip().lower())
    return _Facts(
        title=next(iter(first(_TITLES)), None) or _title_element(tree, pieces),
        authors=tuple(
            dict.fromkeys(
                name
                for name in names
                if 1 < len(name) <= _MAX_NAME_CHARACTERS
                and not re.match(r"https?://|www\.|/", name)
            )
        ),
        year=int(year[1]) if year else None,
        doi=doi[0] if doi else None,
        language=language[0] if language else None,
        imprint={name: value for name, value in imprint.items() if value},
        metadata={name: value for name, value in metadata.items() if value},
    )


def _stated(tree: Any) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}

    def add(key: str | None, value: str | None) -> None:
        text = " ".join((value or "").split())
        if key and text:
            found.setdefault(key.strip().lower(), []).append(text)

    for meta in tree.iter("meta"):
        for name in ("name", "property", "itemprop", "http-equiv"):
            add(meta.get(name), meta.get("content"))
    for link in tree.iter("link"):
        if (link.get("rel") or "").lower() in {"canonical", "license"}:
            add(link.get("rel"), link.get("href"))
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            for work in _works(script.text or ""):
                for key, value in work.items():
                    for text in _texts(value):
                        add(f"ld:{key}", text)
    return found


def _works(source: str) -> list[dict[str, Any]]:
    """Return the objects of a JSON-LD script that describe a work, articles before pages."""
    try:
        queue = [json.loads(source)]
    except (ValueError, RecursionError):
        return []  # pages are full of broken scripts; other tags say the same, or nothing does
    works: list[tuple[bool, dict[str, Any]]] = []
    while queue:
        item = queue.pop(0)
        if isinstance(item, list):
            queue.extend(item)
        elif isinstance(item, dict):
            queue.extend(value for key, value in item.items() if key in {"@graph", "mainEntity"})
            if _WORKS.search(kind := str(item.get("@type") or "")):
                works.append(("page" in kind.lower(), item))
    return [work for _, work in sorted(works, key=lambda pair: pair[0])]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(value.get("name"))
    elif isinstance(value, list):
        for item in value[:_MAX_AUTHORS]:
            if isinstance(item, str | dict):
                yield from _texts(item)


def _title_element(tree: Any, pieces: Sequence[Piece]) -> str | None:
    """Return the page's name: <title> without the site's, else the first highest heading."""
    element = next(tree.iter("title"), None)
    title = " ".join(element.text_content().split()) if element is not None else ""
    headings = [piece for piece in pieces if piece.kind == "heading"]
    if not title:
        return min(headings, key=lambda piece: piece.level or 1).text if headings else None
    shown = {heading.text.casefold() for heading in headings}
    parts = (title, *_TITLE_PARTS.split(title))
    return next((part for part in parts if part.casefold() in shown), title)
