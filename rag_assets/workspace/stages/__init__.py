"""What every stage that is partitioned by content hash has in common, and the list of stages."""

from rag_assets.workspace.stages.frame import (
    PARSES,
    DocumentStage,
    claim_lock,
    describe_partition,
    describe_raw_files,
    fingerprints_over,
    is_stale,
    parsed_contents,
    stage_lock,
    upstream_fingerprints,
)
from rag_assets.workspace.stages.listed import (
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
