"""Small workspaces that tests build: files by path, the hashing embedder, no Dagster."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from rag_assets.chunking.editing import refresh_chunk_edits
from rag_assets.chunking.stage import refresh_chunks, refresh_parents
from rag_assets.embedding import embedding_models, joint_tokenizer
from rag_assets.embedding.stage import refresh_embeddings
from rag_assets.parsing.stage import refresh_parse_reports
from rag_assets.publishing import PublishOutcome, publish
from rag_assets.storage.execution import Execution
from rag_assets.workspace import (
    Namespace,
    Workspace,
    create_workspace,
    require_inventory,
    take_inventory,
)

HASHING = {"embed": {"kind": "hashing", "model": "words"}}


def make_workspace(
    root: Path, files: Mapping[str, str | bytes], settings: Mapping[str, object] = HASHING
) -> Workspace:
    """Make a thesis workspace whose embedder needs no model, with `files` by path below raw/."""
    workspace, _ = create_workspace(root, "thesis")
    (root / "config.yaml").write_text(yaml.safe_dump(dict(settings)), encoding="utf-8")
    for name, content in files.items():
        write_raw(workspace, name, content)
    return Workspace.open(root)


def write_raw(workspace: Workspace, name: str, content: str | bytes) -> Path:
    """Write one file below raw/."""
    path = workspace.root / "raw" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def build(namespace: Namespace, execution: Execution | None = None) -> PublishOutcome:
    """Run every stage over all partitions, as the assets do, and publish."""
    said: list[str] = []
    keys, embed = namespace.partition_keys, namespace.settings.embed
    take_inventory(namespace, notify=said.append)
    inventory = require_inventory(namespace)
    refresh_parse_reports(namespace, inventory, keys, said.append, execution=execution)
    tokenizer = joint_tokenizer(embed)
    refresh_parents(namespace, inventory, keys, tokenizer, said.append)
    refresh_chunks(namespace, inventory, keys, tokenizer, said.append)
    refresh_chunk_edits(namespace, inventory, keys, tokenizer, said.append)
    models = embedding_models(embed)
    refresh_embeddings(namespace, inventory, keys, models, said.append, execution=execution)
    return publish(namespace, models, said.append, is_whole=True)
