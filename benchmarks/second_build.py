"""Build again what is built: once as the command does, once without Dagster; count the calls."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from rag_assets.chunking.stage import refresh_chunks, refresh_parents
from rag_assets.embedding import embedding_models, joint_tokenizer
from rag_assets.embedding.bert import BertEmbedder
from rag_assets.embedding.stage import refresh_embeddings
from rag_assets.parsing.pool import observe_parses
from rag_assets.parsing.stage import refresh_parse_reports
from rag_assets.publishing import publish
from rag_assets.publishing.status import (
    citability_conflicts,
    index_differences,
    troubled_documents,
    uncitable_evidence,
)
from rag_assets.workspace import Namespace, Workspace, require_inventory, take_inventory

_encoded: list[int] = []
_call: Any = BertEmbedder.encode_passages


def _counted(self: BertEmbedder, texts: list[str], on_progress: Any = None) -> Any:
    _encoded.append(len(texts))
    return _call(self, texts, on_progress)


def _stages_alone(namespace: Namespace) -> dict[str, float]:
    """Run every stage and every check without Dagster; seconds by name."""
    said: list[str] = []
    keys, embed = namespace.partition_keys, namespace.settings.embed
    seconds: dict[str, float] = {}
    clock = [time.monotonic()]

    def lap(name: str) -> None:
        now = time.monotonic()
        seconds[name] = round(now - clock[0], 4)
        clock[0] = now

    take_inventory(namespace, notify=said.append)
    lap("inventory")
    inventory = require_inventory(namespace)
    refresh_parse_reports(namespace, inventory, keys, said.append)
    lap("parse_reports")
    tokenizer = joint_tokenizer(embed)
    refresh_parents(namespace, inventory, keys, tokenizer, said.append)
    lap("parents")
    refresh_chunks(namespace, inventory, keys, tokenizer, said.append)
    lap("chunks")
    models = embedding_models(embed)
    fingerprints = [model.fingerprint for model in models]
    refresh_embeddings(namespace, inventory, keys, models, said.append)
    lap("embeddings")
    publish(namespace, models, said.append, is_whole=True)
    lap("search_index")
    found = [
        *citability_conflicts(inventory),
        *troubled_documents(namespace, fingerprints),
        *index_differences(namespace, fingerprints),
        *uncitable_evidence(namespace),
    ]
    lap("checks")
    seconds["findings"] = len(found)
    return seconds


def main(root: Path) -> None:
    from rag_assets.running import ingest

    BertEmbedder.encode_passages = _counted  # type: ignore[method-assign]
    namespace = Workspace.open(root).namespace("papers")
    with observe_parses() as parses:
        started = time.monotonic()
        outcome = ingest(namespace)
        first = time.monotonic() - started
        started = time.monotonic()
        outcome = ingest(namespace)
        warm = time.monotonic() - started
        alone = _stages_alone(namespace)
    print(
        json.dumps(
            {
                "success": outcome.is_success,
                "run_id": outcome.run_id,
                "parse_calls": len(parses),
                "encode_calls": len(_encoded),
                "in_process_s": round(first, 3),
                "in_process_again_s": round(warm, 3),
                "stages_and_checks_without_dagster_s": alone,
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
