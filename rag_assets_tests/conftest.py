import os

import pytest
from hypothesis import settings

from rag_assets.workspace import secrets

if "PYTEST_XDIST_WORKER" in os.environ:
    # Side by side, each process and those it starts have a core; threads would fight over them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# The clock decides nothing: beside other processes an example of a millisecond may take a second.
settings.register_profile("whatever-the-clock", deadline=None)
settings.load_profile("whatever-the-clock")


@pytest.fixture(autouse=True)
def _no_workspace_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test read the `.env` of a workspace that an earlier one worked on."""
    monkeypatch.setattr(secrets._Chosen, "workspace", None)


# Folders whose files take minutes, first: else the last of them runs while other cores rest.
_LONG_FIRST = ("e2e", "laws", "parsing", "knowledge", "evaluation")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of long folders first (with `--no-loadscope-reorder`)."""

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(item.config.rootpath / "rag_assets_tests").parts[0]
        return _LONG_FIRST.index(folder) if folder in _LONG_FIRST else len(_LONG_FIRST)

    items.sort(key=place)
