"""What a process imports that asks one question, which is most of the time that it takes."""

import json
import os
import subprocess
import sys
from pathlib import Path

from rag_assets_tests.libraries import build, make_workspace

# What makes publications, records runs, draws or serves: none of it answers a question. A room
# stands for all its modules but those that a question needs.
NOT_IMPORTED = (
    "bibtexparser",
    "dagster",
    "fitz",
    "httpx",
    "lancedb",
    "lxml",
    "matplotlib",
    "mcp",
    "openai",
    "pandas",
    "puremagic",
    "pymupdf",
    "rag_assets.auditing",
    "rag_assets.chunking.chunks",
    "rag_assets.definitions",
    "rag_assets.embedding.stage",
    "rag_assets.evaluation",
    "rag_assets.knowledge",
    "rag_assets.llm",
    "rag_assets.evidence.bibliography",
    "rag_assets.parsing.document",
    "rag_assets.parsing.registry",
    "rag_assets.parsing.stage",
    "rag_assets.parsing.worker",
    "rag_assets.publishing.build",
    "rag_assets.publishing.gc",
    "rag_assets.publishing.rows",
    "rag_assets.publishing.status",
    "rag_assets.running",
    "requests",
    "rispy",
    "sentence_transformers",
    "torch",
    "transformers",
)
ASKING = """
import json, sys
import rag_assets.cli.asking
from rag_assets.evidence import ask
from rag_assets.workspace import Workspace
assert ask(Workspace.find(), "How much cooler are sedum roofs?").pack.items
print(json.dumps(sorted(sys.modules)))
"""


def test_question_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    made = make_workspace(
        tmp_path, {"evidence/roofs.md": "# Roofs\n\nSedum roofs were 16.7 degrees cooler.\n"}
    )
    build(made.namespace("thesis"))
    done = subprocess.run(
        [sys.executable, "-c", ASKING],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "RAG_WORKSPACE": str(made.root)},
    )
    imported = set(json.loads(done.stdout.splitlines()[-1]))
    assert "rag_assets.retrieval.retriever" in imported
    assert [name for name in NOT_IMPORTED if name in imported] == []
