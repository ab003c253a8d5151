"""What a paragraph style says of its paragraphs: heading level, role, numbering."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rag_assets.parsing.office.docx_xml import W, is_on, number_of, value_of

if TYPE_CHECKING:
    from lxml.etree import _Element

Role = Literal["title", "front", "author", "abstract", "caption", "code", "reference", "contents"]

# The longest chain of styles that Word itself writes has some five links.
_MAX_CHAIN = 30
_BODY_LEVEL = 9
# In half points, where nothing says otherwise (ECMA-376 part 1, 17.3.2.38).
_USUAL_SIZE = 20
# Word stores the English name whatever the user's language; other programs write their own.
_HEADING_WORDS = (
    "heading|überschrift|titre|título|titolo|titulo|kop|nagłówek|заголовок|rubrik|overskrift|"
    "nadpis|otsikko|başlık|címsor|επικεφαλίδα|naslov|antraštė|tiêu đề|标题|標題|見出し|제목"
    "|章节标题"
)
_HEADING_NAME = re.compile(rf"(?:{_HEADING_WORDS})\s*_?(?P<level>[1-9])(?:\s*char)?", re.IGNORECASE)
_CONTENTS_HEADING = frozenset({"toc heading", "contents heading", "tocheading"})
_ROLE_NAMES: dict[Role, str] = {
    "title": "(?:main |document |book |paper |article |report )?title|titel|titre|título|titolo"
    "|标题|標題|表題|제목|название|tytuł|názov|název",
    "front": "subtitle|untertitel|sous-titre|subtítulo|sottotitolo|副标题|副標題|副題|부제"
    "|подзаголовок|date|datum|affiliation|institution",
    "author": "authors?|byline|autor(?:en)?|auteurs?|作者|著者",
    "abstract": "abstract|summary|zusammenfassung|résumé|resumen|摘要",
    "caption": "(?:image |table |figure )?caption|beschriftung|légende|leyenda|didascalia"
    "|题注|題注|図表番号|캡션|название объекта",
    "code": "source code|html preformatted|preformatted text|code|code block|verbatim|listing"
    "|macro text|macro",
    "reference": "bibliography|literaturverzeichnis|bibliographie|references?|书目|文献目録",
    "contents": r"toc \d|contents \d|table of figures|目录 ?\d|目次 \d|index \d",
}
_ROLES = tuple((role, re.compile(names, re.IGNORECASE)) for role, names in _ROLE_NAMES.items())


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a style and those that it is based on say.

    Args:
        heading_level: from 1, None for text.
        num_id: list that its paragraphs belong to, None without.
        list_level: level in that list from 0, None where the style does not say.
        is_bold: how its text is set where the run does not say.
        size: of its text in half points.
    """

    role: Role | None = None
    heading_level: int | None = None
    num_id: int | None = None
    list_level: int | None = None
    is_bold: bool = False
    size: int = _USUAL_SIZE


class Styles:
    """The styles of a document's paragraphs and runs.

    Args:
        root: of the styles part, None where the package has none.
    """

    def __init__(self, root: "_Element | None") -> None:
        self._elements: dict[str, _Element] = {}
        self._known: dict[str | None, ParagraphStyle] = {}
        self._default: str | None = None
        self._size = number_of(root, "docDefaults/rPrDefault/rPr/sz") or _USUAL_SIZE
        path = f"{W}docDefaults/{W}rPrDefault/{W}rPr"
        self._run_defaults = [] if root is None else root.findall(path)
        self._run_properties: dict[tuple[str | None, str | None], list[_Element]] = {}
        for element in () if root is None else root.findall(W + "style"):
            kind = element.get(W + "type", "paragraph")
            if kind not in {"paragraph", "character"}:
                continue
            style_id = element.get(W + "styleId", "")
            self._elements[style_id] = element
            if kind == "paragraph" and element.get(W + "default") in {"1", "true", "on"}:
                self._default = style_id

    def style_of(self, style_id: str | None) -> ParagraphStyle:
        """Return the style of a paragraph; None is the document's default."""
        if style_id not in self._known:
            self._known[style_id] = self._resolve(style_id)
        return self._known[style_id]

    def run_properties(self, style_id: str | None, run_style: str | None) -> "list[_Element]":
        """Return the properties that the styles give a run, nearest first.

        Args:
            style_id: of its paragraph, None for the document's default.
            run_style: its own, None without.
        """
        key = style_id, run_style
        if key not in self._run_properties:
            chain = self._chain(run_style) + self._chain(style_id or self._default)
            found = [element.find(W + "rPr") for element in chain]
            self._run_properties[key] = [
                *(item for item in found if item is not None),
                *self._run_defaults,
            ]
        return self._run_properties[key]

    def paragraph_shade(self, style_id: str | None) -> str | None:
        """Return the colour that a paragraph's style puts behind it, None without."""
        for element in self._chain(style_id or self._default):
            shade = element.find(f"{W}pPr/{W}shd")
            if shade is not None and shade.get(W + "fill", "auto") != "auto":
                return str(shade.get(W + "fill"))
        return None

    def _resolve(self, style_id: str | None) -> ParagraphStyle:
        chain = self._chain(self._default if style_id is None else style_id)
        names = [_name(element) for element in chain]
        if style_id is not None and not chain:
            names = [_spaced(style_id)]  # no styles part: the id alone may still tell
        numbered = next((item for item in chain if item.find(f"{W}pPr/{W}numPr") is not None), None)
        return ParagraphStyle(
            next(filter(None, map(_role, names)), None),
            _heading_level(chain, names),
            number_of(numbered, "pPr/numPr/numId"),
            number_of(numbered, "pPr/numPr/ilvl"),
            any(is_on(item, "rPr/b") for item in chain),
            next(filter(None, (number_of(item, "rPr/sz") for item in chain)), self._size),
        )

    def _chain(self, style_id: str | None) -> "list[_Element]":
        chain: list[_Element] = []
        while style_id in self._elements and len(chain) < _MAX_CHAIN:
            chain.append(self._elements[style_id])
            style_id = value_of(chain[-1], "basedOn") or ""
        return chain


def _name(element: "_Element") -> str:
    return " ".join((value_of(element, "name") or element.get(W + "styleId", "")).split())


def _spaced(style_id: str) -> str:
    """Return `Heading1` as `Heading 1`."""
    return re.sub(r"(?<=\D)(?=\d)|(?<=[a-z])(?=[A-Z])", " ", style_id)


def _role(name: str) -> Role | None:
    return next((role for role, pattern in _ROLES if pattern.fullmatch(name)), None)


def _heading_level(chain: "list[_Element]", names: list[str]) -> int | None:
    for index, name in enumerate(names):
        if name.casefold() in _CONTENTS_HEADING:
            return 1
        outline = number_of(chain[index], "pPr/outlineLvl") if chain else None
        if outline is not None:
            return outline + 1 if 0 <= outline < _BODY_LEVEL else None
        named = _HEADING_NAME.fullmatch(name)
        if named:
            return int(named["level"])
    return None
