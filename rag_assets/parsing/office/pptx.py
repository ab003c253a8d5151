"""PowerPoint presentations (pptx, pptm, ppsx): a slide is a page, its title a heading."""

from functools import cached_property
from importlib.metadata import version

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.office.flow import Piece, flow_pieces
from rag_assets.parsing.office.pptx_layout import EMU_PER_POINT, P
from rag_assets.parsing.office.pptx_slides import Slide, SlideReader
from rag_assets.parsing.package import (
    OfficePackage,
    read_office_file,
    read_properties,
    relationship_id,
)
from rag_assets.parsing.sniffing import PPTX_TYPE
from rag_assets.parsing.unseen import Unseen
from rag_assets.settings import ParseSettings

PARSER_VERSION = "3"

_USUAL_PART = "ppt/presentation.xml"
# Of a side of a slide in EMU.
_MAX_DIGITS = 10


class PptxParser:
    """Reads presentations: titles, texts in reading order, tables, charts, pictures, notes."""

    name = "pptx"
    media_types = (PPTX_TYPE,)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the XML library."""
        return f"{PARSER_VERSION}+lxml-{version('lxml')}"

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the presentation, a page a slide.

        Raises:
            ParseFailure: `damaged_file`, `hostile_file`, `size_limit`, `page_limit`, `no_pages`,
                `empty_file`.
        """
        return read_office_file(
            lambda package: _read(package, settings), OfficePackage(data, settings), hints
        )


def _read(package: OfficePackage, settings: ParseSettings) -> ParsedDocument:
    warnings: list[str] = []
    parts = _slide_parts(package, settings, warnings)
    unseen = Unseen()
    size = _slide_size(package)
    reader = SlideReader(package, _comment_authors(package), warnings, size, unseen)
    slides = [reader.read(part, number) for number, part in enumerate(parts, 1)]
    removed = _remove_feet(slides, settings.repeated_line_share)
    pieces = [piece for slide in slides for piece in slide.pieces]
    flow = flow_pieces(pieces, len(slides))
    if not flow.text:
        raise ParseFailure(
            "empty_file",
            f"None of the {len(slides)} slides holds text or a picture: remove the file or write "
            "its text.",
        )
    properties = read_properties(package)
    hidden = sum(slide.is_hidden for slide in slides)
    textless = sum(page.start == page.end for page in flow.pages) - hidden
    if all(piece.kind == "figure" for piece in pieces):
        warnings.append(
            "The slides hold pictures only: where they show text, run text recognition (OCR)."
        )
    elif textless:
        warnings.append(f"{textless} of {len(slides)} slides hold no text.")
    return ParsedDocument(
        text=flow.text,
        media_type=PPTX_TYPE,
        pages=flow.pages,
        blocks=flow.blocks,
        attachments=flow.attachments,
        title=slides[0].title or properties.title,
        authors=properties.authors,
        language=guess_language(flow.text),
        metadata=properties.metadata,
        removed_templates=removed,
        warnings=(*warnings, *unseen.warnings()),
    )


def _slide_parts(package: OfficePackage, settings: ParseSettings, warnings: list[str]) -> list[str]:
    """Return the slides in the order of the show."""
    main = package.main_part(_USUAL_PART)
    root = package.tree(main)
    relationships = package.relationships(main)
    parts, missing = [], 0
    for element in root.iter(P + "sldId"):
        found = relationships.get(relationship_id(element) or "")
        if found is None or found.is_external or found.target not in package:
            missing += 1
        else:
            parts.append(found.target)
    if missing:
        warnings.append(
            f"{missing} slides are named by the presentation but missing in the file: open it in "
            "PowerPoint, save it anew and replace it."
        )
    if not parts:
        raise ParseFailure(
            "no_pages", "The presentation has no slides: remove it or export it again."
        )
    if len(parts) > settings.max_pages:
        raise ParseFailure(
            "page_limit",
            f"The presentation has {len(parts)} slides, parse.max_pages allows "
            f"{settings.max_pages}: raise the setting in config.yaml or split the document, then "
            "build again.",
        )
    return parts


def _slide_size(package: OfficePackage) -> tuple[float, float] | None:
    """Return width and height of the slides in points, None where nothing says them."""
    size = package.tree(package.main_part(_USUAL_PART)).find(P + "sldSz")
    sides = ("", "") if size is None else (size.get("cx", ""), size.get("cy", ""))
    if not all(side.isdecimal() and len(side) < _MAX_DIGITS for side in sides):
        return None
    return int(sides[0]) / EMU_PER_POINT, int(sides[1]) / EMU_PER_POINT


def _comment_authors(package: OfficePackage) -> dict[str, str]:
    main = package.main_part(_USUAL_PART)
    parts = (*package.related(main, "commentAuthors"), *package.related(main, "authors"))
    return {
        element.get("id", ""): element.get("name", "")
        for part in parts
        for element in package.tree(part)
    }


def _remove_feet(slides: list[Slide], share: float) -> tuple[str, ...]:
    """Take out foot lines that stand on at least `share` of the slides, two at least."""
    counts: dict[str, int] = {}
    for slide in slides:
        for text in {piece.text for piece in slide.feet}:
            counts[text] = counts.get(text, 0) + 1
    removed = {text for text, count in counts.items() if count > 1 and count >= share * len(slides)}
    for slide in slides:
        kept: list[Piece] = [piece for piece in slide.feet if piece.text not in removed]
        slide.pieces[slide.body_end : slide.body_end] = kept
    return tuple(text for text in counts if text in removed)
