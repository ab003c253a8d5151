"""From an HTML page to its visible pieces: headings, paragraphs, items, tables, code, figures."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any  # Any: elements of lxml

from rag_assets.model import BlockKind, ParseFailure
from rag_assets.parsing.html.tables import is_data_table, render_table
from rag_assets.parsing.raised import settle_raised

# HTML standard §15.3: elements that are blocks of their own where a browser has no other style.
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
        "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
        "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li",
        "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "search", "section",
        "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
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
# A text that is one formula: an equation of its own, whatever element it stands in.
_EQUATION = re.compile(r"\$([^$]+)\$\s*([.,;:]?)")
_HEADING = re.compile(r"h([1-6])")
_LINE_BREAK = "\x01"
# An image whose alternative text is so short and no letter of ASCII stands for that character.
_MAX_EMOJI_CHARACTERS = 3


@dataclass(slots=True)
class Piece:
    """A visible run of the page, in its order.

    Args:
        kind: what it becomes in the clean text.
        text: as shown, white space folded; tables as Markdown, code as it stands.
        level: of a heading or list item, from 1.
        mark: of a list item, `- ` or `3. `.
        linked: how many of its characters are links.
        is_furniture: in a navigation, footer, side note or banner by the page's own markup.
        path: elements from the outermost to the one that holds it.
        image: the element of a figure.
    """

    kind: BlockKind
    text: str
    level: int | None = None
    mark: str = ""
    linked: int = 0
    is_furniture: bool = False
    path: tuple[Any, ...] = ()
    image: Any = None


@dataclass(slots=True)
class _Open:
    """An element that the walk is inside of, with what its texts inherit."""

    element: Any
    tag: str
    kind: BlockKind = "paragraph"
    level: int | None = None
    mark: str = ""
    is_link: bool = False
    is_furniture: bool = False
    is_note: bool = False
    list_depth: int = 0
    items: int = 0


@dataclass(slots=True)
class _Walk:
    pieces: list[Piece] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    images: list[Piece] = field(default_factory=list)
    linked: int = 0


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
            f"The page cannot be read as HTML ({error}): open it in a browser and save it anew.",
        ) from error
    # 2,048 levels, a limit that "huge" does not lift for HTML; the rest would be lost unsaid.
    limit = lxml.etree.ErrorTypes.ERR_RESOURCE_LIMIT
    is_cut = any(entry.type == limit for entry in parser.error_log)
    return None if is_cut else tree


def unstructured_pieces(page: str) -> list[Piece]:
    """Return the visible text of a page of any depth as paragraphs, read by Lexbor."""
    from resiliparse.extract.html2text import extract_plain_text

    text = str(extract_plain_text(page, alt_texts=False, list_bullets=False))
    parts = ("\n".join(map(_fold, part.split("\n"))) for part in re.split(r"\n[ \t]*\n", text))
    return [Piece("paragraph", part.strip()) for part in parts if part.strip()]


def depth_of(tree: Any) -> int:
    """Return how deep the page's elements are nested."""
    import lxml.etree

    deepest = depth = 0
    for event, _ in lxml.etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest


def visible_pieces(tree: Any) -> list[Piece]:
    """Return the pieces of a page in their order. Walks without recursion: depth has no limit."""
    import lxml.etree

    walk = _Walk()
    body = tree.find("body")
    events = lxml.etree.iterwalk(tree if body is None else body, events=("start", "end"))
    for event, element in events:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            if not tag or tag in _UNSEEN:
                events.skip_subtree()
            elif _take_whole(walk, element, tag):
                events.skip_subtree()
                walk.stack.append(_Open(element, ""))
            else:
                _enter(walk, element, tag)
        else:
            _leave(walk, element, tag)
    _flush(walk)
    return walk.pieces


def _take_whole(walk: _Walk, element: Any, tag: str) -> bool:
    """Take an element that is one piece by itself; return False for all others."""
    if tag == "pre":
        code = settle_raised(element.text_content())
        return _append_whole(walk, "code", code.strip("\n").rstrip())
    if tag == "table" and is_data_table(element):
        _flush(walk)
        caption = element.find("caption")
        if caption is not None:
            _append_whole(walk, "caption", _fold(caption.text_content()))
        linked = sum(len(link.text_content()) for link in element.iter("a"))
        return _append_whole(walk, "table", render_table(element), linked)
    if tag == "math":
        if element.get("display") == "block":
            return _append_whole(walk, "formula", _fold(element.text_content()))
        walk.texts.append(element.text_content())
        return True
    if tag == "img":
        _take_image(walk, element)
        return True
    return False


def _take_image(walk: _Walk, element: Any) -> None:
    """Take an image: behind the text that it stands in, so that no sentence is cut by it."""
    sign = (element.get("alt") or "").strip()
    if 0 < len(sign) <= _MAX_EMOJI_CHARACTERS and not sign.isascii():
        walk.texts.append(sign)
        return
    furniture = _innermost(walk).is_furniture
    piece = Piece("figure", "", path=_path(walk), image=element, is_furniture=furniture)
    walk.images.append(piece)
    if not "".join(walk.texts).strip():
        _flush(walk)


def _append_whole(walk: _Walk, kind: BlockKind, text: str, linked: int = 0) -> bool:
    _flush(walk)
    if text:
        furniture = _innermost(walk).is_furniture
        walk.pieces.append(
            Piece(kind, text, linked=linked, is_furniture=furniture, path=_path(walk))
        )
    return True


def _enter(walk: _Walk, element: Any, tag: str) -> None:
    outer = _innermost(walk)
    if tag == "br":
        walk.texts.append(_LINE_BREAK)
    elif tag in _BLOCKS:
        _flush(walk)
    role = element.get("role") or ""
    names = (role, *(element.get("class") or "").split())
    opened = _Open(
        element,
        tag,
        kind=outer.kind,
        level=outer.level,
        mark=outer.mark,
        is_link=outer.is_link or tag == "a",
        is_furniture=outer.is_furniture or tag in _FURNITURE or role in _FURNITURE_ROLES,
        is_note=outer.is_note or not _NOTE_NAMES.isdisjoint(names),
        list_depth=outer.list_depth + (tag in _LISTS),
    )
    heading = _HEADING.fullmatch(tag)
    if heading:
        opened.kind, opened.level, opened.mark = "heading", int(heading[1]), ""
    elif role == "heading" and (element.get("aria-level") or "").isdigit():
        opened.kind, opened.level, opened.mark = "heading", int(element.get("aria-level")), ""
    elif tag in {"figcaption", "caption"}:
        opened.kind, opened.level, opened.mark = "caption", None, ""
    elif tag == "li":
        opened.kind, opened.level = "list", max(1, opened.list_depth)
        opened.mark = _mark_of(outer)
    elif tag in {"dt", "dd"}:
        opened.kind, opened.level, opened.mark = "list", 1 if tag == "dt" else 2, ""
    if opened.is_note and opened.kind in {"list", "paragraph"}:
        opened.kind = "footnote"
    walk.stack.append(opened)
    if element.text:
        _append_text(walk, element.text)


def _mark_of(outer: _Open) -> str:
    if outer.tag != "ol":
        return "- "
    outer.items += 1
    start = outer.element.get("start") or "1"
    return f"{(int(start) if start.isdecimal() else 1) + outer.items - 1}. "


def _leave(walk: _Walk, element: Any, tag: str) -> None:
    if walk.stack and walk.stack[-1].element is element:
        if tag in _BLOCKS and walk.stack[-1].tag:
            _flush(walk)
        walk.stack.pop()
    if element.tail and walk.stack:
        _append_text(walk, element.tail)


def _append_text(walk: _Walk, text: str) -> None:
    walk.texts.append(text)
    if walk.stack[-1].is_link:
        walk.linked += len(text.strip())


def _flush(walk: _Walk) -> None:
    """Close the running text: it becomes pieces, cut at empty lines."""
    place, path = _innermost(walk), _path(walk)
    linked, walk.linked = walk.linked, 0
    for text in _paragraphs("".join(walk.texts)):
        linked = min(linked, len(text))
        equation = _EQUATION.fullmatch(text)
        if equation and place.kind in {"paragraph", "list"}:
            source = equation[1] + equation[2]
            walk.pieces.append(Piece("formula", source, None, "", 0, place.is_furniture, path))
            continue
        walk.pieces.append(
            Piece(place.kind, text, place.level, place.mark, linked, place.is_furniture, path)
        )
        if place.kind == "list":
            _spend_mark(walk)
    walk.texts.clear()
    walk.pieces.extend(walk.images)
    walk.images.clear()


def _spend_mark(walk: _Walk) -> None:
    """Give the mark of a list item to its first text only."""
    for opened in reversed(walk.stack):
        opened.mark = ""
        if opened.tag == "li":
            return


def _paragraphs(text: str) -> Iterator[str]:
    for part in re.split(rf"{_LINE_BREAK}\s*{_LINE_BREAK}", text):
        lines = (_fold(line) for line in part.split(_LINE_BREAK))
        joined = "\n".join(line for line in lines if line)
        if joined:
            yield joined


def _fold(text: str) -> str:
    return settle_raised(_BLANKS.sub(" ", text.replace(_LINE_BREAK, " ")).strip())


def _innermost(walk: _Walk) -> _Open:
    return walk.stack[-1] if walk.stack else _Open(None, "")


def _path(walk: _Walk) -> tuple[Any, ...]:
    return tuple(opened.element for opened in walk.stack)
