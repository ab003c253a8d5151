"""Which engine the settings name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from rag_assets.storage.execution.contract import Execution
from rag_assets.storage.execution.local import LocalExecution

EngineName = Literal["local", "ray"]


@contextmanager
def open_engine(name: EngineName) -> Iterator[Execution]:
    """Yield the engine of a name; what it keeps for its next jobs ends with the block.

    Nothing is started before there is a job.
    """
    if name == "local":
        yield LocalExecution()
        return
    from rag_assets.storage.execution.on_ray import RayExecution

    with RayExecution() as engine:
        yield engine
