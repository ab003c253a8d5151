"""Jobs and reports of parses, parses in their files, and documents as Markdown and JSON."""

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import (
    Attachment,
    Block,
    Columns,
    DamagedFileError,
    FailureKind,
    PageSpan,
    ParsedDocument,
    ParseFailure,
    ParseReport,
    Section,
    SectionCategory,
    SourceLine,
    block_columns,
    hash_fields,
    hash_long,
    hash_text,
)
from rag_assets.storage import LocalStore, put, read_groups, trouble_of_machine, write_parquet

if TYPE_CHECKING:
    import pyarrow as pa

# What passes between the parent and its worker processes: jobs and reports as JSON.

_PATHS = ("path", "folder", "blobs", "answer")


@dataclass(frozen=True, slots=True)
class ParseJob:
    """One file to parse.

    Args:
        content_hash: SHA-256 that the bytes at `path` are expected to have.
        path: the raw file.
        extension: of its name.
        password: from its sidecar.
        folder: of the parses; a readable parse that stands there already is taken as it is.
        blobs: folder for the contents of attachments, by their hash.
        request: from `request_fingerprint`.
        stem: of its name, for parsers that declare `reads_stem`.
        answer: folder of a cloud provider's answer, None where none was asked.
    """

    content_hash: str
    path: Path
    extension: str
    password: str | None
    folder: Path
    blobs: Path
    request: str
    stem: str = ""
    answer: Path | None = None

    def output(self, fingerprint: str) -> Path:
        """Return the final place of the parse that has this fingerprint."""
        return self.folder / f"{self.content_hash}-{fingerprint[:16]}.parquet"

    def to_message(self) -> dict[str, Any]:
        """Return the job as JSON-able values."""
        paths = {name: str(getattr(self, name)) for name in _PATHS if getattr(self, name)}
        return {**dataclasses.asdict(self), **paths}

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> "ParseJob":
        """Return the job that `to_message` has written."""
        paths = {name: Path(message[name]) for name in _PATHS if message[name]}
        return cls(**{**message, **paths})


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a file: known once its bytes are sniffed, empty before."""

    media_type: str = ""
    parser: str = ""
    parser_version: str = ""


def failed_report(
    job: ParseJob, reader: Reader, failure: ParseFailure, seconds: float
) -> ParseReport:
    """Return the report of a document that could not be parsed.

    Its `doc_id` is the hash of the bytes, since there is no text.
    """
    kind: FailureKind = failure.kind
    return ParseReport(
        content_hash=job.content_hash,
        status="failed",
        parser=reader.parser,
        parser_version=reader.parser_version,
        media_type=reader.media_type,
        doc_id=job.content_hash,
        reason_code=failure.reason_code,
        message=failure.message,
        kind=kind,
        seconds=seconds,
    )


def restore_report(fields: dict[str, Any]) -> ParseReport:
    """Return the report that `dataclasses.asdict` and JSON have made of one."""
    names = ("authors", "page_labels", "removed_templates", "warnings", "blobs")
    lists = {name: tuple(fields.get(name, ())) for name in names}
    return ParseReport(**{**fields, **lists})


# A parse on disk: one immutable Parquet file with the document and its report.
#
# A row has a column for each field of the document. Of a long document it is the first of several:
# the others go on with the text and with the lists of pages, blocks and so on, so that neither
# writing nor reading holds it all a second time.

_DAMAGED = (
    "{path}: the stored parse is missing or damaged ({problem}). Delete the file; the next "
    "`rag parse` makes it again."
)
_REPORT_KEY = b"rag_assets.parse_report"
_REPORT_DIGEST_KEY = b"rag_assets.parse_report_sha256"
# Fields of a document and its report that versions before did not store.
LATER_FIELDS = frozenset({"journal", "volume", "issue", "page_range", "page_labels"})
_TUPLES = frozenset({"authors", "page_labels", "abstract", "removed_templates", "warnings"})
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
    """Return the SHA-256 over the content of a document: all its fields, attachments by hash.

    Fields that came later count where they hold something: parses from before stay valid.
    """
    # Slice by slice: the JSON of a long document at once would be larger than the document.
    return hash_fields(
        *(
            (name, hash_long(value))
            for name, value in plain_fields(document)
            if value or name not in LATER_FIELDS
        )
    )


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
        **dict.fromkeys(("authors", "page_labels", "removed_templates", "warnings"), strings),
    }
    names = (field.name for field in dataclasses.fields(ParsedDocument))
    return pa.schema([(name, kinds.get(name, string)) for name in names])


# A parsed document as Markdown and as JSON, for people and for other programs.

_DEEPEST_HEADING = 6
_ATTACHMENT = re.compile(r"\]\(attachment:([^)\s]+)\)")
# Kinds that follow each other without a blank line where they stand so in the text.
_TIGHT = ("list", "row")
_OBJECTS_AT_ONCE = 5000


def render_markdown(document: ParsedDocument, files: Mapping[str, str] | None = None) -> str:
    """Return a document as Markdown: headings with `#`, tables, code in fences, page marks.

    A Markdown file is returned as it was read. What the parser took out (running heads) is not in
    it; nothing else is left out.

    Args:
        document: as parsed.
        files: attachment id → path of its file, for the links of figures; others stay
            `attachment:` links.
    """
    if document.is_markdown:
        return _link(document.text, files or {})
    title_levels = 1 if any(block.kind == "title" for block in document.blocks) else 0
    parts: list[str] = []
    page, before = None, None
    for block in document.blocks:
        if block.page is not None and block.page != page:
            page = block.page
            parts.append(f"\n\n<!-- page {page} -->")
        tight = before is not None and before.kind == block.kind and block.kind in _TIGHT
        parts.append("\n" if tight else "\n\n")
        parts.append(_render(block, document.text[block.start : block.end], title_levels))
        before = block
    return _link("".join(parts).strip("\n") + "\n", files or {})


def _render(block: Block, text: str, title_levels: int) -> str:
    one_line = " ".join(text.split())
    if block.kind == "title":
        return f"# {one_line}"
    if block.kind == "heading":
        level = min(_DEEPEST_HEADING, (block.level or 1) + title_levels)
        return f"{'#' * level} {one_line}"
    if block.kind == "code" and not text.lstrip().startswith(("```", "~~~")):
        return f"```\n{text}\n```"
    if block.kind == "note":
        return "\n".join(f"> {line}" for line in text.split("\n"))
    return text


def _link(text: str, files: Mapping[str, str]) -> str:
    def target(match: re.Match[str]) -> str:
        found = files.get(match[1])
        return f"]({found})" if found else match[0]

    return _ATTACHMENT.sub(target, text)


def json_pieces(document: ParsedDocument) -> Iterator[str]:
    """Yield the pieces of a document as JSON: every field of ParsedDocument, lists of objects.

    Together they are UTF-8 text. In pieces, since the objects of a table's million rows would need
    many times the memory of the document.
    """
    opening = "{\n"
    for name, value in plain_fields(document):
        yield opening
        yield from _list_members(name, value) if name in NESTED_FIELDS else [_member(name, value)]
        opening = ",\n"
    yield "\n}\n"


def _list_members(name: str, columns: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield a list of objects, given by field, as a member of the document's object."""
    size = len(next(iter(columns.values())))
    head, tail = f' "{name}": [\n', "\n ]"
    for start in range(0, size, _OBJECTS_AT_ONCE):
        rows = zip(*(c[start : start + _OBJECTS_AT_ONCE] for c in columns.values()), strict=True)
        objects = [dict(zip(columns, row, strict=True)) for row in rows]
        yield ",\n" if start else head
        yield _member(name, objects).removeprefix(head).removesuffix(tail)
    yield tail if size else _member(name, [])


def _member(name: str, value: Any) -> str:
    return json.dumps({name: value}, ensure_ascii=False, indent=1)[len("{\n") : -len("\n}")]
