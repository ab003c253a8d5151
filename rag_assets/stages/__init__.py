"""What every stage that is partitioned by content hash has in common, and the list of stages."""

from rag_assets.stages.frame import (
    PARSES,
    DocumentStage,
    claim_lock,
    describe_partition,
    describe_raw_files,
    fingerprints_over,
    parsed_contents,
    stage_lock,
    upstream_fingerprints,
)
from rag_assets.stages.listed import (
    PARSE_SUMMARIES,
    Stage,
    partitioned,
    published_stages,
    read_by,
    recorded,
    stage_named,
    stage_names,
    switched_on,
    way_from,
    way_to,
)

__all__ = [
    "PARSES",
    "PARSE_SUMMARIES",
    "DocumentStage",
    "Stage",
    "claim_lock",
    "describe_partition",
    "describe_raw_files",
    "fingerprints_over",
    "parsed_contents",
    "partitioned",
    "published_stages",
    "read_by",
    "recorded",
    "stage_lock",
    "stage_named",
    "stage_names",
    "switched_on",
    "upstream_fingerprints",
    "way_from",
    "way_to",
]
