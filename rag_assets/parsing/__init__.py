"""Raw bytes become documents: sniffed, parsed in worker processes, stored once."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.parsing.contract import ParseHints, Parser
    from rag_assets.parsing.document import media_type_of, parse_document
    from rag_assets.parsing.fingerprints import parse_fingerprint, request_fingerprint
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
    "media_type_of",
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
    "request_fingerprint",
    "sniff_media_type",
    "unregister_parser",
    "write_parsed",
]

# Imported on first use: a question looks up what is printed where, and must not pay for what reads
# files. No module of this room may be called like a public name.
_HOMES = {
    "CsvTable": "sheets.csv_records",
    "PARSE_REASONS": "reasons",
    "ParseHints": "contract",
    "ParseJob": "job",
    "Parser": "contract",
    "all_parsers": "registry",
    "boxes_of": "pdf.printed",
    "decode_text": "plain.encodings",
    "describe_parsers": "registry",
    "draw_page": "pdf.drawing",
    "draw_spans": "pdf.drawing",
    "make_sections": "sections",
    "observe_parses": "pool",
    "parse_document": "document",
    "parse_files": "pool",
    "parse_fingerprint": "fingerprints",
    "request_fingerprint": "fingerprints",
    "media_type_of": "document",
    "parsed_digest": "stored",
    "parser_for": "registry",
    "printed_span": "pdf.printed",
    "printed_text": "pdf.printed",
    "read_csv_table": "sheets.csv_records",
    "read_parsed": "stored",
    "register_parser": "registry",
    "render_attachment": "pdf.drawing",
    "sniff_media_type": "sniffing",
    "unregister_parser": "registry",
    "write_parsed": "stored",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_assets.parsing' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"rag_assets.parsing.{_HOMES[name]}"), name)
