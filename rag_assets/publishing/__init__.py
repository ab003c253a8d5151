"""From records to a publication: living rows joined with identity, checked, seen all at once."""

from rag_assets.publishing.facts import DocumentFacts
from rag_assets.publishing.publish import STAGES as PUBLISHED_STAGES
from rag_assets.publishing.publish import PUBLISHING_VERSION, PublishOutcome, collect, publish

__all__ = ["PUBLISHED_STAGES", "PUBLISHING_VERSION", "DocumentFacts", "PublishOutcome", "collect", "publish"]
