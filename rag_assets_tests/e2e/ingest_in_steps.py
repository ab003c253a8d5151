"""Ingest what a workspace holds, and tell after each step how much memory was needed at most.

Run as a process of its own: `python -m rag_assets_tests.e2e.ingest_in_steps WORKSPACE`. Prints a
line of JSON: step → most bytes so far, of this process and of its largest child.
"""

import json
import resource
import sys
from pathlib import Path

from rag_assets.chunking.stage import refresh_chunks, refresh_parents
from rag_assets.embedding import embedding_models, joint_tokenizer
from rag_assets.embedding.stage import refresh_embeddings
from rag_assets.parsing.stage import refresh_parse_reports
from rag_assets.publishing import publish
from rag_assets.workspace import Workspace, require_inventory, take_inventory

_BYTES = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    namespace = Workspace.open(Path(sys.argv[1])).namespace("thesis")
    told: dict[str, int] = {}

    def note(step: str, whose: int = resource.RUSAGE_SELF) -> None:
        told[step] = resource.getrusage(whose).ru_maxrss * _BYTES

    def notify(message: str) -> None:
        sys.stderr.write(f"{message}\n")

    keys, embed = namespace.partition_keys, namespace.settings.embed
    take_inventory(namespace, notify=notify)
    inventory = require_inventory(namespace)
    tokenizer, models = joint_tokenizer(embed), embedding_models(embed)
    refresh_parse_reports(namespace, inventory, keys, notify)
    note("parse worker", resource.RUSAGE_CHILDREN)
    note("parse")
    refresh_parents(namespace, inventory, keys, tokenizer, notify)
    note("parents")
    refresh_chunks(namespace, inventory, keys, tokenizer, notify)
    note("chunks")
    refresh_embeddings(namespace, inventory, keys, models, notify)
    note("embeddings")
    publish(namespace, models, notify, is_whole=True)
    note("publication")
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
