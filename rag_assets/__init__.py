"""Folders of raw files become evidence that can be trusted.

The command line is `rag`; the assets stand in `rag_assets.definitions`. From Python::

    from rag_assets import Workspace, ask, audit_citations, ingest

    workspace = Workspace.find()
    ingest(workspace.namespace("thesis"))
    outcome = ask(workspace, "Does light increase the yield?")
    audit = audit_citations(workspace, workspace.drafts / "chapter-2.md").audit

With the names of a knowledge library (docs/library.md)::

    from rag_assets import ContextBuilder, KnowledgeConfig, KnowledgeRetriever, KnowledgeSource
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.answering import answer
    from rag_assets.answering.law import answer_law
    from rag_assets.auditing import audit_citations
    from rag_assets.evidence import ask
    from rag_assets.knowledge import (
        ContextBuilder,
        KnowledgeConfig,
        KnowledgeRetriever,
        KnowledgeScope,
        KnowledgeSource,
    )
    from rag_assets.running import ingest
    from rag_assets.workspace import Workspace

__version__ = "0.2.0"
__all__ = [
    "ContextBuilder",
    "KnowledgeConfig",
    "KnowledgeRetriever",
    "KnowledgeScope",
    "KnowledgeSource",
    "Workspace",
    "__version__",
    "answer",
    "answer_law",
    "ask",
    "audit_citations",
    "ingest",
]

# Imported on first use: `rag --help` must not pay for Arrow and Lance.
_HOMES = {
    "ContextBuilder": "rag_assets.knowledge",
    "KnowledgeConfig": "rag_assets.knowledge",
    "KnowledgeRetriever": "rag_assets.knowledge",
    "KnowledgeScope": "rag_assets.knowledge",
    "KnowledgeSource": "rag_assets.knowledge",
    "Workspace": "rag_assets.workspace",
    "answer": "rag_assets.answering",
    "answer_law": "rag_assets.answering.law",
    "ask": "rag_assets.evidence",
    "audit_citations": "rag_assets.auditing",
    "ingest": "rag_assets.running",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its room when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_assets' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
