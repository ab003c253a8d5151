"""Readable folders of what was parsed and cut (spec 000 §2): Markdown, JSON, JSON lines.

They are made from the records, so that nothing has to be published before, and only what changed
is written again: a manifest beside the files says what they were made from.
"""

import hashlib
import json
import mimetypes
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal  # Any: JSON of manifests

from rag_assets.chunking.editing import count_passages
from rag_assets.model import (
    Attachment,
    ConfigurationError,
    DamagedFileError,
    ParsedDocument,
    ParseFailure,
    UsageError,
    hash_fields,
)
from rag_assets.parsing import (
    json_pieces,
    password_of,
    read_parsed,
    render_attachment,
    render_markdown,
)
from rag_assets.publishing.build import PUBLISHING_VERSION
from rag_assets.publishing.facts import DocumentFacts, source_id
from rag_assets.publishing.records import RecordState, collect
from rag_assets.storage import replace_file, rows_of, write_bytes, write_text
from rag_assets.workspace import LivingContent, Namespace, require_free_place, require_inventory

Kind = Literal["parsed", "chunks"]
KINDS: tuple[Kind, ...] = ("parsed", "chunks")
# Counts as code: raise it when the same parse is written otherwise.
_RENDERING_VERSION = 1
_MANIFESTS: Mapping[Kind, str] = {"parsed": "parse_manifest.json", "chunks": "chunk_manifest.json"}
_PDF = "application/pdf"
PASSAGES = ("parents", "chunks")
# What a chunk's line in chunks.jsonl leaves out: times of this machine.
_PROVENANCE = {"created_at", "updated_at", "version"}


def readable_folder(namespace: Namespace, kind: Kind) -> Path:
    """Return the workspace's `parsed` or `chunks`, of several namespaces a folder each below it."""
    folder = namespace.workspace.root / kind
    is_alone = len(namespace.workspace.namespace_names) == 1
    return folder if is_alone else folder / namespace.name


def refresh_readable(namespace: Namespace, made: Collection[Kind]) -> tuple[list[Path], list[str]]:
    """Bring the readable folders up to date.

    Args:
        made: what a command has just made; other folders are refreshed where they are there.

    Returns:
        The folders that hold what the records hold now, and a sentence for everything in them, or
        of them, that could not be written.
    """
    written, problems = [], []
    for kind in KINDS:
        folder = readable_folder(namespace, kind)
        if kind not in made and not (folder / _MANIFESTS[kind]).is_file():
            continue
        try:
            _clear_other_place(namespace, kind)
            if kind == "parsed":
                problems += export_parsed(namespace, folder)[1]
            else:
                export_chunks(namespace, folder)
        except (UsageError, ConfigurationError) as error:
            problems.append(f"{folder} is not written: {error}")
            continue
        written.append(folder)
    return written, problems


def _clear_other_place(namespace: Namespace, kind: Kind) -> None:
    """Remove what stands where the folder was while there were more or fewer namespaces."""
    root, mine = namespace.workspace.root / kind, readable_folder(namespace, kind)
    other = root / namespace.name if mine == root else root
    manifest = _read_manifest(other, kind)
    if not manifest:
        return
    for name in manifest["files"]:
        _remove_file(other, name)
    _remove_file(other, _MANIFESTS[kind])
    if other != root and not any(other.iterdir()):
        other.rmdir()


def export_parsed(namespace: Namespace, folder: Path) -> tuple[int, list[str]]:
    """Write `<doc_uid>/<doc_uid>.md`, `.json` and its attachments for every parsed document.

    Figures of a PDF are drawn from the raw file; a figure that cannot be drawn is named in the
    Markdown by its `attachment:` link and left out. A document whose folder was written from the
    same parse is passed over; the files of one that is gone are removed.

    Args:
        folder: made where it is not there; files of the same name are replaced.

    Returns:
        The number of documents, and a sentence for every figure that could not be drawn.

    Raises:
        UsageError: the folder lies among raw files, or is the workspace's own; there is no
            inventory yet.
        DamagedFileError: a parse or an attachment is not there any more.
    """
    require_free_place(folder, namespace.workspace)
    facts = {
        str(fact.doc_uid): fact
        for fact in collect(namespace, require_inventory(namespace), ()).facts
        if fact.status in {"published", "pending"} and (fact.report or {}).get("status") == "ok"
    }
    before = _read_manifest(folder, "parsed").get("documents", {})
    problems: list[str] = []
    documents: dict[str, Any] = {}
    for uid, fact in sorted(facts.items()):
        made_from = hash_fields(_RENDERING_VERSION, (fact.report or {})["parsed_digest"])
        known = before.get(uid)
        if (
            known
            and known["made_from"] == made_from
            and all((folder / name).is_file() for name in known["files"])
        ):
            documents[uid] = known
            continue
        files = _write_document(namespace, fact, folder, problems)
        documents[uid] = {
            "content_hash": fact.content_hash, "made_from": made_from, "files": files,
        }  # fmt: skip
    _write_manifest(folder, "parsed", namespace, documents, _listed(documents), _listed(before))
    return len(documents), problems


def export_chunks(namespace: Namespace, folder: Path) -> tuple[int, int]:
    """Write `parents.jsonl`, `chunks.jsonl` and `chunk_manifest.json` of what the records hold.

    Nothing is written where they were made from the same records. Rows stand by partition, then by
    document.

    Returns:
        Numbers of parents and chunks.

    Raises:
        UsageError: the folder lies among raw files, or is the workspace's own; there is no
            inventory yet.
    """
    require_free_place(folder, namespace.workspace)
    records = collect(namespace, require_inventory(namespace), ())
    facts = sorted(
        (fact for fact in records.facts if fact.status == "published"),
        key=lambda fact: str(fact.doc_uid),
    )
    made_from = hash_fields(
        PUBLISHING_VERSION,
        records.digests["parents"],
        records.digests["chunks"],
        records.digests["chunk_edits"],
        [
            (
                fact.doc_uid,
                fact.content_hash,
                fact.citable,
                sorted(fact.fields.items()),
                (fact.report or {})["doc_id"],
                (fact.title, fact.language),
                source_id(namespace, first),
                (first.source_type, first.source_subtype),
            )
            for fact in facts
            for first in [fact.living.first]
        ],
    )
    before = _read_manifest(folder, "chunks")
    names = [f"{kind}.jsonl" for kind in PASSAGES]
    if before.get("made_from") != made_from or not all((folder / n).is_file() for n in names):
        tables = _write_passages(namespace, facts, records, folder)
        # What the chunks of each document were made from: equal fingerprint, equal chunks.
        documents = {
            str(fact.doc_uid): {
                "content_hash": fact.content_hash,
                "chunks": count_passages(made),
                "fingerprint": made.fingerprint,
                "digest": made.digest,
            }
            for fact in facts
            for made in [records.made[fact.content_hash]]
        }
        _write_manifest(
            folder, "chunks", namespace, documents, names, (),
            made_from=made_from, chunk_config=namespace.settings.chunk.model_dump(mode="json"),
            **tables,
        )  # fmt: skip
        before = _read_manifest(folder, "chunks")
    return before["parents"]["rows"], before["chunks"]["rows"]


def _listed(documents: Mapping[str, Any]) -> list[str]:
    return [name for each in documents.values() for name in each["files"]]


def _read_manifest(folder: Path, kind: Kind) -> dict[str, Any]:
    """Return a folder's manifest; nothing of one that is not there, or that is no manifest."""
    try:
        found = json.loads((folder / _MANIFESTS[kind]).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return found if isinstance(found, dict) and {"files", "documents"} <= found.keys() else {}


def _write_manifest(
    folder: Path,
    kind: Kind,
    namespace: Namespace,
    documents: Mapping[str, Any],
    files: Sequence[str],
    before: Collection[str],
    **more: Any,
) -> None:
    """Write a folder's manifest, then remove the files that it named before and does not now."""
    content = {"namespace": namespace.name, **more, "files": list(files), "documents": documents}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    path = folder / _MANIFESTS[kind]
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)
    for name in sorted(set(before) - set(files)):
        _remove_file(folder, name)


def _remove_file(folder: Path, name: str) -> None:
    """Remove a file below a folder, and the folders that are empty without it."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        return  # a manifest that somebody else wrote
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            break
        parent.rmdir()


def _write_document(
    namespace: Namespace, fact: DocumentFacts, folder: Path, problems: list[str]
) -> list[str]:
    """Write the folder of one document; returns its files relative to `folder`."""
    uid, report = str(fact.doc_uid), fact.report or {}
    partition = namespace.partition_of(fact.content_hash)
    document, _ = read_parsed(namespace.parsed_folder(partition) / report["parsed_file"])
    place = folder / uid
    files = dict(_write_attachments(namespace, fact, document, place, problems))
    write_text(place / f"{uid}.md", render_markdown(document, files))
    with (
        replace_file(place / f"{uid}.json") as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        stream.writelines(json_pieces(document))
    return [f"{uid}/{name}" for name in (f"{uid}.md", f"{uid}.json", *files.values())]


def _write_attachments(
    namespace: Namespace,
    fact: DocumentFacts,
    document: ParsedDocument,
    folder: Path,
    problems: list[str],
) -> Iterator[tuple[str, str]]:
    """Write what there is to write; yields (attachment id, path below `folder`)."""
    for item in document.attachments:
        try:
            content, suffix = _content_of(namespace, fact.living, document, item)
        except (ParseFailure, ValueError) as error:
            problems.append(f"{fact.doc_uid} {item.attachment_id}: not drawn ({error})")
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


def _write_passages(
    namespace: Namespace, facts: Sequence[DocumentFacts], records: RecordState, folder: Path
) -> dict[str, dict[str, Any]]:
    """Write both files, a partition at a time. Returns rows and SHA-256 of each file."""
    from rag_assets.publishing.rows import join_passages

    by_partition: dict[str, dict[str, DocumentFacts]] = defaultdict(dict)
    for fact in facts:
        by_partition[namespace.partition_of(fact.content_hash)][fact.content_hash] = fact
    rows, digests = Counter[str](), {name: hashlib.sha256() for name in PASSAGES}
    with ExitStack() as stack:
        streams = {
            name: stack.enter_context(
                stack.enter_context(replace_file(folder / f"{name}.jsonl")).open("wb")
            )
            for name in PASSAGES
        }
        for _, contents in sorted(by_partition.items()):
            tables = join_passages(namespace, contents, records.passages)
            for name, table in zip(PASSAGES, tables, strict=True):
                rows[name] += len(table)
                for row in rows_of(table.drop_columns([*_PROVENANCE & set(table.column_names)])):
                    line = f"{json.dumps(row, ensure_ascii=False, default=str)}\n".encode()
                    streams[name].write(line)
                    digests[name].update(line)
    return {name: {"rows": rows[name], "sha256": digests[name].hexdigest()} for name in PASSAGES}
