"""Who reads the structure of a document: our parser, its bookmarks, or a file of readings."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.headings.rows import FoundHeading, HeadingRow, Reading
from rag_assets.evaluation.sets import read_lines
from rag_assets.model import ParsedDocument, ParseFailure, UsageError
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import Settings

# What a reader says besides headings; what it does not say is not scored.
TITLE, ABSTRACT, REFERENCES = "title", "abstract", "references"


@dataclass(frozen=True, slots=True)
class HeadingReader:
    """A reader to be scored.

    Args:
        name: in tables and JSON.
        says: of TITLE, ABSTRACT and REFERENCES what it can say.
        read: returns what it finds in the document of a row.
        covers: names of the files that it has read, None for all.
    """

    name: str
    says: frozenset[str]
    read: Callable[[HeadingRow], Reading]
    covers: frozenset[str] | None = None


def own_reader(settings: Settings) -> HeadingReader:
    """Return the reader that is `parse_document`, in this process, on one core."""

    def read(row: HeadingRow) -> Reading:
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

    return HeadingReader("rag-assets", frozenset({TITLE, ABSTRACT, REFERENCES}), read)


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


def bookmark_reader() -> HeadingReader:
    """Return the reader that takes a PDF's bookmarks for its headings: the bare baseline."""

    def read(row: HeadingRow) -> Reading:
        import pymupdf

        open_document: Any = pymupdf.open
        data = row.path.read_bytes()
        cpu, wall = time.process_time(), time.perf_counter()
        try:
            with open_document(stream=data, filetype="pdf") as document:
                bookmarks = document.get_toc(simple=True)
                pages = document.page_count
        except RuntimeError as error:  # what every error of PyMuPDF is
            return Reading(failure=f"{type(error).__name__}: {error}")
        headings = tuple(
            FoundHeading(level, title, page if page > 0 else None)
            for level, title, page in bookmarks
        )
        return Reading(
            headings,
            pages=pages,
            cpu_seconds=time.process_time() - cpu,
            wall_seconds=time.perf_counter() - wall,
        )

    return HeadingReader("bookmarks", frozenset(), read)


def stored_reader(name: str, file: Path) -> HeadingReader:
    """Return a reader whose readings stand in `file`, one JSON object a document.

    Keys: `pdf` (the file's name, folders ignored), `headings` [{level, title, page?}], `pages`,
    `cpu_seconds`, `wall_seconds`; `title`, `abstract`, `references` where the first row has them.

    Raises:
        UsageError: the file cannot be read or a row has another shape.
    """
    readings: dict[str, Reading] = {}
    says: set[str] = set()
    for number, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            readings[Path(values["pdf"]).name] = _restore(values)
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise UsageError(f"{file}, line {number}: not a reading: {error!r}.") from error
        if len(readings) == 1:
            says = {TITLE, ABSTRACT, REFERENCES} & values.keys()
    if not readings:
        raise UsageError(f"{file} holds no readings.")
    return HeadingReader(name, frozenset(says), lambda row: readings[row.name], frozenset(readings))


def _restore(values: Mapping[str, Any]) -> Reading:
    headings: Sequence[Mapping[str, Any]] = values["headings"]
    return Reading(
        headings=tuple(
            FoundHeading(int(each["level"]), str(each["title"]), each.get("page"))
            for each in headings
        ),
        title=values.get(TITLE),
        abstract=values.get(ABSTRACT),
        references=values.get(REFERENCES) or 0,
        pages=int(values["pages"]),
        cpu_seconds=values.get("cpu_seconds"),
        wall_seconds=values.get("wall_seconds"),
        failure=values.get("failure"),
    )
