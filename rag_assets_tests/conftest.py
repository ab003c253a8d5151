import pytest
from hypothesis import settings

from rag_assets.workspace import secrets

# The clock decides nothing: beside other processes an example of a millisecond may take a second.
settings.register_profile("whatever-the-clock", deadline=None)
settings.load_profile("whatever-the-clock")


@pytest.fixture(autouse=True)
def _no_workspace_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test read the `.env` of a workspace that an earlier one worked on."""
    monkeypatch.setattr(secrets._Chosen, "workspace", None)
