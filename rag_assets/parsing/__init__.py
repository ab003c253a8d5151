"""Raw bytes become documents: sniffed, parsed in worker processes, stored once."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.parsing.document import (
        STAGE_VERSION,
        media_type_of,
        parse_document,
        parse_fingerprint,
        request_fingerprint,
    )
    from rag_assets.parsing.package import OfficePackage, parse_xml
    from rag_assets.parsing.pdf.opening import load_pymupdf
    from rag_assets.parsing.pdf.printed import (
        printed_span,
        printed_text,
        render_attachment,
    )
    from rag_assets.parsing.pool import (
        observe_parses,
        parse_files,
        worker_started_ahead,
    )
    from rag_assets.parsing.registry import (
        PARSE_REASONS,
        ParseHints,
        Parser,
        ParserRegistry,
        all_parsers,
        describe_parsers,
        parser_for,
        register_parser,
        unregister_parser,
    )
    from rag_assets.parsing.sections import make_sections, named_thing
    from rag_assets.parsing.sheets import CsvTable, read_csv_table
    from rag_assets.parsing.sniffing import sniff_media_type
    from rag_assets.parsing.stage import (
        has_stale_parses,
        password_of,
        read_reports,
        refresh_parse_reports,
        write_quality_report,
    )
    from rag_assets.parsing.stored import (
        ParseJob,
        json_pieces,
        parsed_digest,
        read_parsed,
        read_print,
        render_markdown,
        write_parsed,
    )
    from rag_assets.parsing.text import decode_text
    from rag_assets.parsing.worker_process import WorkerDiedError, WorkerProcess, WorkerTimeoutError
    from rag_assets.parsing.xlsx import WorkbookSheet, read_workbook


# Imported on first use: a question looks up what is printed where, and must not pay for what reads

# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "CsvTable": "sheets",
        "PARSE_REASONS": "registry",
        "ParseHints": "registry",
        "ParseJob": "stored",
        "OfficePackage": "package",
        "Parser": "registry",
        "ParserRegistry": "registry",
        "STAGE_VERSION": "document",
        "WorkbookSheet": "xlsx",
        "all_parsers": "registry",
        "decode_text": "text",
        "describe_parsers": "registry",
        "has_stale_parses": "stage",
        "json_pieces": "stored",
        "load_pymupdf": "pdf.opening",
        "make_sections": "sections",
        "media_type_of": "document",
        "named_thing": "sections",
        "observe_parses": "pool",
        "parse_document": "document",
        "WorkerDiedError": "worker_process",
        "WorkerProcess": "worker_process",
        "WorkerTimeoutError": "worker_process",
        "parse_files": "pool",
        "parse_fingerprint": "document",
        "parse_xml": "package",
        "parsed_digest": "stored",
        "parser_for": "registry",
        "password_of": "stage",
        "printed_span": "pdf.printed",
        "printed_text": "pdf.printed",
        "read_csv_table": "sheets",
        "read_parsed": "stored",
        "read_print": "stored",
        "read_reports": "stage",
        "read_workbook": "xlsx",
        "refresh_parse_reports": "stage",
        "register_parser": "registry",
        "render_attachment": "pdf.printed",
        "render_markdown": "stored",
        "request_fingerprint": "document",
        "sniff_media_type": "sniffing",
        "unregister_parser": "registry",
        "worker_started_ahead": "pool",
        "write_parsed": "stored",
        "write_quality_report": "stage",
    },
)
