"""From records to a publication: living rows joined with identity, checked, seen all at once."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.publishing.build import (
        PUBLISHING_VERSION,
        PublishOutcome,
        loses_vectors,
        publish,
    )
    from rag_assets.publishing.changes import look_since_publication, removed_documents
    from rag_assets.publishing.content_words import KANA_HANGUL, Language
    from rag_assets.publishing.export import (
        export_chunks,
        export_parsed,
        readable_folder,
        refresh_readable,
    )
    from rag_assets.publishing.facts import DocumentFacts, original_uri
    from rag_assets.publishing.gc import collect_garbage
    from rag_assets.publishing.manifest import (
        PublishedModel,
        build_id_of,
        published_models,
        vectors_to_come,
    )
    from rag_assets.publishing.names import PersonName, endings, split_name, split_names
    from rag_assets.publishing.records import collect, count_lacking
    from rag_assets.publishing.rows import citation_ids
    from rag_assets.publishing.search import PublishedVectors, Ranking, SearchTable, quote_text
    from rag_assets.publishing.status import (
        UNUSED,
        DocumentLine,
        citability_conflicts,
        describe_namespace,
        describe_settled,
        holds_texts,
        index_differences,
        lacks_documents,
        list_documents,
        partitions_to_build,
        troubled_documents,
        uncitable_evidence,
    )

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("catalogue", "content_words", "graph")


# Imported on first use: a question reads publications and must not wait for what makes them.
__getattr__ = lazy_names(
    __name__,
    {
        "DocumentFacts": "facts",
        "DocumentLine": "status",
        "KANA_HANGUL": "content_words",
        "Language": "content_words",
        "PUBLISHING_VERSION": "build",
        "PersonName": "names",
        "PublishOutcome": "build",
        "PublishedModel": "manifest",
        "PublishedVectors": "search",
        "Ranking": "search",
        "SearchTable": "search",
        "build_id_of": "manifest",
        "citability_conflicts": "status",
        "citation_ids": "rows",
        "collect": "records",
        "collect_garbage": "gc",
        "count_lacking": "records",
        "describe_namespace": "status",
        "describe_settled": "status",
        "endings": "names",
        "export_chunks": "export",
        "export_parsed": "export",
        "holds_texts": "status",
        "index_differences": "status",
        "UNUSED": "status",
        "lacks_documents": "status",
        "list_documents": "status",
        "look_since_publication": "changes",
        "loses_vectors": "build",
        "original_uri": "facts",
        "partitions_to_build": "status",
        "publish": "build",
        "published_models": "manifest",
        "quote_text": "search",
        "readable_folder": "export",
        "refresh_readable": "export",
        "removed_documents": "changes",
        "split_name": "names",
        "split_names": "names",
        "troubled_documents": "status",
        "uncitable_evidence": "status",
        "vectors_to_come": "manifest",
    },
)
