"""Why a document could not be parsed: reason codes and what a person can do about each."""

from collections.abc import Mapping
from types import MappingProxyType

# Shown by `rag documents` beside the message; a code never changes its meaning.
PARSE_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "changed_while_reading": "The file was saved during the build; build again.",
        "damaged_file": "Open the file in its own program, save it anew and replace it.",
        "empty_file": "The file holds no text; remove it or fill it.",
        "error_page": "Download the document itself, signed in if needed, and replace the file.",
        "hostile_file": "Find out where the file comes from; save it anew with its own program.",
        "memory_limit": "Raise parse.megabytes_of_memory, or split the document; then --retry.",
        "missing_extra": "Install the package that the message names; then --retry.",
        "missing_key": "Put the key that the message names into .env; then --retry.",
        "no_pages": "The document has no pages; export it again.",
        "no_text_layer": "The pages are pictures; run text recognition (OCR) on the file.",
        "page_limit": "Raise parse.max_pages, or split the document; build again.",
        "parser_crashed": "Save the file anew with another program; report the crash if it stays.",
        "password_required": "Write `password: …` into the file's sidecar <file>.meta.yaml.",
        "password_wrong": "Correct `password:` in the file's sidecar <file>.meta.yaml.",
        "provider_failed": "Look whether the service is up; then --retry, or parser: pymupdf.",
        "provider_refused": "Put a valid key into .env; then --retry.",
        "provider_timeout": "Raise parse.mineru.wait_seconds, or --retry later.",
        "size_limit": "Raise parse.max_megabytes, or split the document; build again.",
        "time_limit": "Raise parse.seconds_per_document, or split the document; then --retry.",
        "unreadable_text": "Run text recognition (OCR) on the file; its text layer is wrong.",
        "unknown_encoding": "Save the text as UTF-8.",
        "unreadable_file": "Check that the file is there and may be read; build again.",
        "unsupported_format": "Convert the file to one of the supported formats.",
    }
)
