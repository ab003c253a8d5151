"""Where jobs are done: one interface for what computes, and this machine or Ray behind it."""

from rag_assets.execution.choosing import open_engine
from rag_assets.execution.contract import (
    Execution,
    JobT,
    Kind,
    Limits,
    OnPart,
    ResultT,
    Worker,
    WorkerStoppedError,
    interruptible,
)
from rag_assets.execution.local import LocalExecution

__all__ = [
    "Execution",
    "JobT",
    "Kind",
    "Limits",
    "LocalExecution",
    "OnPart",
    "ResultT",
    "Worker",
    "WorkerStoppedError",
    "interruptible",
    "open_engine",
]
