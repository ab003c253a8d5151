"""From records to a publication: living rows joined with identity, checked, seen all at once."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_assets.publishing.building import (
        PUBLISHING_VERSION,
        PublishOutcome,
        collect,
        count_lacking,
        loses_vectors,
        publish,
    )
    from rag_assets.publishing.collecting import Collected, collect_garbage
    from rag_assets.publishing.embedders import PublishedModel, published_models, vectors_to_come
    from rag_assets.publishing.exporting import export_chunks, export_parsed
    from rag_assets.publishing.facts import DocumentFacts
    from rag_assets.publishing.naming import build_id_of
    from rag_assets.publishing.overview import (
        DocumentLine,
        describe_namespace,
        describe_settled,
        list_documents,
    )
    from rag_assets.publishing.plots import plot_publication
    from rag_assets.publishing.removed import RemovedDocument, removed_documents
    from rag_assets.publishing.text_index import TextIndex, describe_text_indexes
    from rag_assets.publishing.unpublished import unpublished_changes, warn_of_outdated

__all__ = [
    "PUBLISHING_VERSION",
    "Collected",
    "DocumentFacts",
    "DocumentLine",
    "PublishOutcome",
    "PublishedModel",
    "RemovedDocument",
    "TextIndex",
    "build_id_of",
    "collect",
    "collect_garbage",
    "count_lacking",
    "describe_namespace",
    "describe_settled",
    "describe_text_indexes",
    "export_chunks",
    "export_parsed",
    "list_documents",
    "loses_vectors",
    "plot_publication",
    "publish",
    "published_models",
    "removed_documents",
    "unpublished_changes",
    "vectors_to_come",
    "warn_of_outdated",
]

# Imported on first use: a question reads publications and must not pay for what makes them, down
# to the parsers. No module of this room may be called like a public name.
_HOMES = {
    "PUBLISHING_VERSION": ("building", "PUBLISHING_VERSION"),
    "Collected": ("collecting", "Collected"),
    "DocumentFacts": ("facts", "DocumentFacts"),
    "DocumentLine": ("overview", "DocumentLine"),
    "PublishOutcome": ("building", "PublishOutcome"),
    "PublishedModel": ("embedders", "PublishedModel"),
    "RemovedDocument": ("removed", "RemovedDocument"),
    "TextIndex": ("text_index", "TextIndex"),
    "build_id_of": ("naming", "build_id_of"),
    "collect": ("building", "collect"),
    "collect_garbage": ("collecting", "collect_garbage"),
    "describe_namespace": ("overview", "describe_namespace"),
    "describe_settled": ("overview", "describe_settled"),
    "describe_text_indexes": ("text_index", "describe_text_indexes"),
    "export_chunks": ("exporting", "export_chunks"),
    "export_parsed": ("exporting", "export_parsed"),
    "list_documents": ("overview", "list_documents"),
    "loses_vectors": ("building", "loses_vectors"),
    "plot_publication": ("plots", "plot_publication"),
    "count_lacking": ("building", "count_lacking"),
    "publish": ("building", "publish"),
    "published_models": ("embedders", "published_models"),
    "vectors_to_come": ("embedders", "vectors_to_come"),
    "removed_documents": ("removed", "removed_documents"),
    "unpublished_changes": ("unpublished", "unpublished_changes"),
    "warn_of_outdated": ("unpublished", "warn_of_outdated"),
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_assets.publishing' has no attribute {name!r}")
    from importlib import import_module

    module, own = _HOMES[name]
    return getattr(import_module(f"rag_assets.publishing.{module}"), own)
