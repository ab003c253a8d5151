"""Read the structure of a document with the package's parser."""

import time

from benchmarks.headings.rows import FoundHeading, HeadingRow, Reading
from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import Settings


def read_structure(row: HeadingRow, settings: Settings) -> Reading:
    """Return what `parse_document` finds, in this process, on one core."""
    data = row.path.read_bytes()
    hints = ParseHints(row.path.suffix, stem=row.path.stem)
    cpu, wall = time.process_time(), time.perf_counter()
    try:
        document = parse_document(data, hints, settings.parse)
    except ParseFailure as failure:
        return Reading(failure=f"{failure.reason_code}: {failure}")
    except Exception as error:  # noqa: BLE001 - a parser may raise anything; one row, one failure
        return Reading(failure=f"parser_crashed: {type(error).__name__}: {error}")
    return _describe(document, time.process_time() - cpu, time.perf_counter() - wall)


def _describe(document: ParsedDocument, cpu_seconds: float, wall_seconds: float) -> Reading:
    blocks = [(block, document.text[block.start : block.end]) for block in document.blocks]
    return Reading(
        headings=tuple(
            FoundHeading(block.level or 1, " ".join(text.split()), block.page)
            for block, text in blocks
            if block.kind == "heading"
        ),
        title=document.title,
        abstract=document.abstract_text,
        references=sum(block.kind == "reference" for block, _ in blocks),
        pages=len(document.pages),
        cpu_seconds=cpu_seconds,
        wall_seconds=wall_seconds,
        blocks=tuple((block.kind, block.page, text) for block, text in blocks),
    )
