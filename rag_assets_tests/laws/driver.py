"""Build a workspace without an orchestrator, and say in plain values what was built."""

import hashlib
import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from rag_assets.chunking.editing import Passages, passages_schema, refresh_chunk_edits
from rag_assets.chunking.rows import chunks_schema, parents_schema
from rag_assets.chunking.stage import refresh_chunks, refresh_parents
from rag_assets.embedding import (
    HashingEmbedder,
    embedding_models,
    joint_tokenizer,
    model_fingerprints,
)
from rag_assets.embedding.stage import embeddings_schema, refresh_embeddings
from rag_assets.evidence import mark_retired
from rag_assets.model import ParseReport, StageOutcome
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing import worker
from rag_assets.parsing.stage import refresh_parse_reports, reports_schema
from rag_assets.parsing.stored import ParseJob
from rag_assets.publishing import PublishOutcome, collect, list_documents, publish
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table
from rag_assets.publishing.graph import mentions_schema, refresh_entities
from rag_assets.publishing.rows import digest_table
from rag_assets.retrieval import Reader, SearchFilters
from rag_assets.storage import current_folder, read_manifest, read_rows
from rag_assets.workspace import (
    InventoryOutcome,
    Namespace,
    Workspace,
    create_workspace,
    current_identities,
    require_inventory,
    take_inventory,
)

# In the order of the assets.
STAGES = (
    "inventory", "parse_reports", "parents", "chunks", "chunk_edits", "embeddings", "entities",
    "search_index",
)  # fmt: skip
# Small passages, so that a text of a few sentences has several.
SMALL = {
    "embed": {"kind": "hashing", "model": "words"},
    "chunk": {"target_tokens": 16, "min_tokens": 8, "max_tokens": 24, "parent_tokens": 48},
    "parse": {"workers": 1},
}
QUESTIONS = (
    "cool roofs reflect sunlight",
    "二氧化碳 气孔",
    "stomata",
    "违约责任",
    "year temperature",
    "heat-island",
    "Paris Observatory and TiO2",
)
# What a row is not a function of: how long it took, how often, in which batch.
_PROVENANCE = {"seconds", "attempts", "vector"}


def make_workspace(root: Path, **namespaces: Mapping[str, Any]) -> Workspace:
    """A workspace with small passages and words for vectors; `lib` where no namespace is named."""
    workspace, _ = create_workspace(root, "thesis")
    for path in (root / "namespaces").glob("*.yaml"):
        path.unlink()
    for name, settings in (namespaces or {"lib": {}}).items():
        text = yaml.safe_dump({**SMALL, **settings}, allow_unicode=True)
        (root / "namespaces" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return workspace


def put(workspace: Workspace, path: str, content: str | bytes) -> Path:
    """Write a file below raw/."""
    target = workspace.root / "raw" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.encode() if isinstance(content, str) else content)
    return target


def put_sidecar(workspace: Workspace, path: str, **fields: Any) -> Path:
    """Write the sidecar of a file below raw/."""
    text = yaml.safe_dump(fields, allow_unicode=True)
    return put(workspace, f"{path}.meta.yaml", text)


@dataclass
class Built:
    """What one build did, by stage."""

    inventory: InventoryOutcome | None = None
    stages: dict[str, dict[str, StageOutcome]] = field(default_factory=dict)
    published: PublishOutcome | None = None

    @property
    def computed(self) -> dict[str, int]:
        """Documents whose rows were computed, by stage."""
        return {s: sum(o.computed for o in parts.values()) for s, parts in self.stages.items()}


def silent(sentence: str) -> None:
    """A person who does not listen."""


def build(
    namespace: Namespace,
    stages: Collection[str] = STAGES,
    partitions: Sequence[str] | None = None,
    *,
    retry: bool = False,
) -> Built:
    """Run stages of a namespace in the order of the assets, over some or all partitions."""
    keys = list(partitions if partitions is not None else namespace.partition_keys)
    models = embedding_models(namespace.settings.embed)
    done = Built()
    if "inventory" in stages:
        done.inventory = take_inventory(namespace, notify=silent)
    inventory = require_inventory(namespace)
    if "parse_reports" in stages:
        done.stages["parse_reports"] = refresh_parse_reports(
            namespace, inventory, keys, silent, retry=retry
        )
    tokenizer = joint_tokenizer(namespace.settings.embed)
    if "parents" in stages:
        done.stages["parents"] = refresh_parents(namespace, inventory, keys, tokenizer, silent)
    if "chunks" in stages:
        done.stages["chunks"] = refresh_chunks(namespace, inventory, keys, tokenizer, silent)
    if "chunk_edits" in stages:
        done.stages["chunk_edits"] = refresh_chunk_edits(
            namespace, inventory, keys, tokenizer, silent
        )
    if "embeddings" in stages:
        done.stages["embeddings"] = refresh_embeddings(
            namespace,
            inventory,
            keys,
            models,
            silent,
        )
    if "entities" in stages and namespace.settings.graph.enabled:
        done.stages["entities"] = refresh_entities(namespace, inventory, keys, silent)
    if "search_index" in stages:
        is_whole = set(stages) == set(STAGES) and partitions is None
        done.published = publish(namespace, models, silent, is_whole=is_whole)
        mark_retired(namespace.workspace, namespace.name, done.published.retired)
    return done


def clean_build(namespace: Namespace, root: Path) -> Namespace:
    """Build a copy that has raw/, the configuration and the journal, and nothing else."""
    source = namespace.workspace.root
    root.mkdir(parents=True)
    for name in ("raw", "namespaces", "config.yaml", "meta/journal"):
        origin = source / name
        if origin.is_dir():
            shutil.copytree(origin, root / name, copy_function=shutil.copy2, symlinks=True)
        elif origin.exists():
            shutil.copy2(origin, root / name)
    clean = Workspace.open(root).namespace(namespace.name)
    build(clean)
    return clean


def state_of(namespace: Namespace) -> dict[str, Any]:
    """Return all that must be equal after every history: rows, tables, identity, searches."""
    inventory = require_inventory(namespace)
    fingerprints = model_fingerprints(namespace.settings.embed)
    records = collect(namespace, inventory, fingerprints)
    folder = current_folder(namespace.publications, namespace.name)
    manifest = read_manifest(folder)
    identities = current_identities(namespace, inventory)
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        tables = {name: digest_table(read_table(connection, name)) for name in manifest["tables"]}
    assert tables == manifest["tables"]
    return {
        "publication": folder.name,
        "inventory": (inventory.digest, inventory.warnings),
        "uids": identities.uids,
        "withheld": identities.withheld,
        "stages": records.digests,
        "rows": _living_rows(namespace),
        "tables": tables,
        "counts": manifest["counts"],
        # Title and date of what was removed are memories: a clean build has none.
        "documents": [
            replace(line, title="", message=None) if line.status == "removed" else line
            for line in list_documents(namespace, fingerprints)
        ],
        "statuses": {f.content_hash: (f.status, f.reason_code, f.citable) for f in records.facts},
        "searches": search_results(namespace),
    }


def _living_rows(namespace: Namespace) -> dict[str, str]:
    """Return the digest of the living rows of each stage, from the rows themselves."""
    inventory = require_inventory(namespace)
    parsed = _parsed(namespace)
    models = model_fingerprints(namespace.settings.embed)
    schemas = {
        "parse_reports": reports_schema(),
        "parents": parents_schema(),
        "chunks": chunks_schema(),
        "chunk_edits": passages_schema(),
        "embeddings": embeddings_schema(),
    }
    if namespace.settings.graph.enabled:
        schemas["entities"] = mentions_schema()
    digests = {}
    edited = Passages(namespace, inventory).edited
    for stage, schema in schemas.items():
        rows = []
        columns = [name for name in schema.names if name not in _PROVENANCE]
        for partition in namespace.partition_keys:
            living = set(inventory.partition(namespace, partition))
            if stage != "parse_reports":
                living &= parsed
            if stage == "chunk_edits":
                living &= edited.keys()
            table = read_rows(namespace.record(stage, partition), schema, living, columns)
            # Vectors of a model that is not configured any more are kept, but do not live.
            rows += [
                json.dumps(row, sort_keys=True)
                for row in table.to_pylist()
                if row.get("model") in {None, *models}
            ]
        digests[stage] = hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()
    return digests


def _parsed(namespace: Namespace) -> set[str]:
    """Contents with a parse; the rows of one that fails now wait for a parse that works again."""
    inventory, parsed = require_inventory(namespace), set()
    for partition in namespace.partition_keys:
        table = read_rows(
            namespace.record("parse_reports", partition),
            reports_schema(),
            inventory.partition(namespace, partition),
        )
        parsed |= {row["content_hash"] for row in table.to_pylist() if row["status"] == "ok"}
    return parsed


def search_results(
    namespace: Namespace, questions: Sequence[str] = QUESTIONS
) -> dict[str, list[tuple[str, float]]]:
    """Return ids and rounded scores of exact searches by words and by vectors."""
    folder = current_folder(namespace.publications, namespace.name)
    models = embedding_models(namespace.settings.embed)
    found = {}
    with Reader(folder, namespace.name, folder.name) as reader:
        for citable_only in (False, True):
            filters = SearchFilters(citable_only=citable_only)
            for question in questions:
                ranked = {"words": reader.search_text(question, 20, filters)}
                for model in models:
                    vector = model.embedder().encode_queries([question])[0].tolist()
                    ranked[model.name] = reader.search_vectors(
                        model.fingerprint, vector, 20, filters
                    )
                if reader.entity_graph is not None:
                    walked = reader.entity_graph.scores(question)
                    found[f"entities, {question}"] = sorted(walked.items())
                for searcher, hits in ranked.items():
                    found[f"{searcher}, {citable_only}, {question}"] = [
                        (hit.chunk_id, round(score, 6)) for hit, score in hits
                    ]
    return found


class InProcessWorker:
    """Stands in for a worker process: the same function, without a process of its own."""

    is_alive = True

    def __init__(self, settings: ParseSettings) -> None:
        self._settings = settings

    def wait_until_ready(self) -> None:
        """Ready at once."""

    def serves(self, settings: ParseSettings) -> bool:
        """It starts at once too: none is kept."""
        return False

    def parse(self, job: ParseJob) -> tuple[ParseReport, bool]:
        """Do what the worker process does with a job."""
        return worker._perform(job, self._settings, _Nobody())  # type: ignore[arg-type]

    def kill_process(self) -> None:
        """Nothing to kill."""

    close = kill_process


class _Nobody:
    def send(self, event: str, **fields: Any) -> None:
        """Nobody listens to progress."""


@contextmanager
def observe_encoding() -> Iterator[list[str]]:
    """Yield a list that grows by every passage that is encoded by words."""
    seen: list[str] = []
    original = HashingEmbedder.encode_passages

    def encode_passages(
        self: HashingEmbedder, texts: Sequence[str], on_progress: Any = None
    ) -> Any:
        seen.extend(texts)
        return original(self, texts, on_progress)

    HashingEmbedder.encode_passages = encode_passages  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        HashingEmbedder.encode_passages = original  # type: ignore[method-assign]


def files_of(*folders: Path) -> dict[str, tuple[int, int, int]]:
    """Return every file with its inode, size and time of change: any write shows."""
    return {
        str(path): (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
        for stat in [path.stat()]
    }


def uids_of(namespace: Namespace) -> dict[str, str]:
    """Return path below raw/ → uid, for every living file that has one."""
    inventory = require_inventory(namespace)
    uids = current_identities(namespace, inventory).uids
    return {
        source.source_uri.removeprefix("raw/"): uids[source.content_hash]
        for source in inventory.sources
        if source.content_hash in uids
    }
