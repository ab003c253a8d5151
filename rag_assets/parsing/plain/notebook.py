"""Jupyter notebooks: their Markdown, their code and what it printed, as one Markdown text."""

import json
from collections.abc import Iterator
from typing import Any

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.plain.encodings import decode_text
from rag_assets.parsing.plain.kinds import NOTEBOOK_TYPE
from rag_assets.parsing.plain.markdown import MarkdownParser, read_markdown
from rag_assets.settings import ParseSettings

PARSER_VERSION = "1"

_MARKDOWN = MarkdownParser()

# Longer than any fence inside of a cell.
_FENCE = "`" * 6


class NotebookParser:
    """Reads notebooks of nbformat 3 and later. Pictures that code drew are not read."""

    name = "notebook"
    media_types = (NOTEBOOK_TYPE,)
    reads_stem = False

    @property
    def version(self) -> str:
        """Own version and that of the parser of Markdown."""
        return f"{PARSER_VERSION}+{_MARKDOWN.version}"

    def parse(self, data: bytes, _hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the cells in their order: Markdown as it is, code and outputs as code.

        Raises:
            ParseFailure: `damaged_file`, `empty_file`, `unknown_encoding`.
        """
        source, _, _ = decode_text(data)
        try:
            notebook = json.loads(source)
            cells = notebook.get("cells") or notebook["worksheets"][0]["cells"]
            parts = [part for cell in cells for part in _parts(cell)]
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            raise ParseFailure(
                "damaged_file",
                f"The file is no notebook that can be read ({type(error).__name__}): open it in "
                "Jupyter, save it again and replace it.",
            ) from error
        text = "\n\n".join(part for part in parts if part.strip())
        if not text:
            raise ParseFailure(
                "empty_file", "The notebook has no cell with text: remove it or write its text."
            )
        document = read_markdown(text, NOTEBOOK_TYPE)
        pictures = sum(
            key.startswith("image/")
            for cell in cells
            for output in cell.get("outputs", ())
            for key in output.get("data", {})
        )
        note = (
            f"{pictures} pictures that the notebook's code drew were not read: describe in its "
            "Markdown what matters in them."
        )
        return ParsedDocument(
            text=document.text,
            media_type=NOTEBOOK_TYPE,
            blocks=document.blocks,
            attachments=document.attachments,
            title=document.title,
            language=guess_language(document.text),
            metadata={"text_format": "markdown"},
            warnings=(*document.warnings, *([note] if pictures else [])),
        )


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the source of a cell and the texts that it put out."""
    source = _text(cell.get("source", cell.get("input", "")))
    kind = cell["cell_type"]
    if kind == "heading":
        yield f"{'#' * int(cell.get('level', 1))} {source}"
    elif kind != "code":
        yield source
    elif source.strip():
        yield _fenced(source)
    for output in cell.get("outputs", ()):
        shown = _text(output.get("text", output.get("data", {}).get("text/plain", "")))
        if output.get("output_type") in {"error", "pyerr"}:
            shown = f"{output.get('ename', '')}: {output.get('evalue', '')}"
        if shown.strip():
            yield _fenced(shown)


def _fenced(text: str) -> str:
    return f"{_FENCE}\n{text.rstrip()}\n{_FENCE}"


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
