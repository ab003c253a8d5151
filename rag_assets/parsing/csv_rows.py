"""Tables as delimited text: every row a line that can stand alone."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from rag_assets.model import Block, ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.plaintext import decode_text, decoder_version
from rag_assets.parsing.sniffing import bare_extension
from rag_assets.workspace.settings import ParseSettings

PARSER_VERSION = "1"

_DELIMITERS = ",;\t|"
# The dialect shows in the first records; a longer look changes no answer.
_SAMPLE_RECORDS = 100
_NUMBER = re.compile(r"[-+]?[\d.,]+(?:e[-+]?\d+)?%?", re.IGNORECASE)


class CsvParser:
    """Reads comma, semicolon, tab and bar separated files."""

    name = "csv"
    media_types = ("text/csv",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the encoding detector."""
        return decoder_version(PARSER_VERSION)

    def parse(self, data: bytes, hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return one block of kind `row` a record, written `header: value; header: value`.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`, `damaged_file`.
        """
        text, encoding, warnings = decode_text(data)
        delimiter = find_delimiter(text, prefer_tab=bare_extension(hints.extension) == "tsv")
        records = _read_records(text, delimiter)
        if not records:
            raise ParseFailure("empty_file", "The table has no filled cell: remove it or fill it.")
        header, rows = _split_header(records)
        lines = [line for row in rows if (line := _render_row(header, row))]
        clean = "\n".join(lines)
        blocks = []
        position = 0
        for line in lines:
            blocks.append(Block("row", position, position + len(line)))
            position += len(line) + 1
        return ParsedDocument(
            text=clean,
            media_type=self.media_types[0],
            blocks=tuple(blocks),
            language=guess_language(clean),
            metadata={"encoding": encoding, "delimiter": delimiter, "columns": "; ".join(header)},
            warnings=warnings,
        )


def find_delimiter(text: str, *, prefer_tab: bool = False) -> str:
    """Return the delimiter that cuts most of the first records into the same number of cells."""
    candidates = "\t,;|" if prefer_tab else _DELIMITERS
    return max(candidates, key=lambda delimiter: _evenness(text, delimiter))


def _evenness(text: str, delimiter: str) -> float:
    """Return the share of records with the usual number of cells, 0 where that is one."""
    try:
        sample = islice(
            csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), _SAMPLE_RECORDS
        )
        widths = [len(record) for record in sample if record]
    except csv.Error:
        return 0.0
    if not widths:
        return 0.0
    width, count = Counter(widths).most_common(1)[0]
    return count / len(widths) if width > 1 else 0.0


def _read_records(text: str, delimiter: str) -> list[list[str]]:
    # The module's own limit of 131,072 characters a cell is meant for streams; a whole file is
    # in memory here and its size has its own limit.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        records = [[" ".join(cell.split()) for cell in record] for record in reader]
    except csv.Error as error:
        raise ParseFailure(
            "damaged_file",
            f"Line {reader.line_num} of the table cannot be read ({error}): correct it or save "
            "the table anew as csv.",
        ) from error
    return [record for record in records if any(record)]


def _split_header(records: Sequence[list[str]]) -> tuple[list[str], Sequence[list[str]]]:
    first = records[0]
    has_header = any(cell and not _NUMBER.fullmatch(cell) for cell in first)
    if has_header:
        header = [cell or _column_name(index) for index, cell in enumerate(first)]
        # A table of its header alone still says which columns it has.
        rows = records[1:] or [first]
        return header, rows
    return [_column_name(index) for index in range(len(first))], records


def _column_name(index: int) -> str:
    return f"column {index + 1}"


def _render_row(header: Sequence[str], row: Sequence[str]) -> str:
    return "; ".join(
        f"{header[index] if index < len(header) else _column_name(index)}: {cell}"
        for index, cell in enumerate(row)
        if cell
    )
