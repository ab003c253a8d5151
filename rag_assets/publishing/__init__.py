"""From records to a publication: living rows joined with identity, checked, seen all at once."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.publishing.building import (
        PUBLISHING_VERSION,
        PublishOutcome,
        loses_vectors,
        publish,
    )
    from rag_assets.publishing.collecting import Collected, collect_garbage
    from rag_assets.publishing.embedders import PublishedModel, published_models, vectors_to_come
    from rag_assets.publishing.exporting import (
        export_chunks,
        export_parsed,
        readable_folder,
        refresh_readable,
    )
    from rag_assets.publishing.facts import DocumentFacts, original_uri
    from rag_assets.publishing.languages import KANA_HANGUL, Language
    from rag_assets.publishing.lasting_ids import citation_ids
    from rag_assets.publishing.late_tables import LateTable, late_rows, published_vectors
    from rag_assets.publishing.naming import build_id_of
    from rag_assets.publishing.overview import (
        DocumentLine,
        describe_namespace,
        describe_settled,
        lacks_documents,
        list_documents,
        partitions_to_build,
    )
    from rag_assets.publishing.plots import draw_histogram, plot_publication
    from rag_assets.publishing.record_state import collect, count_lacking
    from rag_assets.publishing.removed import RemovedDocument, removed_documents
    from rag_assets.publishing.search_reading import Ranking, SearchTable, quote_text
    from rag_assets.publishing.table_state import TableHealth, table_health
    from rag_assets.publishing.text_index import TextIndex, describe_text_indexes
    from rag_assets.publishing.unpublished import look_since_publication, unpublished_changes
    from rag_assets.publishing.verifying import (
        citability_conflicts,
        index_differences,
        troubled_documents,
        uncitable_evidence,
    )

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("catalogue", "content_words")

__all__ = [
    "KANA_HANGUL",
    "PUBLISHING_VERSION",
    "Collected",
    "DocumentFacts",
    "DocumentLine",
    "Language",
    "LateTable",
    "PublishOutcome",
    "PublishedModel",
    "Ranking",
    "RemovedDocument",
    "SearchTable",
    "TableHealth",
    "TextIndex",
    "build_id_of",
    "citability_conflicts",
    "citation_ids",
    "collect",
    "collect_garbage",
    "count_lacking",
    "describe_namespace",
    "describe_settled",
    "describe_text_indexes",
    "draw_histogram",
    "export_chunks",
    "export_parsed",
    "index_differences",
    "lacks_documents",
    "late_rows",
    "list_documents",
    "look_since_publication",
    "loses_vectors",
    "original_uri",
    "partitions_to_build",
    "plot_publication",
    "publish",
    "published_models",
    "published_vectors",
    "quote_text",
    "readable_folder",
    "refresh_readable",
    "removed_documents",
    "table_health",
    "troubled_documents",
    "uncitable_evidence",
    "unpublished_changes",
    "vectors_to_come",
]

# Imported on first use: a question reads publications and must not pay for what makes them, down

# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "Collected": "collecting",
        "DocumentFacts": "facts",
        "DocumentLine": "overview",
        "KANA_HANGUL": "languages",
        "Language": "languages",
        "PUBLISHING_VERSION": "building",
        "PublishOutcome": "building",
        "PublishedModel": "embedders",
        "Ranking": "search_reading",
        "RemovedDocument": "removed",
        "SearchTable": "search_reading",
        "TableHealth": "table_state",
        "TextIndex": "text_index",
        "build_id_of": "naming",
        "citability_conflicts": "verifying",
        "citation_ids": "lasting_ids",
        "collect": "record_state",
        "collect_garbage": "collecting",
        "count_lacking": "record_state",
        "describe_namespace": "overview",
        "describe_settled": "overview",
        "describe_text_indexes": "text_index",
        "draw_histogram": "plots",
        "export_chunks": "exporting",
        "export_parsed": "exporting",
        "index_differences": "verifying",
        "lacks_documents": "overview",
        "LateTable": "late_tables",
        "late_rows": "late_tables",
        "list_documents": "overview",
        "look_since_publication": "unpublished",
        "loses_vectors": "building",
        "original_uri": "facts",
        "partitions_to_build": "overview",
        "plot_publication": "plots",
        "publish": "building",
        "published_models": "embedders",
        "published_vectors": "late_tables",
        "quote_text": "search_reading",
        "readable_folder": "exporting",
        "refresh_readable": "exporting",
        "removed_documents": "removed",
        "table_health": "table_state",
        "troubled_documents": "verifying",
        "uncitable_evidence": "verifying",
        "unpublished_changes": "unpublished",
        "vectors_to_come": "embedders",
    },
)
