"""Where jobs are done: one interface for what computes, and this machine or Ray behind it."""

from rag_assets.storage.execution.choosing import open_engine
from rag_assets.storage.execution.contract import (
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
from rag_assets.storage.execution.local import LocalExecution
