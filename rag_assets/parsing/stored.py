"""A parse on disk: one immutable Parquet file with the document and its report.

A row has a column for each field of the document. Of a long document it is the first of several:
the others go on with the text and with the lists of pages, blocks and so on, so that neither
writing nor reading holds it all a second time.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any  # Any: rows of Parquet

from rag_assets.model import (
    Attachment,
    Block,
    Columns,
    DamagedFileError,
    PageSpan,
    ParsedDocument,
    ParseReport,
    Section,
    SectionCategory,
    SourceLine,
    block_columns,
    hash_fields,
    hash_long,
    hash_text,
)
from rag_assets.parsing.job import restore_report
from rag_assets.storage import LocalStore, put, read_groups, trouble_of_machine, write_parquet

if TYPE_CHECKING:
    import pyarrow as pa

_DAMAGED = (
    "{path}: the stored parse is missing or damaged ({problem}). Delete the file; the next "
    "`rag parse` makes it anew."
)
_REPORT_KEY = b"rag_assets.parse_report"
_REPORT_DIGEST_KEY = b"rag_assets.parse_report_sha256"
_TUPLES = frozenset({"authors", "abstract", "removed_templates", "warnings"})
# Of a row, in code points and items.
_TEXT_OF_ROW, _ITEMS_OF_ROW = 1_000_000, 50_000
# From so many blocks on they are read into columns. A document with pages has their boxes too,
# which columns do not make smaller.
_MANY_BLOCKS = 10_000


def _fields_of(model: type, *without: str) -> tuple[str, ...]:
    names = (field.name for field in dataclasses.fields(model))
    return tuple(name for name in names if name not in without)


_PAGE_FIELDS, _BLOCK_FIELDS, _LINE_FIELDS, _SECTION_FIELDS = (
    _fields_of(model) for model in (PageSpan, Block, SourceLine, Section)
)
_ATTACHMENT_FIELDS = _fields_of(Attachment, "content")
NESTED_FIELDS = {
    "pages": _PAGE_FIELDS,
    "blocks": _BLOCK_FIELDS,
    "lines": _LINE_FIELDS,
    "sections": _SECTION_FIELDS,
    "attachments": _ATTACHMENT_FIELDS,
}


def parsed_digest(document: ParsedDocument) -> str:
    """Return the SHA-256 over the content of a document: all its fields, attachments by hash."""
    # Slice by slice: the JSON of a long document at once would be larger than the document.
    return hash_fields(*((name, hash_long(value)) for name, value in plain_fields(document)))


def write_parsed(path: Path, document: ParsedDocument, report: ParseReport) -> None:
    """Write a parse and its report, whole or not at all. Contents of attachments are not in it.

    Raises:
        StorageError: the disk is full or refuses the write.
    """
    encoded = json.dumps(dataclasses.asdict(report), sort_keys=True)
    schema = _schema().with_metadata(
        {_REPORT_KEY: encoded.encode(), _REPORT_DIGEST_KEY: hash_text(encoded).encode()}
    )
    write_parquet(path, schema, _stored_rows(document, schema), "zstd", group_rows=1)


def _stored_rows(document: ParsedDocument, schema: "pa.Schema") -> Iterator["pa.Table"]:
    """Yield the document as tables of one row each."""
    import pyarrow as pa

    fields = dict(plain_fields(document))
    longest = max(len(getattr(document, name)) for name in NESTED_FIELDS)
    rows = max(1, -(-len(document.text) // _TEXT_OF_ROW), -(-longest // _ITEMS_OF_ROW))
    for row in range(rows):
        items = slice(row * _ITEMS_OF_ROW, (row + 1) * _ITEMS_OF_ROW)
        held = dict.fromkeys(fields) if row else dict(fields)
        held["text"] = document.text[row * _TEXT_OF_ROW : (row + 1) * _TEXT_OF_ROW]
        for name in NESTED_FIELDS:
            held[name] = {key: values[items] for key, values in fields[name].items()}
        arrays = [_stored_array(value, schema.field(name).type) for name, value in held.items()]
        yield pa.Table.from_arrays(arrays, schema=schema)


def write_blobs(folder: Path, document: ParsedDocument) -> None:
    """Write the contents of a document's attachments, each under its hash, once.

    Raises:
        StorageError: the disk is full or refuses the write.
    """
    store = LocalStore(folder)
    for item in document.attachments:
        if item.content is not None and item.content_hash is not None:
            found = store.find(key := _key_of(item.content_hash))
            if found is None or found.size != len(item.content):
                put(store, key, item.content)


def has_blobs(folder: Path, names: Sequence[str]) -> bool:
    """Say whether the contents of attachments are there."""
    store = LocalStore(folder)
    return all(store.find(_key_of(name)) is not None for name in names)


def _key_of(name: str) -> str:
    return f"{name[:2]}/{name}"


def read_parsed(path: Path) -> tuple[ParsedDocument, ParseReport]:
    """Return a stored parse and its report, both verified against their digests.

    Raises:
        DamagedFileError: the file is missing, truncated or altered.
        StorageError: the machine cannot read it now.
    """
    import pyarrow as pa

    try:
        keys, document = _restore_document(path)
        encoded = keys[_REPORT_KEY].decode()
        report = restore_report(json.loads(encoded))
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
        (row,) = next(read_groups(path, ["title", "text"])).to_pylist()
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
        return _restore_document(path, ["text", "media_type", "pages", "blocks", "lines"])[1]
    except (pa.ArrowException, OSError, MemoryError, ValueError, KeyError, TypeError) as error:
        raise trouble_of_machine(error, path) or DamagedFileError(
            _DAMAGED.format(path=path, problem=error)
        ) from error


def plain_fields(document: ParsedDocument) -> Iterator[tuple[str, Any]]:
    """Yield name and JSON-able value of each field, in the order of the schema.

    Of nested fields a sequence for each of their own, of which slices are lists: written out, since
    `dataclasses.asdict` copies a paper's thousand lines five times slower.
    """
    for field in dataclasses.fields(ParsedDocument):
        name, value = field.name, getattr(document, field.name)
        if name in NESTED_FIELDS:
            yield name, {key: _Values(value, key) for key in NESTED_FIELDS[name]}
        else:
            yield name, value


class _Values(Sequence[Any]):
    """One field of many items, as a sequence of which slices are taken."""

    def __init__(self, items: Sequence[Any], name: str) -> None:
        self._items, self._name = items, name

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, slice):
            return getattr(self._items[place], self._name)
        if isinstance(self._items, Columns):
            return self._items.values(self._name, place)
        return [getattr(item, self._name) for item in self._items[place]]


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


def _restore_document(
    path: Path, columns: Sequence[str] | None = None
) -> tuple[Mapping[bytes, bytes], ParsedDocument]:
    """Return a file's metadata and its document; of some columns, with these fields alone."""
    keys: Mapping[bytes, bytes] = {}
    fields: dict[str, Any] = {}
    texts: list[str] = []
    nested: dict[str, Any] = {}
    for table in read_groups(path, columns):
        keys = table.schema.metadata or {}
        (row,) = table.to_pylist()
        texts.append(row.pop("text"))
        found = {name: row.pop(name) for name in NESTED_FIELDS if name in row}
        if not nested:
            fields, nested = row, {name: [] for name in found}
            if not found["pages"]["start"] and len(found["blocks"]["start"]) >= _MANY_BLOCKS:
                nested["blocks"] = block_columns()
        for name, values in found.items():
            held = nested[name]
            if isinstance(held, Columns):
                for item in _rows(values, NESTED_FIELDS[name]):
                    held.add(*item)
            else:
                held.extend(_ITEMS[name](_rows(values, NESTED_FIELDS[name])))
    for name in _TUPLES & fields.keys():
        fields[name] = None if fields[name] is None else tuple(fields[name])
    if "metadata" in fields:
        fields["metadata"] = {item["key"]: item["value"] for item in fields["metadata"]}
    for name, held in nested.items():
        fields[name] = tuple(held) if isinstance(held, list) else held
    return keys, ParsedDocument(text="".join(texts), **fields)


def _sections(rows: Iterable[tuple[Any, ...]]) -> Iterator[Section]:
    for order, title, level, path, category, *rest in rows:
        yield Section(order, title, level, tuple(path), SectionCategory(category), *rest)


# What the rows of a nested field are made into.
_ITEMS: Mapping[str, Callable[[Iterable[tuple[Any, ...]]], Iterator[Any]]] = {
    "pages": partial(starmap, PageSpan),
    "blocks": partial(starmap, Block),
    "lines": partial(starmap, SourceLine),
    "sections": _sections,
    "attachments": partial(starmap, Attachment),
}


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
