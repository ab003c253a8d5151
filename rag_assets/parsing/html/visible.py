"""A page as it is seen: hidden and struck text taken out of its tree, formulas and marks written.

It changes the tree before any extractor reads it, so it serves whoever makes HTML.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any  # Any: elements of lxml

from rag_assets.parsing.html.math import is_number, linear_formula
from rag_assets.parsing.html.styles import Declarations, Look, Node, StyleSheet, hides, look_of
from rag_assets.parsing.raised import LEVEL, LOWERED, NOTE_MARK, RAISED
from rag_assets.parsing.unseen import Unseen

# What a page holds beside its text; nobody takes it for text.
_NO_TEXT = frozenset({"head", "script", "style", "textarea", "select", "svg", "iframe", "object"})
# Turns the direction of text, which `finish_document` drops and notes.
_OVERRIDE = "\u202d"
# What `<noscript>` holds is read as text.
_TAG = re.compile(r"<[^<>]*>")
# MediaWiki wraps the source of every formula so.
_DISPLAY_STYLE = re.compile(r"^\{\\(?:display|text)style\s+(.*?)\s*\}$", re.DOTALL)


def leave_unseen(tree: Any) -> Unseen:
    """Take out of a page what a reader does not see, and return what that was.

    Formulas become one line of text, in `$` where they hold more than numbers; raised and lowered
    text is marked for `settle_raised`.
    """
    import lxml.etree

    linked = tree.xpath("//link[contains(@rel, 'stylesheet')]")
    sheet, unseen = StyleSheet(is_whole=not linked), Unseen()
    for style in tree.iter("style"):
        if "print" not in (style.get("media") or ""):
            sheet.add(style.text or "")
    walk = _Walk(sheet, unseen)
    events = lxml.etree.iterwalk(tree, events=("start", "end"))
    for event, element in events:
        if event == "end":
            walk.leave(element)
        elif not walk.enter(element):
            events.skip_subtree()
    for element in walk.gone:
        element.drop_tree()
    return unseen


@dataclass(slots=True)
class _Walk:
    sheet: StyleSheet
    unseen: Unseen
    nodes: list[Node] = field(default_factory=list)
    stack: list[tuple[Any, Look, bool]] = field(default_factory=lambda: [(None, Look(), False)])
    gone: list[Any] = field(default_factory=list)

    def enter(self, element: Any) -> bool:
        """Read the begin of an element; return whether what is inside is looked at."""
        tag = element.tag if isinstance(element.tag, str) else ""
        if not tag or tag in _NO_TEXT:
            return False
        if _is_formula_picture(element):
            self.gone.append(element)
            return False
        node = (tag, element.attrib)
        declared = self.sheet.declared(node, self.nodes)
        kind = None if _is_formula_holder(element) else hides(node, declared)
        if kind is not None:
            self.unseen.add(kind, _TAG.sub(" ", " ".join(_texts(element))))
            self.gone.append(element)
            return False
        look = look_of(node, declared, self.stack[-1][1], is_whole=self.sheet.is_whole)
        if tag == "math":
            _write_formula(element)
        element.text = self._seen(element.text, look)
        if tag == "bdo" or "override" in declared.get("unicode-bidi", ""):
            element.text = _OVERRIDE + (element.text or "")
        mark = _mark_of(element, tag, declared)
        if mark:
            element.text = mark + (element.text or "")
        self.nodes.append(node)
        self.stack.append((element, look, bool(mark)))
        return True

    def leave(self, element: Any) -> None:
        """Read the end of an element and the text behind it."""
        is_marked = False
        if self.stack[-1][0] is element:
            _, _, is_marked = self.stack.pop()
            self.nodes.pop()
        element.tail = self._seen(element.tail, self.stack[-1][1])
        if is_marked:
            element.tail = LEVEL + (element.tail or "")

    def _seen(self, text: str | None, look: Look) -> str | None:
        if look.unseen is None or not text or not text.strip():
            return text
        self.unseen.add(look.unseen, text)
        return " "


def _texts(element: Any) -> Iterator[str]:
    for inner in element.iter():
        if inner.tag not in _NO_TEXT and isinstance(inner.tag, str):
            yield inner.text or ""
        if inner is not element:
            yield inner.tail or ""


def _is_formula_holder(element: Any) -> bool:
    """Tell whether an element hides a formula behind its picture: the formula can be read."""
    return len(element) == 1 and element[0].tag == "math"


def _is_formula_picture(element: Any) -> bool:
    """Tell whether an element draws the formula that stands beside it as MathML."""
    if element.get("aria-hidden") != "true" or next(element.iter("math"), None) is not None:
        return False
    parent = element.getparent()
    return parent is not None and next(parent.iter("math"), None) is not None


def _mark_of(element: Any, tag: str, declared: Declarations) -> str:
    place = declared.get("vertical-align", {"sup": "super", "sub": "sub"}.get(tag))
    if place == "sub":
        return LOWERED
    if place != "super":
        return ""
    return NOTE_MARK if next(element.iter("a"), None) is not None else RAISED


def _write_formula(element: Any) -> None:
    source = linear_formula(element)
    if not is_number(element):
        notes = (n for n in element.iter("annotation") if "tex" in (n.get("encoding") or ""))
        texts = (" ".join((note.text or "").split()) for note in notes)
        source = next((_DISPLAY_STYLE.sub(r"\1", text) for text in texts if text), source)
        is_apart = element.get("display") == "block"
        source = source if is_apart or not source else f"${source}$"
    for child in list(element):
        element.remove(child)
    element.text = source
