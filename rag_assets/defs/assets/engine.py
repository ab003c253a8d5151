"""The resource `engine`: what does the jobs of the stages that parse and encode."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

import dagster as dg
from pydantic import Field

from rag_assets.storage.execution import Execution, open_engine
from rag_assets.workspace import Namespace

ENGINE = "engine"


class Engine(Enum):
    """What a run's configuration may name."""

    configured = "configured"
    local = "local"
    ray = "ray"


class EngineResource(dg.ConfigurableResource[object]):
    """Bound as `engine`; one run takes another by `resources: {engine: {config: {engine: ray}}}`.

    A platform with an engine of its own binds a subclass whose `told` and `opened` are that one's.
    """

    engine: Engine = Field(
        default=Engine.configured,
        description="Where documents are parsed and passages encoded: local (this machine), ray "
        "(an extra), or configured (what `engine` in the namespace's configuration says). What is "
        "made is the same.",
    )

    def told(self, namespace: Namespace) -> str:
        """Return the name by which a run says which engine it used."""
        is_configured = self.engine is Engine.configured
        return namespace.settings.engine if is_configured else self.engine.value

    @contextmanager
    def opened(self, namespace: Namespace) -> Iterator[Execution]:
        """Yield the engine; what it keeps for its next jobs ends with the block."""
        is_local = self.told(namespace) == Engine.local.value
        with open_engine("local" if is_local else "ray") as engine:
            yield engine
