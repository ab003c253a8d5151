"""From records to a publication: living rows joined with identity, checked, seen all at once."""

from rag_assets.publishing.collecting import Collected, collect_garbage
from rag_assets.publishing.embedders import PublishedModel, published_models
from rag_assets.publishing.exporting import export_chunks, export_parsed
from rag_assets.publishing.facts import DocumentFacts
from rag_assets.publishing.overview import DocumentLine, describe_namespace, list_documents
from rag_assets.publishing.plots import plot_publication
from rag_assets.publishing.publish import PUBLISHING_VERSION, PublishOutcome, collect, publish
from rag_assets.publishing.publish import STAGES as PUBLISHED_STAGES

__all__ = [
    "PUBLISHED_STAGES",
    "PUBLISHING_VERSION",
    "Collected",
    "DocumentFacts",
    "DocumentLine",
    "PublishOutcome",
    "PublishedModel",
    "collect",
    "collect_garbage",
    "describe_namespace",
    "export_chunks",
    "export_parsed",
    "list_documents",
    "plot_publication",
    "publish",
    "published_models",
]
