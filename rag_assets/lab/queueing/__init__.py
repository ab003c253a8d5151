"""Requests, the queue that works on them one after the other, and runs made again."""

from rag_assets.lab.queueing.auditing import broken_rules, lost_citations
from rag_assets.lab.queueing.files import (
    keys_of,
    list_request_files,
    queue_key,
    read_request,
    requested_keys,
)
from rag_assets.lab.queueing.places import is_worked_on, read_beat, run_folder, trace_file
from rag_assets.lab.queueing.queue import cancel_run, queue_again
from rag_assets.lab.queueing.replaying import replay_run, replay_trace
from rag_assets.lab.queueing.requests import (
    MOST_RUNS,
    RecipeRequest,
    choose_policy,
    notes_before,
    parse_request,
    queue_run,
    request_slug,
    submit_request,
)
from rag_assets.lab.queueing.showing import render_run
from rag_assets.lab.queueing.tree import TraceStep, trace_tree
from rag_assets.lab.queueing.viewing import (
    Following,
    QueueState,
    RunView,
    Worker,
    events_after,
    read_queue,
    view_run,
)
from rag_assets.lab.queueing.working import make_run, work

__all__ = [
    "MOST_RUNS",
    "Following",
    "QueueState",
    "RecipeRequest",
    "RunView",
    "TraceStep",
    "Worker",
    "broken_rules",
    "cancel_run",
    "choose_policy",
    "events_after",
    "is_worked_on",
    "keys_of",
    "list_request_files",
    "lost_citations",
    "make_run",
    "notes_before",
    "parse_request",
    "queue_again",
    "queue_key",
    "queue_run",
    "read_beat",
    "read_queue",
    "read_request",
    "render_run",
    "replay_run",
    "replay_trace",
    "request_slug",
    "requested_keys",
    "run_folder",
    "submit_request",
    "trace_file",
    "trace_tree",
    "view_run",
    "work",
]
