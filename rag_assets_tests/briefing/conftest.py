from collections.abc import Iterator

import pytest

from rag_assets.parsing import pool
from rag_assets_tests.laws.driver import InProcessWorker


@pytest.fixture(autouse=True, scope="package")
def parse_in_process() -> Iterator[None]:
    """No worker processes: their start takes longer than these small files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "WorkerProcess", InProcessWorker)
        yield
