"""Run the definitions on the workspace's instance, from a command or from Python."""

from rag_assets.running.examining import Finding, examine
from rag_assets.running.instance import (
    load_definitions,
    open_instance,
    own_environment,
    prepare_environment,
)
from rag_assets.running.materialize import (
    STAGES,
    CheckOutcome,
    RunOutcome,
    audit_file,
    ingest,
    ingest_changes,
    materialize_partition,
    materialize_stages,
)
from rag_assets.running.recording import prune_runs, record_audit, register_saved_questions
from rag_assets.running.serving import serve_ui
