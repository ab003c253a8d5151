"""Tables as grids of texts, by the parser of this package and by other readers."""

import importlib.util
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.tables.scoring import Grid, normalise

# Grids by the page they begin on, from 1.
PageGrids = list[tuple[int, Grid]]
# Ascending, from 1; all of them where None.
Pages = Sequence[int] | None
_SEPARATOR = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_BAR = re.compile(r"(?<!\\)\|")


def missing_reader(name: str) -> str | None:
    """Return why a reader cannot run on this machine, None where it can."""
    module = {"ours": "rag_assets"}.get(name, name)
    return None if importlib.util.find_spec(module) else f"no Python module {module}"


def markdown_rows(text: str) -> list[list[str]]:
    """Return the rows of a Markdown table without its line of dashes; [] of other text."""
    lines = [line.strip() for line in text.split("\n")]
    rows = [
        [cell.replace("\\|", "|").replace("<br>", " ").strip() for cell in _BAR.split(line)[1:-1]]
        for line in lines
        if line.startswith("|") and not _SEPARATOR.fullmatch(line)
    ]
    return rows if len(rows) > 0 and sum(line.startswith("|") for line in lines) else []


def _ours(file: Path, _pages: Pages) -> PageGrids:
    """A block without a line of dashes, or of the same attachment, continues the one before."""
    from rag_assets.parsing import ParseHints, parse_document
    from rag_assets.workspace import shipped_settings

    hints = ParseHints(extension=file.suffix)
    document = parse_document(file.read_bytes(), hints, shipped_settings().parse)
    grids: list[tuple[int, list[list[str]]]] = []
    last = None
    for block in document.blocks:
        if block.kind != "table":
            continue
        text = document.text[block.start : block.end]
        rows = markdown_rows(text)
        if not rows:
            continue
        lines = text.split("\n")
        has_head = len(lines) > 1 and _SEPARATOR.fullmatch(lines[1].strip()) is not None
        is_same = block.attachment_id is not None and block.attachment_id == last
        if grids and (not has_head or is_same):
            grids[-1][1].extend(_without_head(grids[-1][1], rows))
        else:
            grids.append((block.page or 1, rows))
        last = block.attachment_id
    return list(grids)


def _pymupdf(file: Path, pages: Pages) -> PageGrids:
    """Cells by their boxes: `extract` of PyMuPDF 2.0 sets points of numbers on another line."""
    from rag_assets.parsing import load_pymupdf

    found: PageGrids = []
    with load_pymupdf().open(file) as document:
        for page in document:
            if pages is not None and page.number + 1 not in pages:
                continue
            for table in page.find_tables().tables:
                rows = [
                    [page.get_text("text", clip=box) if box else "" for box in row.cells]
                    for row in table.rows
                ]
                if table.header.external:
                    rows.insert(0, [name or "" for name in table.header.names])
                found.append((page.number + 1, rows))
    return found


def _pdfplumber(file: Path, pages: Pages) -> PageGrids:
    import pdfplumber

    # It prints a line for each font without a bounding box.
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    with pdfplumber.open(file) as document:
        return [
            (page.page_number, [[cell or "" for cell in row] for row in table])
            for page in document.pages
            if pages is None or page.page_number in pages
            for table in page.extract_tables()
        ]


def _pymupdf4llm(file: Path, pages: Pages) -> PageGrids:
    import pymupdf4llm

    found: PageGrids = []
    wanted = None if pages is None else [page - 1 for page in pages]
    made = pymupdf4llm.to_markdown(str(file), page_chunks=True, use_ocr=False, pages=wanted)
    for number, page in zip(pages or range(1, len(made) + 1), made, strict=True):
        text = re.sub(r"</?su[bp]>", "", page["text"])
        for block in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
            rows = markdown_rows(block)
            if rows:
                found.append((number, rows))
    return found


READERS: Mapping[str, Callable[[Path, Pages], PageGrids]] = {
    "ours": _ours,
    "pymupdf": _pymupdf,
    "pdfplumber": _pdfplumber,
    "pymupdf4llm": _pymupdf4llm,
}


def read_grids(reader: str, file: Path, pages: Pages = None) -> PageGrids:
    """Return the tables that a reader finds in a file; the other readers look at `pages` only.

    The other readers give a table over pages in parts: the last of a page and the first of the
    next one count as one table where they have as many columns, without a repeated header.
    """
    found = READERS[reader](file, pages)
    if reader == "ours":
        return found
    joined: list[tuple[int, list[list[str]]]] = []
    end = 0
    for page, grid in found:
        rows = [list(row) for row in grid]
        fits = joined and rows and page == end + 1 and len(joined[-1][1][-1]) == len(rows[0])
        if fits:
            joined[-1][1].extend(_without_head(joined[-1][1], rows))
        elif rows:
            joined.append((page, rows))
        end = page
    return list(joined)


def _without_head(first: Grid, rows: list[list[str]]) -> list[list[str]]:
    count = 0
    for above, row in zip(first, rows, strict=False):
        if [*map(normalise, above)] != [*map(normalise, row)]:
            break
        count += 1
    return rows[count:]
