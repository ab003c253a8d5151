"""Tables as delimited text: every row a line that can stand alone."""

from collections.abc import Iterator
from functools import cached_property

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.plain.encodings import decode_text, decoder_version
from rag_assets.parsing.sheets.csv_dialect import find_dialect
from rag_assets.parsing.sheets.csv_records import Records
from rag_assets.parsing.sheets.layout import Row, kind_of
from rag_assets.parsing.sheets.rows import filled_cells, write_tables
from rag_assets.parsing.sheets.text import TextBuilder
from rag_assets.parsing.sniffing import bare_extension, foreign_name_warning
from rag_assets.settings import ParseSettings

PARSER_VERSION = "2"

# Enough lines to find each mark; a damaged file may have one in every line.
_MAX_LINES_SHOWN = 5


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
        source, encoding, warnings = decode_text(data)
        dialect = find_dialect(source, prefer_tab=bare_extension(hints.extension) == "tsv")
        records = Records(source, dialect)
        builder = TextBuilder()
        names = write_tables(_rows(records), builder, _name_column, single_column=True)
        text = builder.text()
        if not text:
            raise ParseFailure("empty_file", "The table has no filled cell: remove it or fill it.")
        warnings = (*foreign_name_warning(hints.extension, data), *warnings)
        if records.open_quotes:
            warnings = (*warnings, _describe_open_quotes(records.open_quotes))
        return ParsedDocument(
            text=text,
            media_type=self.media_types[0],
            blocks=builder.blocks,
            language=guess_language(text),
            metadata={
                "encoding": encoding,
                "delimiter": dialect.delimiter,
                "columns": "; ".join(names.values()),
            },
            warnings=warnings,
        )


def _rows(records: Records) -> Iterator[Row]:
    """Yield the filled cells of each record; a blank row where another table begins.

    Blank lines alone part nothing: some programs write one after every row.
    """
    width = 0  # of the record above
    is_parted = False
    for record in records:
        row = filled_cells(record)
        if not row:
            is_parted = True
            continue
        if is_parted and len(record) != width and all(kind_of(cell) == "text" for _, cell in row):
            yield []
        is_parted = False
        width = len(record)
        yield row


def _name_column(index: int) -> str:
    return f"column {index + 1}"


def _describe_open_quotes(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MAX_LINES_SHOWN]))
    more = " and more" if len(numbers) > _MAX_LINES_SHOWN else ""
    return (
        f"A quotation mark is never closed (line {shown}{more}); it was read as a plain character: "
        "correct the line if cells are cut wrongly."
    )
