"""Raw bytes become documents: sniffed, parsed in worker processes, stored once."""

from rag_assets.parsing.contract import ParseHints, Parser
from rag_assets.parsing.document import parse_document
from rag_assets.parsing.fingerprints import parse_fingerprint
from rag_assets.parsing.job import ParseJob
from rag_assets.parsing.pdf.drawing import draw_page, draw_spans, render_attachment
from rag_assets.parsing.pdf.printed import boxes_of, printed_span, printed_text
from rag_assets.parsing.plain.encodings import decode_text
from rag_assets.parsing.pool import observe_parses, parse_files
from rag_assets.parsing.reasons import PARSE_REASONS
from rag_assets.parsing.registry import (
    all_parsers,
    describe_parsers,
    parser_for,
    register_parser,
    unregister_parser,
)
from rag_assets.parsing.sections import make_sections
from rag_assets.parsing.sheets.csv_records import CsvTable, read_csv_table
from rag_assets.parsing.sniffing import sniff_media_type
from rag_assets.parsing.stored import parsed_digest, read_parsed, write_parsed

__all__ = [
    "PARSE_REASONS",
    "CsvTable",
    "ParseHints",
    "ParseJob",
    "Parser",
    "all_parsers",
    "boxes_of",
    "decode_text",
    "describe_parsers",
    "draw_page",
    "draw_spans",
    "make_sections",
    "observe_parses",
    "parse_document",
    "parse_files",
    "parse_fingerprint",
    "parsed_digest",
    "parser_for",
    "printed_span",
    "printed_text",
    "read_csv_table",
    "read_parsed",
    "register_parser",
    "render_attachment",
    "sniff_media_type",
    "unregister_parser",
    "write_parsed",
]
