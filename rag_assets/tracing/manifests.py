"""Build manifests: what a publication was made from, by whom and how (spec 000 §4.3 and §4.4).

Rendered from lineage, so that any publication that stands has one, also one that was made before
anybody asked. Beside it `chunk_manifest.json` says of every document which fingerprint its chunks
have and whether this build computed them or found them as they were.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any  # Any: JSON of manifests

from rag_assets.model import UsageError
from rag_assets.publishing import build_id_of
from rag_assets.publishing.catalogue import OFFLINE, catalogue_name
from rag_assets.storage import find_json, list_publications, put_json, read_manifest, read_pointer
from rag_assets.tracing.querying import create_stored_tables, read_named_rows, sql
from rag_assets.workspace import Namespace
from rag_assets.workspace.stages import recorded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA = "rag-assets/build-manifest/1"
CHUNK_SCHEMA = "rag-assets/chunk-manifest/1"
NAME, CHUNK_NAME = "build_manifest.json", "chunk_manifest.json"

_CHUNKS = "SELECT doc_uid, count(*) AS chunks FROM standing_chunks GROUP BY doc_uid"
_MAKERS = ("run_id", "code_version", "config_hash", "tool_version")


@dataclass(frozen=True, slots=True)
class BuildManifest:
    """The manifest of one publication and its path. `is_new` False: it stood there."""

    build_id: str
    path: Path
    content: Mapping[str, Any]
    is_new: bool


def write_build_manifest(namespace: Namespace, publication: str) -> BuildManifest:
    """Return a publication's manifest, writing it below `meta/builds/` where it is not there yet.

    Raises:
        UsageError: the publication does not stand (any more); the text says which do.
        DamagedFileError: its own files cannot be read.
    """
    import duckdb

    folder = namespace.publications / publication
    workspace = namespace.workspace
    store, catalogue = workspace.store, folder / catalogue_name(publication)
    if store.find(workspace.key_of(catalogue)) is None:
        raise UsageError(_not_standing(namespace, publication))
    published = read_manifest(folder)
    build_id = build_id_of(published)
    place = f"meta/builds/{build_id}/"
    written = find_json(store, place + NAME, "build manifest")
    if written is not None:
        return BuildManifest(build_id, store.place(place + NAME), written, False)
    with duckdb.connect(":memory:", config=OFFLINE) as connection:
        create_stored_tables(connection, workspace, [namespace.name], publication)
        content, chunks = _render(connection, namespace, published, build_id)
    put_json(store, place + CHUNK_NAME, chunks)
    # Last: where it stands, the other stands.
    put_json(store, place + NAME, content)
    return BuildManifest(build_id, store.place(place + NAME), content, True)


def _not_standing(namespace: Namespace, publication: str) -> str:
    pointer = read_pointer(namespace.publications)
    names = [entry.publication for entry in pointer.history] if pointer else []
    complete = list_publications(namespace.publications)
    standing = [name for name in names if name in complete]
    retired = "was retired" if publication in names else "is unknown"
    return (
        f"publication '{publication}' of '{namespace.name}' {retired}; these exist: "
        f"{', '.join(standing) or 'none'}. A manifest that was written before stays below "
        f"{namespace.workspace.meta / 'builds'}."
    )


def _render(
    connection: "DuckDBPyConnection",
    namespace: Namespace,
    published: Mapping[str, Any],
    build_id: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    documents = read_named_rows(connection, sql("build_documents"))
    stages: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in recorded()}
    for row in read_named_rows(connection, sql("build_stages")):
        stages[row["stage"]][row["content_hash"]] = row
    run = published.get("made_by", {}).get("run_id")
    counts = {row["doc_uid"]: row["chunks"] for row in read_named_rows(connection, _CHUNKS)}
    content = {
        "schema": SCHEMA,
        "build_id": build_id,
        "namespace": namespace.name,
        "publication": published["publication"],
        "created_at": datetime.fromtimestamp(published["created_at"], UTC).isoformat(
            timespec="seconds"
        ),
        "tool_version": published["tool_version"],
        "config_hash": published.get("config_hash"),
        "run_id": run,
        "inventory_digest": published["inventory_digest"],
        "inputs": documents,
        "not_published": read_named_rows(connection, sql("build_not_published")),
        "stages": {
            name: {
                "digest": published["stages"].get(name),
                "computed_in_this_build": sum(
                    run is not None and row["run_id"] == run for row in rows.values()
                ),
                "documents": len(rows),
                **{f"{each}s": _different(rows, each) for each in _MAKERS},
            }
            for name, rows in stages.items()
        },
        "models": [
            {
                "provider": model["kind"],
                **{key: model[key] for key in ("model", "fingerprint", "dimension", "settings")},
                "how_it_was_asked": _asked(namespace, model["model"]),
            }
            for model in published["embedders"]
        ],
        "counts": published["counts"],
        "tables": published["tables"],
    }
    chunks = {
        "schema": CHUNK_SCHEMA,
        "build_id": build_id,
        "settings": namespace.settings.chunk.model_dump(mode="json"),
        "documents": [
            {
                "doc_uid": row["doc_uid"],
                "content_hash": row["sha256"],
                "chunks": counts.get(row["doc_uid"], 0),
                **_chunk_entry(stages["chunks"].get(row["sha256"]), run),
            }
            for row in documents
        ],
    }
    return content, chunks


def _asked(namespace: Namespace, name: str) -> dict[str, Any]:
    """Return concurrency, retries and the like of a model, as they are set now."""
    from rag_assets.model.settings import deciding_fields

    model = next((each for each in namespace.settings.embed.models if each.model == name), None)
    if model is None:
        return {}
    deciding = deciding_fields(model)
    plain = model.model_dump(mode="json")
    return {key: value for key, value in plain.items() if key not in deciding}


def _chunk_entry(row: Mapping[str, Any] | None, run: str | None) -> dict[str, Any]:
    keys = ("fingerprint", "digest", "computed_at")
    if row is None:
        return dict.fromkeys((*keys, "is_reused"))
    is_signed = run is not None and row["run_id"] is not None
    is_reused = row["run_id"] != run if is_signed else None
    return {**{key: row[key] for key in keys}, "is_reused": is_reused}


def _different(rows: Mapping[str, Mapping[str, Any]], name: str) -> list[str]:
    return sorted({row[name] for row in rows.values() if row[name] is not None})
