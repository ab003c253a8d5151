"""A parse as text for review: what is in it, in order, each block on a line."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from rag_assets.model import Block, ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings

FOLDER = Path(__file__).resolve().parent / "parses"
# Characters that are shown of a block: its beginning and its end, where joins go wrong.
_HEAD, _TAIL = 56, 24


def parse_golden(name: str, data: bytes) -> str:
    """Return the golden text of a document."""
    hints = ParseHints(Path(name).suffix)
    return render(name, parse_document(data, hints, make_settings()))


def render(name: str, document: ParsedDocument) -> str:
    """Return front matter, headings, reading order, tables, figures and references."""
    parts = [
        name,
        "\n".join(f"{key:<9} {value}" for key, value in _front(document) if value),
        _part("Headings", _headings(document)),
        _part("Reading order", _order(document)),
        _part("Tables", _tables(document)),
        _part("References", _references(document)),
        _part("Attachments", _attachments(document)),
        _part("Left out", document.removed_templates),
        _part("Warnings", document.warnings),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front(document: ParsedDocument) -> Iterator[tuple[str, object]]:
    yield "type", document.media_type
    yield "language", document.language
    yield "pages", len(document.pages)
    yield "title", document.title
    yield "authors", "; ".join(document.authors)
    yield "year", document.year
    yield "doi", document.doi
    imprint = (document.journal, document.volume, document.issue, document.page_range)
    yield "in", ", ".join(filter(None, imprint))
    yield "printed", " ".join(label or "?" for label in document.page_labels)
    yield "abstract", _shortened(document.abstract_text or "")


def _headings(document: ParsedDocument) -> Iterator[str]:
    for section in document.sections:
        about = section.category.name.lower()
        if section.subtype:
            about += f", {section.subtype}"
        yield f"{'    ' * section.level}{section.title or '(before the first)'}  [{about}]"


def _order(document: ParsedDocument) -> Iterator[str]:
    def key(block: Block) -> tuple[int | None, str]:
        return block.page, block.kind

    for (page, kind), blocks in groupby(document.blocks, key):
        held = list(blocks)
        where = f"p{page} " if page else ""
        # The rows of a sheet are alike; the first and last say where they are.
        shown = [held[0], held[-1]] if kind == "row" and len(held) > 2 else held
        if len(shown) < len(held):
            yield f"{where}{len(held)} rows, the first and the last:"
        for block in shown:
            yield f"{where}{kind:<10} {_shortened(document.text[block.start : block.end])}"


def _tables(document: ParsedDocument) -> Iterator[str]:
    for block in document.blocks:
        if block.kind == "table":
            yield document.text[block.start : block.end].strip()
            yield ""


def _references(document: ParsedDocument) -> Iterator[str]:
    found = [block for block in document.blocks if block.kind == "reference"]
    for number, block in enumerate(found, 1):
        yield f"{number:>2}  {' '.join(document.text[block.start : block.end].split())}"


def _attachments(document: ParsedDocument) -> Iterator[str]:
    for each in document.attachments:
        where = f" p{each.page}" if each.page else ""
        yield f"{each.attachment_id}{where} {each.name or ''}: {each.caption or ''}".rstrip(": ")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _HEAD + _TAIL + 3 else f"{line[:_HEAD]} … {line[-_TAIL:]}"


def _part(head: str, lines: object) -> str:
    told = "\n".join(lines).rstrip()  # type: ignore[call-overload]
    return f"{head}\n{'-' * len(head)}\n{told}" if told else ""
