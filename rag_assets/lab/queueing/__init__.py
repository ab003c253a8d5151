"""Requests, the queue that works on them one after the other, and runs made again."""

from rag_assets.lab.queueing.places import read_beat, run_folder, trace_file
from rag_assets.lab.queueing.queue import cancel_run, queue_again
from rag_assets.lab.queueing.replaying import replay_run, replay_trace
from rag_assets.lab.queueing.requests import (
    MOST_RUNS,
    RecipeRequest,
    choose_policy,
    parse_request,
    queue_run,
    request_slug,
    submit_request,
)
from rag_assets.lab.queueing.showing import render_run
from rag_assets.lab.queueing.working import make_run, work

__all__ = [
    "MOST_RUNS",
    "RecipeRequest",
    "cancel_run",
    "choose_policy",
    "make_run",
    "parse_request",
    "queue_again",
    "queue_run",
    "read_beat",
    "render_run",
    "replay_run",
    "replay_trace",
    "request_slug",
    "run_folder",
    "submit_request",
    "trace_file",
    "work",
]
