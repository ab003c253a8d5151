"""Turn folders of documents into a searchable library with exact citations.

The command line is `rag`; the assets stand in `rag_assets.definitions`. From Python::

    from rag_assets import Workspace, ask, audit_citations, ingest, query

    workspace = Workspace.find()
    ingest(workspace.namespace("thesis"))
    pack = query(workspace, "Does light increase the yield?").pack
    answer = ask(workspace, "Does light increase the yield?").answer
    audit = audit_citations(workspace, workspace.drafts / "chapter-2.md").audit

With the names of a knowledge library (docs/library.md)::

    from rag_assets import ContextBuilder, KnowledgeConfig, KnowledgeRetriever, KnowledgeSource
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.answering import ask_papers as ask
    from rag_assets.answering.law import ask_statutes as ask_law
    from rag_assets.auditing import audit_citations
    from rag_assets.components import RagNamespace, RagWorkspace
    from rag_assets.evidence import ask as query
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
    "RagNamespace",
    "RagWorkspace",
    "Workspace",
    "__version__",
    "ask",
    "ask_law",
    "audit_citations",
    "ingest",
    "query",
]

# Imported on first use: `rag --help` must not pay for Arrow and Lance.
_HOMES = {
    "ContextBuilder": ("rag_assets.knowledge", "ContextBuilder"),
    "KnowledgeConfig": ("rag_assets.knowledge", "KnowledgeConfig"),
    "KnowledgeRetriever": ("rag_assets.knowledge", "KnowledgeRetriever"),
    "KnowledgeScope": ("rag_assets.knowledge", "KnowledgeScope"),
    "KnowledgeSource": ("rag_assets.knowledge", "KnowledgeSource"),
    "RagNamespace": ("rag_assets.components", "RagNamespace"),
    "RagWorkspace": ("rag_assets.components", "RagWorkspace"),
    "Workspace": ("rag_assets.workspace", "Workspace"),
    "ask": ("rag_assets.answering", "ask_papers"),
    "ask_law": ("rag_assets.answering.law", "ask_statutes"),
    "audit_citations": ("rag_assets.auditing", "audit_citations"),
    "ingest": ("rag_assets.running", "ingest"),
    "query": ("rag_assets.evidence", "ask"),
    # Names of version 0.2.
    "answer": ("rag_assets.answering", "ask_papers"),
    "answer_law": ("rag_assets.answering.law", "ask_statutes"),
}


def __getattr__(name: str) -> Any:
    """Import a public name from its room when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_assets' has no attribute {name!r}")
    from importlib import import_module

    module, own = _HOMES[name]
    return getattr(import_module(module), own)


def __dir__() -> list[str]:
    """List what is loaded, and the components: `dg` imports all names that it finds here."""
    return [*globals(), "RagNamespace", "RagWorkspace"]
