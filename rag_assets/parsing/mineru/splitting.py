"""A PDF over the service's limits becomes parts, bound to it by `split_manifest.json`."""

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag_assets.model import ParseFailure, hash_bytes
from rag_assets.parsing.pdf.library import load_pymupdf
from rag_assets.settings import MineruSettings
from rag_assets.storage import LocalStore, put, put_json

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
            f"The PDF cannot be cut into parts ({str(error).partition(chr(10))[0]}): save it anew "
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
