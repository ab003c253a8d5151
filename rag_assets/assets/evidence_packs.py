"""What the UI shows of an evidence pack."""

import dagster as dg

from rag_assets.assets.lineage_links import lineage_metadata
from rag_assets.assets.reporting import Metadata, table, text_preview
from rag_assets.evidence import AskOutcome
from rag_assets.workspace import Workspace


def pack_metadata(workspace: Workspace, outcome: AskOutcome) -> Metadata:
    """Return what the UI shows of a pack."""
    pack = outcome.pack
    return {
        "question": pack.question,
        "documents": len(pack.doc_uids),
        "items": len(pack.items),
        "seconds": round(outcome.seconds, 3),
        "is new": outcome.is_new,
        "mode": pack.mode,
        "locator quality": ", ".join(f"{n} {c}" for n, c in pack.locator_quality.items()),
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        **(
            {
                "page": dg.MetadataValue.path(str(outcome.html)),
                "page in a browser": dg.MetadataValue.url(outcome.html.absolute().as_uri()),
            }
            if outcome.html
            else {}
        ),
        "table": table(
            ("rank", "doc_uid", "where", "quote"),
            ((i.rank, i.doc_uid, i.locator, i.shown_quote) for i in pack.items),
        ),
        **lineage_metadata(
            workspace,
            (
                (source.namespace, source.doc_uid, source.content_hash, str(rank))
                for source in pack.sources
                for rank in source.ranks
            ),
        ),
        "preview": text_preview(outcome.markdown.read_text(encoding="utf-8")[:6000]),
        "publications": ", ".join(f"{n}/{p}" for n, p in pack.publications.items()),
        "digest": pack.query_id,
    }
