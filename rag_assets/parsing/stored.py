"""A parse on disk: one immutable Parquet file with the document and its report."""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import (
    Attachment,
    Block,
    DamagedFileError,
    PageSpan,
    ParsedDocument,
    ParseReport,
    Section,
    SectionCategory,
    SourceLine,
    hash_fields,
    hash_text,
)
from rag_assets.parsing.job import restore_report
from rag_assets.storage import read_parquet, trouble_of_machine, write_bytes, write_parquet

if TYPE_CHECKING:
    import pyarrow as pa

_DAMAGED = (
    "{path}: the stored parse is missing or damaged ({problem}). Delete the file; the next "
    "`rag parse` makes it anew."
)
_REPORT_KEY = b"rag_assets.parse_report"
_REPORT_DIGEST_KEY = b"rag_assets.parse_report_sha256"
_SIMPLE = ("text", "media_type", "title", "authors", "year", "doi", "abstract", "language",
           "removed_templates", "warnings")  # fmt: skip
_TUPLES = ("authors", "abstract", "removed_templates", "warnings")


def _fields_of(model: type, *without: str) -> tuple[str, ...]:
    names = (field.name for field in dataclasses.fields(model))
    return tuple(name for name in names if name not in without)


_PAGE_FIELDS, _BLOCK_FIELDS, _LINE_FIELDS, _SECTION_FIELDS = (
    _fields_of(model) for model in (PageSpan, Block, SourceLine, Section)
)
_ATTACHMENT_FIELDS = _fields_of(Attachment, "content")
_NESTED = {
    "pages": _PAGE_FIELDS,
    "blocks": _BLOCK_FIELDS,
    "lines": _LINE_FIELDS,
    "sections": _SECTION_FIELDS,
    "attachments": _ATTACHMENT_FIELDS,
}


def parsed_digest(document: ParsedDocument) -> str:
    """Return the SHA-256 over the content of a document: all its fields, attachments by hash."""
    # Field by field: the JSON of a long document at once would be larger than the document.
    return hash_fields(*((name, hash_fields(value)) for name, value in _plain_fields(document)))


def write_parsed(path: Path, document: ParsedDocument, report: ParseReport) -> None:
    """Write a parse and its report, whole or not at all. Contents of attachments are not in it.

    Raises:
        StorageError: the disk is full or refuses the write.
    """
    import pyarrow as pa

    encoded = json.dumps(dataclasses.asdict(report), sort_keys=True)
    schema = _schema().with_metadata(
        {_REPORT_KEY: encoded.encode(), _REPORT_DIGEST_KEY: hash_text(encoded).encode()}
    )
    arrays = [
        _stored_array(value, schema.field(name).type) for name, value in _plain_fields(document)
    ]
    table = pa.Table.from_arrays(arrays, schema=schema)
    write_parquet(path, table, "zstd")


def write_blobs(folder: Path, document: ParsedDocument) -> None:
    """Write the contents of a document's attachments, each under its hash, once.

    Raises:
        StorageError: the disk is full or refuses the write.
    """
    for item in document.attachments:
        if item.content is not None and item.content_hash is not None:
            path = _blob(folder, item.content_hash)
            if not path.is_file() or path.stat().st_size != len(item.content):
                write_bytes(path, item.content)


def has_blobs(folder: Path, names: Sequence[str]) -> bool:
    """Say whether the contents of attachments are there."""
    return all(_blob(folder, name).is_file() for name in names)


def _blob(folder: Path, name: str) -> Path:
    return folder / name[:2] / name


def read_parsed(path: Path) -> tuple[ParsedDocument, ParseReport]:
    """Return a stored parse and its report, both verified against their digests.

    Raises:
        DamagedFileError: the file is missing, truncated or altered.
        StorageError: the machine cannot read it now.
    """
    import pyarrow as pa

    try:
        table = read_parquet(path)
        keys = table.schema.metadata or {}
        encoded = keys[_REPORT_KEY].decode()
        report = restore_report(json.loads(encoded))
        document = _restore_document(table)
        intact = hash_text(encoded) == keys[_REPORT_DIGEST_KEY].decode()
        problem = "" if intact else "the report is not what was written"
        if report.parsed_digest != parsed_digest(document):
            problem = "the content does not have its digest"
    except (pa.ArrowException, OSError, MemoryError, ValueError, KeyError, TypeError) as error:
        raise trouble_of_machine(error, path) or DamagedFileError(
            _DAMAGED.format(path=path, problem=error)
        ) from error
    if problem:
        raise DamagedFileError(_DAMAGED.format(path=path, problem=problem))
    return document, report


def read_beginning(path: Path, characters: int) -> tuple[str | None, str]:
    """Return a stored parse's title and its first characters, without verifying the rest.

    Raises:
        DamagedFileError: the file is missing or truncated.
        StorageError: the machine cannot read it now.
    """
    import pyarrow as pa

    try:
        (row,) = read_parquet(path, ["title", "text"]).to_pylist()
    except (pa.ArrowException, OSError, MemoryError, ValueError, KeyError) as error:
        raise trouble_of_machine(error, path) or DamagedFileError(
            _DAMAGED.format(path=path, problem=error)
        ) from error
    return row["title"], row["text"][:characters]


def read_print(path: Path) -> ParsedDocument:
    """Return a stored parse's text with its pages, blocks and printed lines, and nothing else.

    A tenth of the time of `read_parsed`, for who looks up single passages: only what is read is
    verified, by its pages' checksums.

    Raises:
        DamagedFileError: the file is missing, truncated or altered.
        StorageError: the machine cannot read it now.
    """
    import pyarrow as pa

    try:
        table = read_parquet(path, ["text", "media_type", "pages", "blocks", "lines"])
        (row,) = table.to_pylist()
        return ParsedDocument(
            text=row["text"],
            media_type=row["media_type"],
            pages=tuple(starmap(PageSpan, _rows(row["pages"], _PAGE_FIELDS))),
            blocks=tuple(starmap(Block, _rows(row["blocks"], _BLOCK_FIELDS))),
            lines=tuple(starmap(SourceLine, _rows(row["lines"], _LINE_FIELDS))),
        )
    except (pa.ArrowException, OSError, MemoryError, ValueError, KeyError, TypeError) as error:
        raise trouble_of_machine(error, path) or DamagedFileError(
            _DAMAGED.format(path=path, problem=error)
        ) from error


def plain_document(document: ParsedDocument) -> dict[str, Any]:
    """Return the document as JSON-able values; of nested fields a list for each of their fields.

    Written out, since `dataclasses.asdict` copies a paper's thousand lines five times slower.
    """
    return dict(_plain_fields(document))


def _plain_fields(document: ParsedDocument) -> Iterator[tuple[str, Any]]:
    """Yield name and JSON-able value of each field, in the order of the schema."""
    for field in dataclasses.fields(ParsedDocument):
        value = getattr(document, field.name)
        names = _NESTED.get(field.name)
        yield field.name, value if names is None else _columns(value, names)


def _stored_array(value: Any, kind: "pa.DataType") -> "pa.Array":
    """Return a field's value as an array of one row."""
    import pyarrow as pa

    if isinstance(value, dict) and pa.types.is_struct(kind):
        # Each list on its own: rows of dictionaries would need many times the memory.
        children = [
            pa.ListArray.from_arrays(
                pa.array([0, len(value[child.name])], pa.int32()),
                pa.array(value[child.name], child.type.value_type),
            )
            for child in kind
        ]
        return pa.StructArray.from_arrays(children, fields=list(kind))
    if isinstance(value, dict):
        value = [{"key": key, "value": text} for key, text in sorted(value.items())]
    return pa.array([value], kind)


def _columns(items: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [getattr(item, name) for item in items] for name in names}


def _restore_document(table: "pa.Table") -> ParsedDocument:
    (row,) = table.to_pylist()
    simple: dict[str, Any] = {
        name: tuple(row[name]) if name in _TUPLES and row[name] is not None else row[name]
        for name in _SIMPLE
    }
    return ParsedDocument(
        **simple,
        pages=tuple(starmap(PageSpan, _rows(row["pages"], _PAGE_FIELDS))),
        blocks=tuple(starmap(Block, _rows(row["blocks"], _BLOCK_FIELDS))),
        lines=tuple(starmap(SourceLine, _rows(row["lines"], _LINE_FIELDS))),
        sections=tuple(
            Section(order, title, level, tuple(path), SectionCategory(category), *rest)
            for order, title, level, path, category, *rest in _rows(
                row["sections"], _SECTION_FIELDS
            )
        ),
        attachments=tuple(starmap(Attachment, _rows(row["attachments"], _ATTACHMENT_FIELDS))),
        metadata={item["key"]: item["value"] for item in row["metadata"]},
    )


def _rows(columns: dict[str, list[Any]], names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    if "bbox" in columns:
        boxes = [None if box is None else tuple(box) for box in columns["bbox"]]
        columns = {**columns, "bbox": boxes}
    return zip(*(columns[name] for name in names), strict=True)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    string, number = pa.string(), pa.int64()
    strings, numbers, boxes = pa.list_(string), pa.list_(number), pa.list_(pa.list_(pa.float64()))

    def columns(names: Sequence[str], texts: Sequence[str] = ()) -> "pa.DataType":
        kinds = {"bbox": boxes, "path": pa.list_(strings), **dict.fromkeys(texts, strings)}
        return pa.struct([(name, kinds.get(name, numbers)) for name in names])

    pair = pa.struct([("key", string), ("value", string)])
    kinds = {
        "text": pa.large_string(),
        "pages": columns(_PAGE_FIELDS),
        "blocks": columns(_BLOCK_FIELDS, ("kind", "attachment_id")),
        "lines": columns(_LINE_FIELDS, ("printed",)),
        "sections": columns(_SECTION_FIELDS, ("title", "subtype")),
        "attachments": columns(
            _ATTACHMENT_FIELDS,
            ("attachment_id", "kind", "name", "caption", "media_type", "content_hash"),
        ),
        "year": number,
        "abstract": numbers,
        "metadata": pa.list_(pair),
        **dict.fromkeys(("authors", "removed_templates", "warnings"), strings),
    }
    names = (field.name for field in dataclasses.fields(ParsedDocument))
    return pa.schema([(name, kinds.get(name, string)) for name in names])
