"""Workspaces that evaluations build and keep: real files, real stages, a real publication.

A workspace is keyed by its files and by the settings that decide what is made of them (where
files lie, parse, chunk, embed). Whatever else changes finds it built: nothing is parsed, nothing
encoded.
"""

import json
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rag_assets.embedding import embedding_models, joint_tokenizer
from rag_assets.model import Progress, combine_digests, hash_bytes, hash_fields
from rag_assets.storage import Notify, current_folder, hold_lock, write_text
from rag_assets.workspace import Namespace, Settings, Workspace, take_inventory

CACHE_VARIABLE = "RAG_EVALUATION_CACHE"
NAMESPACE = "evaluation"
_RAW, _FOLDER = "raw", "evidence"
_MADE = "documents.json"
# Counts as code: raise it when the same documents are written as other files.
_LAYOUT_VERSION = 1
# What decides what a publication holds; all other settings are looked at when it is searched.
_BUILDING = ("raw", "places", "ignore", "hex_digits", "parse", "chunk", "embed")
_LONGEST_STEM = 80
_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A document of an evaluation set as a file of a workspace.

    Args:
        id: of the document in its set.
        text: of the file, Markdown.
        sidecar: what stands beside it in `<file>.meta.yaml`; None for none.
        path: of the file below `raw/`; None for one that is made from the id, among the evidence.
    """

    id: str
    text: str
    sidecar: Mapping[str, Any] | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class BuiltWorkspace:
    """A workspace with one namespace, built and published.

    Args:
        ids: ids of the set by `doc_uid`: several where documents are the same, bytes for bytes.
        files: that were made; `failed` of them, in sentences, were not published.
        parsed: documents parsed in this run.
    """

    namespace: Namespace
    ids: Mapping[str, tuple[str, ...]]
    files: int
    failed: tuple[str, ...]
    parsed: int


def default_cache() -> Path:
    """Return the folder for evaluation caches: that of `CACHE_VARIABLE`, else the user's own."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("rag-assets", appauthor=False) / "evaluation"


def markdown_of(title: str, text: str) -> str:
    """Return a document with its title as heading; "" where it has neither."""
    heading = " ".join(title.split())
    parts = [f"# {heading}" if heading else "", text.strip()]
    return "\n\n".join(part for part in parts if part) + "\n" if any(parts) else ""


@contextmanager
def built_workspace(
    files: Sequence[MadeFile],
    settings: Settings,
    cache: Path | None,
    *,
    notify: Notify = lambda sentence: None,
    on_progress: Progress | None = None,
) -> Iterator[BuiltWorkspace]:
    """Write the files, run every stage over them, and give the published workspace.

    Interrupted, it goes on where it stopped: files are known to be whole by a list that is
    written last, and the stages keep what they have made.

    Args:
        files: ids are unique; files without text are left out.
        settings: of every stage; `raw` is the workspace's own.
        cache: folder of workspaces; None builds in a folder that is then removed.
    """
    settings = settings.model_copy(update={"raw": ["raw"]})
    written = [made for made in files if made.text]
    if cache is None:
        with tempfile.TemporaryDirectory(prefix="rag-evaluation-") as folder:
            yield _build(Path(folder), written, settings, notify, on_progress)
        return
    key = workspace_key(written, settings)
    root = cache / "workspaces" / key[:24]
    with hold_lock(cache / "locks" / f"{key[:24]}.lock", "this evaluation's workspace", notify):
        built = _build(root, written, settings, notify, on_progress)
    yield built


def workspace_key(files: Sequence[MadeFile], settings: Settings) -> str:
    """Return the SHA-256 of the files and of the settings that decide what is made of them."""
    return hash_fields(_LAYOUT_VERSION, files_digest(files), _building(settings))


def _building(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide what is made of files; of `graph` only where it is on."""
    named = {*_BUILDING, *(["graph"] if settings.graph.enabled else [])}
    return settings.model_dump(mode="json", include=named)


def files_digest(files: Iterable[MadeFile]) -> str:
    """Return the SHA-256 of the files that a set makes, ids and sidecars included."""
    return combine_digests(
        hash_fields(
            made.id, made.text, dict(made.sidecar or {}), *([made.path] if made.path else ())
        )
        for made in files
    )


def _build(
    root: Path,
    files: Sequence[MadeFile],
    settings: Settings,
    notify: Notify,
    on_progress: Progress | None,
) -> BuiltWorkspace:
    names = _write_files(root, files, settings, on_progress)
    namespace = Workspace.open(root).namespace(NAMESPACE)
    parsed = run_stages(namespace, notify, on_progress)
    ids, failed = _read_ids(namespace, names)
    return BuiltWorkspace(namespace, ids, len(files), failed, parsed)


def _write_files(
    root: Path, files: Sequence[MadeFile], settings: Settings, on_progress: Progress | None
) -> dict[str, str]:
    """Write the workspace's own files, and the documents unless they all stand; id by path."""
    (root / "namespaces").mkdir(parents=True, exist_ok=True)
    building = _building(settings)
    write_text(root / "config.yaml", "# Made by rag eval.\n")
    write_text(
        root / "namespaces" / f"{NAMESPACE}.yaml",
        yaml.safe_dump(building, allow_unicode=True, sort_keys=False),
    )
    names = _name_files(files)
    made = {"digest": files_digest(files), "files": names}
    listed = root / _MADE
    if listed.is_file() and json.loads(listed.read_text(encoding="utf-8")) == made:
        return names
    for done, (name, each) in enumerate(zip(names, files, strict=True)):
        if on_progress and done % 100 == 0:
            on_progress("writing documents", done, len(files))
        target = root / _RAW / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(each.text, encoding="utf-8", newline="")
        if each.sidecar:
            target.with_name(f"{target.name}.meta.yaml").write_text(
                yaml.safe_dump(dict(each.sidecar), allow_unicode=True), encoding="utf-8"
            )
    write_text(listed, json.dumps(made, ensure_ascii=False))
    return names


def _name_files(files: Sequence[MadeFile]) -> dict[str, str]:
    """Return id by path, in order: the id's own characters where a file name may have them."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for made in files:
        if made.path is not None:
            names[made.path] = made.id
            continue
        plain = unicodedata.normalize("NFKC", made.id)
        stem = _UNSAFE.sub("-", plain)[:_LONGEST_STEM].strip("-._") or "document"
        # Some file systems do not tell upper from lower case.
        if stem.casefold() in taken:
            stem = f"{stem}-{hash_bytes(made.id.encode('utf-8'))[:12]}"
        taken.add(stem.casefold())
        names[f"{_FOLDER}/{stem}.md"] = made.id
    return names


def run_stages(namespace: Namespace, notify: Notify, on_progress: Progress | None) -> int:
    """Run every stage over all partitions, that of entities where the settings want it.

    Returns:
        How many documents were parsed.
    """
    from rag_assets.chunking import refresh_chunks, refresh_parents
    from rag_assets.embedding.stage import refresh_embeddings
    from rag_assets.parsing import refresh_parse_reports
    from rag_assets.publishing import publish
    from rag_assets.publishing.graph import refresh_entities

    inventory = take_inventory(namespace, notify=notify, on_progress=on_progress).inventory
    partitions = namespace.partition_keys
    reports = refresh_parse_reports(
        namespace, inventory, partitions, notify, on_progress=on_progress
    )
    embed = namespace.settings.embed
    tokenizer = joint_tokenizer(embed)
    refresh_parents(namespace, inventory, partitions, tokenizer, notify, on_progress=on_progress)
    refresh_chunks(namespace, inventory, partitions, tokenizer, notify, on_progress=on_progress)
    models = embedding_models(embed)
    refresh_embeddings(namespace, inventory, partitions, models, notify, on_progress=on_progress)
    if namespace.settings.graph.enabled:
        refresh_entities(namespace, inventory, partitions, notify, on_progress=on_progress)
    publish(namespace, models, notify, is_whole=True, on_progress=on_progress)
    return sum(outcome.computed for outcome in reports.values())


def _read_ids(
    namespace: Namespace, names: Mapping[str, str]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return the set's ids by `doc_uid`, and what was not published, in sentences."""
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table

    folder = current_folder(namespace.publications, namespace.name)
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        rows = read_table(connection, "sources").to_pylist()
    ids: dict[str, list[str]] = {}
    failed = []
    for row in sorted(rows, key=lambda row: row["path"]):
        identity = names[row["path"]]
        if row["status"] == "published":
            ids.setdefault(row["doc_uid"], []).append(identity)
        else:
            failed.append(f"{identity}: {row['status']}: {row['message']}")
    return {uid: tuple(held) for uid, held in ids.items()}, tuple(failed)
