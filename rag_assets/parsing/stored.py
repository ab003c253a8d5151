"""A parse on disk: one immutable Parquet file with the document and its report."""

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import (
    Block,
    DamagedFileError,
    PageSpan,
    ParsedDocument,
    ParseReport,
    hash_fields,
    hash_text,
)
from rag_assets.parsing.job import restore_report
from rag_assets.storage import replace_file

if TYPE_CHECKING:
    import pyarrow as pa

_DAMAGED = (
    "{path}: the stored parse is missing or damaged ({problem}). Delete the file; the next "
    "`rag parse` makes it anew."
)
_REPORT_KEY = b"rag_assets.parse_report"
_REPORT_DIGEST_KEY = b"rag_assets.parse_report_sha256"


def parsed_digest(document: ParsedDocument) -> str:
    """Return the SHA-256 over the content of a document: text, offsets, title, metadata."""
    return hash_fields(dataclasses.asdict(document))


def write_parsed(path: Path, document: ParsedDocument, report: ParseReport) -> None:
    """Write a parse and its report, whole or not at all.

    Raises:
        StorageError: the disk is full or refuses the write.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    encoded = json.dumps(dataclasses.asdict(report), sort_keys=True)
    schema = _schema().with_metadata(
        {_REPORT_KEY: encoded.encode(), _REPORT_DIGEST_KEY: hash_text(encoded).encode()}
    )
    row = dataclasses.asdict(document)
    row["metadata"] = [
        {"key": key, "value": value} for key, value in sorted(document.metadata.items())
    ]
    table = pa.Table.from_pylist([row], schema=schema)
    with replace_file(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def read_parsed(path: Path) -> tuple[ParsedDocument, ParseReport]:
    """Return a stored parse and its report, both verified against their digests.

    Raises:
        DamagedFileError: the file is missing, truncated or altered.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, schema=None, page_checksum_verification=True, partitioning=None)
        keys = table.schema.metadata or {}
        encoded = keys[_REPORT_KEY].decode()
        report = restore_report(json.loads(encoded))
        document = _restore_document(table)
        intact = hash_text(encoded) == keys[_REPORT_DIGEST_KEY].decode()
        problem = "" if intact else "the report is not what was written"
        if report.parsed_digest != parsed_digest(document):
            problem = "the content does not have its digest"
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(_DAMAGED.format(path=path, problem=error)) from error
    if problem:
        raise DamagedFileError(_DAMAGED.format(path=path, problem=problem))
    return document, report


def read_beginning(path: Path, characters: int) -> tuple[str | None, str]:
    """Return a stored parse's title and its first characters, without verifying the rest.

    Raises:
        DamagedFileError: the file is missing or truncated.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        (row,) = pq.read_table(path, columns=["title", "text"], partitioning=None).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedFileError(_DAMAGED.format(path=path, problem=error)) from error
    return row["title"], row["text"][:characters]


def _restore_document(table: "pa.Table") -> ParsedDocument:
    (row,) = table.to_pylist()
    return ParsedDocument(
        text=row["text"],
        media_type=row["media_type"],
        pages=tuple(PageSpan(**page) for page in row["pages"]),
        blocks=tuple(_restore_block(block) for block in row["blocks"]),
        title=row["title"],
        language=row["language"],
        metadata={item["key"]: item["value"] for item in row["metadata"]},
        removed_templates=tuple(row["removed_templates"]),
        warnings=tuple(row["warnings"]),
    )


def _restore_block(fields: dict[str, Any]) -> Block:
    if fields["bbox"] is not None:
        fields["bbox"] = tuple(fields["bbox"])
    return Block(**fields)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    text, number, strings = pa.large_string(), pa.int64(), pa.list_(pa.string())
    page = pa.struct([("number", number), ("start", number), ("end", number)])
    block = pa.struct(
        [
            ("kind", pa.string()),
            ("start", number),
            ("end", number),
            ("page", number),
            ("bbox", pa.list_(pa.float64())),
            ("level", number),
        ]
    )
    pair = pa.struct([("key", pa.string()), ("value", pa.string())])
    return pa.schema(
        [
            ("text", text),
            ("media_type", pa.string()),
            ("pages", pa.list_(page)),
            ("blocks", pa.list_(block)),
            ("title", pa.string()),
            ("language", pa.string()),
            ("metadata", pa.list_(pair)),
            ("removed_templates", strings),
            ("warnings", strings),
        ]
    )
