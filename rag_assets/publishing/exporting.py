"""Readable folders of what was parsed and cut (spec 000 §2): Markdown, JSON, JSON lines."""

import json
import mimetypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_assets.model import Attachment, DamagedFileError, ParsedDocument, ParseFailure, hash_bytes
from rag_assets.parsing.pdf.drawing import render_attachment
from rag_assets.parsing.rendering import render_json, render_markdown
from rag_assets.parsing.stage import password_of
from rag_assets.parsing.stored import read_parsed
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table
from rag_assets.storage import current_folder, write_bytes, write_text
from rag_assets.workspace import (
    Inventory,
    LivingContent,
    Namespace,
    require_free_place,
    require_inventory,
)

_PDF = "application/pdf"
# What a chunk's line in chunks.jsonl leaves out: times of this machine.
_PROVENANCE = ("created_at", "updated_at", "version")


def export_parsed(namespace: Namespace, folder: Path) -> tuple[int, list[str]]:
    """Write `<doc_uid>/<doc_uid>.md`, `.json` and its attachments for every published document.

    Figures of a PDF are drawn from the raw file; a figure that cannot be drawn is named in the
    Markdown by its `attachment:` link and left out.

    Args:
        folder: made where it is not there; files of the same name are replaced.

    Returns:
        The number of documents, and a sentence for every figure that could not be drawn.

    Raises:
        UsageError: the folder lies among raw files, or is the workspace's own.
        PublicationError: nothing is published yet.
        DamagedFileError: a parse or an attachment is not there any more.
    """
    require_free_place(folder, namespace.workspace)
    inventory = require_inventory(namespace)
    rows = _rows(namespace, "documents")
    problems: list[str] = []
    for row in rows:
        path = namespace.workspace.root / "data" / row["content_ref"]
        document, _ = read_parsed(path)
        place = folder / row["doc_uid"]
        files = dict(_write_attachments(namespace, inventory, row, document, place, problems))
        write_text(place / f"{row['doc_uid']}.md", render_markdown(document, files))
        write_text(place / f"{row['doc_uid']}.json", render_json(document))
    return len(rows), problems


def export_chunks(namespace: Namespace, folder: Path) -> tuple[int, int]:
    """Write `parents.jsonl`, `chunks.jsonl` and `chunk_manifest.json` of the publication.

    Returns:
        Numbers of parents and chunks.

    Raises:
        UsageError: the folder lies among raw files, or is the workspace's own.
        PublicationError: nothing is published yet.
    """
    require_free_place(folder, namespace.workspace)
    counts, manifest = [], _manifest(namespace)
    for name in ("parents", "chunks"):
        rows = _rows(namespace, name)
        lines = [
            json.dumps(
                {key: value for key, value in row.items() if key not in _PROVENANCE},
                ensure_ascii=False,
                default=str,
            )
            for row in rows
        ]
        text = "".join(f"{line}\n" for line in lines)
        write_text(folder / f"{name}.jsonl", text)
        manifest[name] = {"rows": len(rows), "sha256": hash_bytes(text.encode("utf-8"))}
        counts.append(len(rows))
    write_text(folder / "chunk_manifest.json", json.dumps(manifest, indent=1) + "\n")
    return counts[0], counts[1]


def _manifest(namespace: Namespace) -> dict[str, Any]:
    publication = current_folder(namespace.publications, namespace.name).name
    documents = {
        row["doc_uid"]: {"content_hash": row["content_hash"], "chunks": row["chunks"]}
        for row in _rows(namespace, "documents")
    }
    return {
        "namespace": namespace.name,
        "publication": publication,
        "chunk_config": namespace.settings.chunk.model_dump(mode="json"),
        "documents": documents,
    }


def _rows(namespace: Namespace, table: str) -> list[dict[str, Any]]:
    found = current_folder(namespace.publications, namespace.name)
    connection = open_catalogue(found / catalogue_name(found.name))
    try:
        rows: list[dict[str, Any]] = read_table(connection, table).to_pylist()
    finally:
        connection.close()
    return rows


def _write_attachments(
    namespace: Namespace,
    inventory: Inventory,
    row: dict[str, Any],
    document: ParsedDocument,
    folder: Path,
    problems: list[str],
) -> Iterator[tuple[str, str]]:
    """Write what there is to write; yields (attachment id, path below `folder`)."""
    living = inventory.contents[row["content_hash"]]
    for item in document.attachments:
        try:
            content, suffix = _content_of(namespace, living, document, item)
        except (ParseFailure, ValueError) as error:
            problems.append(f"{row['doc_uid']} {item.attachment_id}: not drawn ({error})")
            continue
        if content is not None:
            name = f"attachments/{item.attachment_id}{suffix}"
            write_bytes(folder / name, content)
            yield item.attachment_id, name


def _content_of(
    namespace: Namespace, living: LivingContent, document: ParsedDocument, item: Attachment
) -> tuple[bytes | None, str]:
    if item.content_hash is not None:
        path, store = namespace.blob(item.content_hash), namespace.workspace.store
        found = store.get(namespace.workspace.key_of(path))
        if found is None:
            raise DamagedFileError(
                f"{path}: the content of {item.attachment_id} is gone. Run `rag parse`: it is "
                "made again."
            )
        return found.data, mimetypes.guess_extension(item.media_type or "") or ".bin"
    if document.media_type == _PDF and item.bbox is not None and item.kind != "table":
        data = Path(living.first.file).read_bytes()
        return render_attachment(data, item, password_of(living)), ".png"
    return None, ""
