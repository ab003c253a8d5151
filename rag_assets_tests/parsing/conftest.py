from typing import Any

import pytest

from rag_assets.workspace.settings import ParseSettings

DEFAULTS: dict[str, Any] = {
    "workers": 1,
    "seconds_per_document": 60.0,
    "megabytes_of_memory": 1024,
    "max_pages": 500,
    "max_megabytes": 50,
    "max_attempts": 3,
    "repeated_line_share": 0.6,
}


def make_settings(**changes: Any) -> ParseSettings:
    return ParseSettings(**{**DEFAULTS, **changes})


@pytest.fixture
def settings() -> ParseSettings:
    return make_settings()
