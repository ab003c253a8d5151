"""PDF files read from the answers of MinerU, a service of layout models."""

import errno
import json
import mimetypes
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from rag_assets.model import (
    Attachment,
    Block,
    BlockKind,
    Box,
    PageSpan,
    ParsedDocument,
    ParseFailure,
    StorageError,
    hash_bytes,
)
from rag_assets.model.settings import MineruSettings, ParseSettings
from rag_assets.parsing.cleaning import clean_source, guess_language
from rag_assets.parsing.page_tables import render_table
from rag_assets.parsing.pdf.opening import load_pymupdf
from rag_assets.parsing.registry import ParseHints
from rag_assets.storage import LocalStore, describe_trouble, put, put_json

# A PDF over the service's limits becomes parts, bound to it by `split_manifest.json`.

SPLIT_MANIFEST = "split_manifest.json"
_BYTES_PER_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """A run of pages that is sent as one file.

    Args:
        number: from 1.
        name: of the file that is sent.
        first_page: number in the whole document, from 1; `last_page` included.
        sha256: of the file that is sent.
    """

    number: int
    name: str
    first_page: int
    last_page: int
    sha256: str

    @property
    def answer(self) -> str:
        """Name of the file that the service's answer is kept in."""
        return f"part-{self.number:03d}.zip"


def split_document(
    path: Path, content_hash: str, folder: Path, settings: MineruSettings, password: str | None
) -> list[Part]:
    """Write the parts of a PDF and their manifest below `folder`.

    A document within the limits is one part, byte for byte. A larger one is cut into runs of
    `part_pages`, halved again while a run is too large.

    Args:
        content_hash: SHA-256 of the whole document; with the part's number its name.
        password: opens a protected file; the parts are not protected.

    Raises:
        ParseFailure: `damaged_file`, `password_required`, or `size_limit` where one page alone is
            too large.
    """
    pymupdf = load_pymupdf()
    limit = settings.max_megabytes * _BYTES_PER_MEGABYTE
    try:
        with closing(pymupdf.open(path, filetype="pdf")) as document:
            if document.needs_pass and not document.authenticate(password or ""):
                raise ParseFailure(
                    "password_required",
                    "The file is protected: write `password: …` into <file>.meta.yaml beside it.",
                )
            pages = document.page_count
            is_whole = pages <= settings.max_pages and path.stat().st_size <= limit
            runs = (
                [(1, pages, None)]
                if is_whole and not document.is_encrypted and not password
                else list(_runs(document, 1, pages, settings.part_pages, limit))
            )
    except (RuntimeError, pymupdf.mupdf.FzErrorBase) as error:
        raise ParseFailure(
            "damaged_file",
            f"The PDF cannot be cut into parts ({str(error).partition(chr(10))[0]}): save it again "
            "with another program.",
        ) from error
    parts = [
        _write_part(folder, content_hash, number, run, path)
        for number, run in enumerate(runs, start=1)
    ]
    manifest = {"content_hash": content_hash, "pages": pages, "parts": [asdict(p) for p in parts]}
    put_json(LocalStore(folder), SPLIT_MANIFEST, manifest)
    return parts


def read_split_manifest(folder: Path) -> tuple[int, list[Part]]:
    """Return the number of pages and the parts that `split_document` wrote.

    Raises:
        OSError: there is no manifest.
        ValueError: it is not one.
    """
    found = LocalStore(folder).get(SPLIT_MANIFEST)
    if found is None:
        raise FileNotFoundError(
            errno.ENOENT, os.strerror(errno.ENOENT), str(folder / SPLIT_MANIFEST)
        )
    manifest = json.loads(found.data)
    return int(manifest["pages"]), [Part(**fields) for fields in manifest["parts"]]


_Run = tuple[int, int, bytes | None]


def _runs(document: Any, first: int, last: int, most: int, limit: int) -> Iterator[_Run]:
    """Yield (first page, last page, bytes), none above `most` pages or `limit` bytes."""
    for start in range(first, last + 1, most):
        end = min(last, start + most - 1)
        data = _extract(document, start, end)
        if len(data) <= limit:
            yield start, end, data
        elif start == end:
            raise ParseFailure(
                "size_limit",
                f"Page {start} alone has {len(data) / _BYTES_PER_MEGABYTE:.0f} MB, MinerU takes "
                f"{limit // _BYTES_PER_MEGABYTE}: make its pictures smaller, or use "
                "`parser: pymupdf`.",
            )
        else:
            yield from _runs(document, start, end, (end - start + 2) // 2, limit)


def _extract(document: Any, first: int, last: int) -> bytes:
    pymupdf = load_pymupdf()
    with closing(pymupdf.open()) as part:
        part.insert_pdf(document, from_page=first - 1, to_page=last - 1)
        return bytes(part.tobytes(garbage=3, deflate=True))


def _write_part(folder: Path, content_hash: str, number: int, run: _Run, path: Path) -> Part:
    first, last, data = run
    name = f"{content_hash[:32]}-{number:03d}.pdf"
    if data is None:
        with path.open("rb") as source, LocalStore(folder).filling(name) as target:
            shutil.copyfileobj(source, target)
        return Part(number, name, first, last, content_hash)
    put(LocalStore(folder), name, data)
    return Part(number, name, first, last, hash_bytes(data))


# The service's answers become one document: blocks from `*_content_list.json`, images as they are.
#
# Format: https://opendatalab.github.io/MinerU/reference/output_files

# Counts as code: raise it when the same answers could give another document.
MINERU_VERSION = "1"

_MEDIA_TYPE = "application/pdf"
_PARAGRAPH_BREAK = "\n\n"
# Heads, feet and page numbers: `content_list` marks them, the text leaves them out.
_TEMPLATE_TYPES = ("header", "footer", "page_number", "aside_text")
_TEXT_TYPES: Mapping[str, BlockKind] = {
    "text": "paragraph",
    "equation": "formula",
    "page_footnote": "footnote",
    "ref_text": "reference",
}
# Inflated size of an answer beyond which it is taken for a bomb: ten times the service's own
# limit for a file.
_MAX_INFLATED_BYTES = 2_000_000_000
_MAX_MEMBERS = 20_000
# `bbox` is in thousandths of the page.
_BOX_SCALE = 1000.0


@dataclass(slots=True)
class _Writer:
    parts: list[str] = field(default_factory=list)
    position: int = 0
    blocks: list[Block] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    templates: set[str] = field(default_factory=set)
    page_starts: dict[int, int] = field(default_factory=dict)

    def add(
        self,
        kind: BlockKind,
        text: str,
        page: int,
        box: Box | None,
        level: int | None = None,
        attachment_id: str | None = None,
    ) -> tuple[int, int] | None:
        text = clean_source(text).strip()
        if not text:
            return None
        self.page_starts.setdefault(page, self.position)
        start, end = self.position, self.position + len(text)
        self.blocks.append(Block(kind, start, end, page, box, level, attachment_id))
        self.parts += [text, _PARAGRAPH_BREAK]
        self.position = end + len(_PARAGRAPH_BREAK)
        return start, end


def read_answer(folder: Path) -> ParsedDocument:
    """Return the document whose split manifest and answers lie in `folder`.

    Pages count through the whole document, whatever part they came in.

    Raises:
        ParseFailure: `damaged_file`: an answer is missing, not what the format says, or too large.
    """
    try:
        page_count, parts = read_split_manifest(folder)
    except StorageError:
        raise  # of where it is kept
    except OSError as error:
        raise _unreadable(folder / SPLIT_MANIFEST, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(folder / SPLIT_MANIFEST, error) from error
    writer = _Writer()
    for part in parts:
        _read_part(LocalStore(folder).place(part.answer), part, writer)
    text = "".join(writer.parts).removesuffix(_PARAGRAPH_BREAK)
    if not text:
        raise ParseFailure(
            "no_text_layer", "MinerU found no text on any page: look at the file itself."
        )
    titles = [block for block in writer.blocks if block.kind == "title"]
    title = text[titles[0].start : titles[0].end] if titles else None
    return ParsedDocument(
        text=text,
        media_type=_MEDIA_TYPE,
        pages=_pages(writer.page_starts, page_count, len(text)),
        blocks=tuple(writer.blocks),
        attachments=tuple(writer.attachments),
        title=" ".join(title.split()) if title else None,
        language=guess_language(text),
        metadata={"converter": "MinerU"},
        removed_templates=tuple(sorted(writer.templates)),
    )


def _read_part(path: Path, part: Part, writer: _Writer) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if size > _MAX_INFLATED_BYTES or len(members) > _MAX_MEMBERS:
                raise _damaged(path, f"{len(members)} members, {size} bytes inflated")
            names = [member.filename for member in members]
            listed = [name for name in names if name.endswith("content_list.json")]
            if not listed:
                raise _damaged(path, "no content_list.json")
            name = min(listed, key=lambda item: (item.count("/"), len(item), item))
            items = json.loads(archive.read(name))
            sizes = _page_sizes(archive, names)
            images = _Images(archive, PurePosixPath(name).parent)
            for item in items:
                _read_item(item, part.first_page, sizes, images, writer)
    except OSError as error:
        raise _unreadable(path, error) from error
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, IndexError) as error:
        if isinstance(error, ParseFailure):
            raise
        raise _damaged(path, error) from error


@dataclass(frozen=True, slots=True)
class _Images:
    archive: zipfile.ZipFile
    folder: PurePosixPath

    def read(self, path: str) -> bytes | None:
        """Return an image, None where the answer names one that it does not hold."""
        name = str(self.folder / path)
        # Members are read by name, never unpacked: a path cannot lead anywhere.
        return self.archive.read(name) if name in self.archive.namelist() else None


def _page_sizes(archive: zipfile.ZipFile, names: Sequence[str]) -> list[tuple[float, float]]:
    """Return width and height of each page in points, empty where the answer does not say."""
    found = [name for name in names if name.endswith(("middle.json", "layout.json"))]
    if not found:
        return []
    pages = json.loads(archive.read(min(found, key=len))).get("pdf_info", [])
    return [(float(page["page_size"][0]), float(page["page_size"][1])) for page in pages]


def _read_item(
    item: Mapping[str, Any],
    first_page: int,
    sizes: Sequence[tuple[float, float]],
    images: _Images,
    writer: _Writer,
) -> None:
    kind, index = str(item["type"]), int(item["page_idx"])
    page, box = first_page + index, _box(item.get("bbox"), index, sizes)
    if kind in _TEMPLATE_TYPES:
        writer.templates.add(" ".join(str(item.get("text", "")).split()))
    elif kind in {"image", "chart"}:
        _add_figure(item, page, box, images, writer)
    elif kind == "table":
        _add_table(item, page, box, writer)
    elif kind == "code":
        _add_captions(item, "code", page, box, writer, None)
        writer.add("code", str(item.get("code_body", "")), page, box)
    elif kind == "list":
        is_reference = item.get("sub_type") == "ref_text"
        for entry in item.get("list_items", []):
            writer.add("reference" if is_reference else "list", str(entry), page, box)
    else:
        _add_text(item, kind, page, box, writer)


def _add_text(
    item: Mapping[str, Any], kind: str, page: int, box: Box | None, writer: _Writer
) -> None:
    text, level = str(item.get("text", "")), item.get("text_level")
    if level is None:
        writer.add(_TEXT_TYPES.get(kind, "paragraph"), text, page, box)
    elif not writer.blocks and page == 1:
        writer.add("title", text, page, box)
    else:
        writer.add("heading", " ".join(text.split()), page, box, int(level))


def _add_figure(
    item: Mapping[str, Any], page: int, box: Box | None, images: _Images, writer: _Writer
) -> None:
    captions = _captions(item, ("image", "img", "chart"))
    prefix = "fig" if captions else "img"
    attachment_id = f"{prefix}-{len(writer.attachments) + 1:03d}"
    path = str(item.get("img_path") or "")
    content = images.read(path) if path else None
    name = captions[0].split(":")[0].split(".")[0] if captions else PurePosixPath(path).name
    span = writer.add(
        "figure", f"![{_plain(name)}](attachment:{attachment_id})", page, box, None, attachment_id
    )
    caption = " ".join(captions)
    if caption:
        span = writer.add("caption", caption, page, box, None, attachment_id)
    start, end = span or (None, None)
    writer.attachments.append(
        Attachment(
            attachment_id,
            "figure" if captions else "image",
            name=name or None,
            caption=caption or None,
            start=start,
            end=end,
            page=page,
            bbox=box,
            media_type=mimetypes.guess_type(path)[0] if content is not None else None,
            content=content,
        )
    )


def _add_table(item: Mapping[str, Any], page: int, box: Box | None, writer: _Writer) -> None:
    attachment_id = f"tab-{len(writer.attachments) + 1:03d}"
    caption = _add_captions(item, "table", page, box, writer, attachment_id)
    span = writer.add(
        "table", _table_text(str(item.get("table_body") or "")), page, box, None, attachment_id
    )
    for note in _strings(item.get("table_footnote")):
        writer.add("footnote", note, page, box)
    start, end = span or (None, None)
    writer.attachments.append(
        Attachment(
            attachment_id,
            "table",
            caption=caption or None,
            start=start,
            end=end,
            page=page,
            bbox=box,
        )
    )


def _table_text(source: str) -> str:
    from lxml import html

    if not source.strip():
        return ""
    tables = html.fromstring(f"<div>{source}</div>").xpath(".//table")
    return "\n\n".join(render_table(table) for table in tables)


def _add_captions(
    item: Mapping[str, Any],
    kind: str,
    page: int,
    box: Box | None,
    writer: _Writer,
    attachment_id: str | None,
) -> str:
    caption = " ".join(_captions(item, (kind,)))
    writer.add("caption", caption, page, box, None, attachment_id)
    return caption


def _captions(item: Mapping[str, Any], prefixes: Sequence[str]) -> list[str]:
    return [text for prefix in prefixes for text in _strings(item.get(f"{prefix}_caption"))]


def _strings(value: Any) -> Iterator[str]:
    for entry in [value] if isinstance(value, str) else value or ():
        text = " ".join(str(entry).split())
        if text:
            yield text


def _plain(name: str) -> str:
    return name.replace("[", "(").replace("]", ")")


def _box(value: Any, index: int, sizes: Sequence[tuple[float, float]]) -> Box | None:
    """Return a box in points, None where the page's size is not known."""
    if not value or index >= len(sizes):
        return None
    width, height = sizes[index]
    x0, y0, x1, y1 = (float(number) / _BOX_SCALE for number in value)
    return (
        round(x0 * width, 1),
        round(y0 * height, 1),
        round(x1 * width, 1),
        round(y1 * height, 1),
    )


def _pages(starts: Mapping[int, int], count: int, length: int) -> tuple[PageSpan, ...]:
    spans: list[PageSpan] = []
    end = length
    for number in range(count, 0, -1):
        start = 0 if number == 1 else min(starts.get(number, end), end)
        spans.append(PageSpan(number, start, end))
        end = start
    return tuple(reversed(spans))


def _unreadable(path: Path, error: OSError) -> StorageError | ParseFailure:
    return describe_trouble(error.errno, path, "read") or _damaged(path, error)


def _damaged(path: Path, error: object) -> ParseFailure:
    return ParseFailure(
        "provider_failed",
        f"MinerU's answer {path.name} cannot be read ({error}): delete {path.parent} and run with "
        "--retry.",
        kind="resource",
    )


# Other ways to read a PDF, chosen by `parse.parser`: the cloud's answer, or PyMuPDF4LLM.

_PROVIDERS_MEDIA_TYPE = "application/pdf"


class MineruParser:
    """Reads what the service has answered; `convert_documents` has fetched it before."""

    name = "mineru"
    version = MINERU_VERSION
    media_types = (_PROVIDERS_MEDIA_TYPE,)
    reads_stem = False

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:  # noqa: ARG002 - the protocol's signature; the answer stands for the bytes
        """Return the document that MinerU's answer describes.

        Raises:
            ParseFailure: `provider_failed` where there is no answer or it cannot be read.
        """
        if hints.answer is None:
            raise ParseFailure(
                "provider_failed",
                "This document has not been sent to MinerU: only a build sends files. Run "
                "`rag parse`, or use `parser: pymupdf` to look at it here.",
                kind="resource",
            )
        return read_answer(hints.answer)
