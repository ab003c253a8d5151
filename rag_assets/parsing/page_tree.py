"""A page's tree made plain before it is read: formulas, notes, code, and what is no text of it.

Programs write the same things in their own ways: each is brought to the element that HTML has for
it, or taken out where its own markup says that it is no part of the text.
"""

import re
from collections.abc import Iterator
from typing import Any  # Any: elements of lxml
from urllib.parse import unquote

from rag_assets.parsing.mathml import linear_formula, linear_tex

# LaTeXML writes a table inside of a line as `span`; ARIA names what other elements stand for.
_NAMED_TAGS = {
    "ltx_tabular": "table", "ltx_thead": "thead", "ltx_tbody": "tbody", "ltx_tfoot": "tfoot",
    "ltx_listing": "pre", "ltx_tr": "tr", "ltx_th": "th", "ltx_td": "td", "table": "table",
    "rowgroup": "tbody", "row": "tr", "columnheader": "th", "rowheader": "th", "cell": "td",
    "list": "ul", "listitem": "li",
}  # fmt: skip
# HTML standard §15.3: elements that are blocks of their own where a browser has no other style.
BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
        "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
        "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li",
        "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "search", "section",
        "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
# Links to edit and back to the mark of a note, and MediaWiki's frames around an article.
_NO_PART_NAMES = frozenset(
    {
        "mw-editsection", "mw-cite-backlink", "mw-jump-link", "navigation-not-searchable", "navbox",
        "vertical-navbox", "catlinks", "printfooter", "sistersitebox", "footnote-back",
        "footnote-backref", "data-footnote-backref", "ltx_note_type",
        "ltx_tag_listingline", "ltx_listing_data", "ltx_bib_cited",
    }
)  # fmt: skip
_TITLES = ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt", "legend", "caption", "figcaption")
_OWN_MARKS = re.compile(r"(?:^|[\s_-])(?:label|tag|marker|num(?:ber)?)(?=[\s_-]|$)", re.IGNORECASE)
_UNPRINTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LINE_NUMBERS = re.compile(
    r"(?:^|[\s_-])(?:line-?no|line-?num|gutter|blob-num|hljs-ln-n|lnt?(?=\s|$))", re.IGNORECASE
)


def plain_page(tree: Any) -> None:
    """Change a page's tree so that its elements say what its text is."""
    for element in tree.iter():
        # A reference like `&#1;` gives what XML cannot hold, and lxml refuses to set.
        for name in ("text", "tail"):
            text = getattr(element, name)
            if text and _UNPRINTED.search(text):
                setattr(element, name, _UNPRINTED.sub(" ", text))
    for element in list(tree.iter()):
        tag = element.tag if isinstance(element.tag, str) else ""
        names = set((element.get("class") or "").split())
        if tag in {"span", "div"}:
            own = sorted((name for name in names if name.startswith("ltx_")), reverse=True)
            said = [element.get("role") or "", *own]
            element.tag = next(filter(None, map(_NAMED_TAGS.get, said)), tag)
        elif tag in {"xmp", "listing"}:
            element.tag = "pre"
        elif tag == "li" and len(element) and not (element.text or "").strip():
            _show_own_mark(element, element[0])
        if element.getparent() is not None and _is_no_part(element, tag, names):
            element.drop_tree()
        elif "ltx_bibblock" in names:
            element.text = f" {element.text or ''}"
    _write_formulas(tree)
    _write_code(tree)
    _name_linked_notes(tree)
    _name_notes_in_lines(tree)


def _show_own_mark(item: Any, first: Any) -> None:
    """Part the mark that an item brings itself from its text."""
    is_mark = _OWN_MARKS.search(first.get("class") or "") and first.tag not in BLOCKS
    if is_mark and _NOTE_MARK.fullmatch(first.text_content().strip().rstrip(".):")):
        first.tail = f" {first.tail or ''}"
        item.set("type", "none")


def _is_no_part(element: Any, tag: str, names: set[str]) -> bool:
    """Tell whether an element is no text of the page: a frame, a control, a reading over a word."""
    if tag in {"rt", "rtc", "rp"} or not _NO_PART_NAMES.isdisjoint(names):
        return True
    if tag == "button":
        return not any(next(element.iter(t), None) is not None for t in _TITLES) and not any(
            outer.tag in _TITLES for outer in element.iterancestors()
        )
    if tag == "a" and "#" in (element.get("href") or "") and len(element) == 0:
        text = (element.text or "").strip()
        if re.fullmatch(r"[\^↑⇑↩⤴⏎↵\ufe0e\ufe0f]+", text):
            return True
        is_title = any(outer.tag in _TITLES for outer in element.iterancestors())
        return is_title and re.fullmatch(r"[¶§#🔗\u200b\s]*", text) is not None
    return False


# Formulas

# What draws a formula holds it a second time, as MathML.
_RENDERERS = frozenset(
    {
        "mwe-math-element", "katex", "katex-display", "katex-mathml", "MathJax", "MathJax_Display",
        "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML", "mjx-chtml", "MJXc-display",
        "MJX_Assistive_MathML",
    }
)  # fmt: skip
_PICTURE = re.compile(r"(?:^|\s)(?:mwe-math|tex|latex|math)(?=[\s_-]|$)", re.IGNORECASE)
_PICTURE_SOURCE = re.compile(r"latex\.php|latex\.codecogs\.com|/math/render/|mathtex\.cgi")


def _write_formulas(tree: Any) -> None:
    """Make every formula one `math` element with a line of text."""
    for math in _each(tree, "math", "mml:math", "m:math"):
        holder, is_apart = _drawing_of(math)
        text, tail, before = linear_formula(math), holder.tail or "", _text_before(holder)
        # No number gains a digit of the formula beside it.
        text = f" {text}" if before[-1:].isdigit() and text[:1].isdigit() else text
        text += " " if text[-1:].isdigit() and tail[:1].isdigit() else ""
        _set_formula(math, text, is_apart=is_apart)
        if holder is not math:
            math.tail = tail
            holder.getparent().replace(holder, math)
    for script in _each(tree, "script"):
        if not (script.get("type") or "").startswith("math/tex"):
            continue
        before = script.getprevious()
        while before is not None and "MathJax" in (before.get("class") or ""):
            before.drop_tree()
            before = script.getprevious()
        if before is not None and before.tag == "math" and not (before.tail or "").strip():
            script.drop_tree()  # drawn just before it
        else:
            source = re.sub(r"%?\s*(?:<!\[CDATA\[|\]\]>)", "", script.text or "")
            _set_formula(script, linear_tex(source), is_apart="display" in script.get("type"))
    for image in _each(tree, "img"):
        source = image.get("src") or ""
        if _PICTURE.search(image.get("class") or "") or _PICTURE_SOURCE.search(source):
            _set_formula(image, linear_tex(image.get("alt") or ""), is_apart=False)


def _drawing_of(math: Any) -> tuple[Any, bool]:
    """Return the element that a program drew a formula in, and whether it is set apart."""
    holder, is_apart = math, math.get("display") == "block"
    for outer in math.iterancestors():
        is_alone = len(outer) == 1 and not (outer.text or "").strip() and outer.tag == "span"
        names = (outer.get("class") or "").split()
        is_drawn = not _RENDERERS.isdisjoint(names) or outer.tag.startswith("mjx-")
        if not is_drawn and not (is_alone and not (holder.tail or "").strip()):
            break
        if outer.getparent() is None or sum(1 for _ in outer.iter(math.tag)) > 1:
            break
        holder = outer
        is_apart |= is_drawn and any("display" in name.lower() for name in names)
        is_apart |= outer.tag == "mjx-container" and outer.get("display") == "true"
    return holder, is_apart


def _each(tree: Any, *tags: str) -> Iterator[Any]:
    """Yield the elements that are still in a tree, which may change meanwhile."""
    for element in list(tree.iter(*tags)):
        if element.getparent() is not None:
            yield element


def _text_before(element: Any) -> str:
    previous = element.getprevious()
    return (element.getparent().text if previous is None else previous.tail) or ""


def _set_formula(element: Any, text: str, *, is_apart: bool) -> None:
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = "math", text, tail
    if is_apart:
        element.set("display", "block")


# Code


def _write_code(tree: Any) -> None:
    """Take line numbers out of listings, and make `pre` of those that are written otherwise."""
    for element in _each(tree, "td", "th", "span", "div", "a", "pre"):
        text = "".join(element.itertext()).strip()
        is_number = text.replace("\n", "").replace(" ", "").isdecimal()
        if (is_number or (not text and element.get("data-line-number"))) and _LINE_NUMBERS.search(
            element.get("class") or ""
        ):
            table = next(element.iterancestors("table", "pre"), None)
            element.drop_tree()
            if table is not None and table.tag == "table" and element.tag in {"td", "th"}:
                is_listing = next(table.iter("pre"), None) is None
                table.tag = "pre" if is_listing else "div"
    for code in _each(tree, "code", "samp"):
        before, outer = code.getprevious(), code.getparent()
        beside = (before, code.getnext())
        texts = (_text_before(code), code.tail)
        is_alone = not any((text or "").strip() for text in texts) and all(
            element is None or element.tag in BLOCKS or element.tag in {"a", "br", "button"}
            for element in beside
        )
        is_long = next(code.iter("br"), None) is not None or "\n" in code.text_content().strip()
        is_free = outer.tag in BLOCKS and next(code.iterancestors("pre"), None) is None
        if is_alone and is_long and is_free:
            code.tag = "pre"


# Notes

_NOTE_TEXTS = frozenset({"ltx_note_content", "sidenote", "marginnote", "footnote-tooltip"})
_NOTE_LINKS = frozenset({"footnote-ref", "footnote-reference", "noteref", "fn-ref", "footnoteRef"})
_NOTE_MARK = re.compile(r"[\[(]?(?:note\s|nb\s)?(?:\d{1,3}|[a-z]{1,2}|[*†‡§¶#]+)[\])]?")
_NOTE_BLOCKS = frozenset({"li", "p", "dd", "dt", "div", "aside", "td", "section"})
_NO_NOTE = ("h1", "h2", "h3", "h4", "h5", "h6", "table", "figure", "pre", "ol", "ul")


def _name_linked_notes(tree: Any) -> None:
    """Name as notes what a mark in the text leads to, further down; set the mark as one."""
    places = {element: place for place, element in enumerate(tree.iter())}
    targets: dict[str, Any] = {}
    for element in places:
        for name in {element.get("id"), element.get("name") if element.tag == "a" else None}:
            if name:
                targets.setdefault(name, element)
    for link in _each(tree, "a"):
        text = link.text_content().strip()
        fragment = (link.get("href") or "").partition("#")[2]
        if not fragment or not _NOTE_MARK.fullmatch(text):
            continue
        outer, before = link.getparent(), _text_before(link)
        named = {*(link.get("class") or "").split(), link.get("epub:type"), link.get("role")}
        is_named = not named.isdisjoint({*_NOTE_LINKS, "doc-noteref"})
        is_raised = outer.tag == "sup" or next(link.iter("sup"), None) is not None
        is_bracketed = text[0] == "[" or re.search(r"\[[^\[\]]*$|^\s*[,;–-]\s*$", before)
        is_glued = text.isdecimal() and before[-1:].isdecimal()
        if not (is_named or is_raised or is_bracketed or is_glued):
            continue
        if (is_named or is_glued) and not (is_raised or is_bracketed):
            _set_mark(link, text)
        target = targets.get(unquote(fragment), targets.get(fragment))
        if target is None or places[target] < places[link]:
            continue
        holders = (target, *target.iterancestors())
        note = next((h for h in holders if h.tag in _NOTE_BLOCKS), None)
        if note is None or note in link.iterancestors():
            continue
        if all(next(note.iterdescendants(tag), None) is None for tag in _NO_NOTE):
            note.set("role", "doc-footnote")
            mark = next(note.iter("sup"), None)
            if mark is not None and note.text_content().lstrip().startswith(mark.text_content()):
                shown = mark.text_content().strip()
                mark.tag, mark.text = "span", f"[{shown}]" if shown.isalnum() else shown
                del mark[:]


def _set_mark(element: Any, text: str) -> None:
    """Make an element the raised mark of a note."""
    tail = element.tail
    element.clear()
    element.tag, element.tail = "sup", tail
    mark = element.makeelement("a")
    mark.text = text
    element.append(mark)


def _name_notes_in_lines(tree: Any) -> None:
    """Name notes whose text stands inside of a line, and put their mark before it."""
    for note in _each(tree, "span", "small", "label"):
        names = {*(note.get("class") or "").split()}
        roles = {note.get("role"), note.get("epub:type")}
        named = not roles.isdisjoint({"tooltip", "doc-footnote", "footnote"})
        if not named and _NOTE_TEXTS.isdisjoint(names):
            continue
        for inner in list(note.iter("sup", "span")):
            if not {"ltx_note_mark", "ltx_tag_note"}.isdisjoint((inner.get("class") or "").split()):
                inner.drop_tree()
        shown = note
        if "ltx_note_content" in names:
            # Shown when its mark is pointed at; the style sheet hides it until then.
            note.attrib.clear()
            if "ltx_note_outer" in (note.getparent().get("class") or ""):
                shown = note.getparent()
                shown.attrib.clear()
        note.set("role", "doc-footnote")
        raised = shown.getprevious()
        if raised is None or raised.tag != "sup" or (raised.tail or "").strip():
            continue
        mark = raised.text_content().strip()
        if _NOTE_MARK.fullmatch(mark):
            if next(raised.iter("a"), None) is None:
                _set_mark(raised, mark)
            note.text = f"{f'[{mark}]' if mark.isalnum() else mark} {(note.text or '').lstrip()}"


def place_notes(tree: Any) -> None:
    """Put notes that stand inside of a line at the end of its block, or behind its table."""
    for note in _each(tree, "span", "small", "label"):
        if note.get("role") != "doc-footnote":
            continue
        frames = list(note.iterancestors("table", "figure"))
        block = next((e for e in note.iterancestors() if e.tag in BLOCKS), None)
        note.drop_tree()
        note.tail, note.tag = None, "div"
        if frames:
            frames[-1].addnext(note)
        elif block is not None:
            block.append(note)
