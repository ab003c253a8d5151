from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.model.settings import ParseSettings

SHIPPED = Path(__file__).resolve().parents[2] / "configs" / "rag.yaml"
# Smaller than shipped, so that a test that goes wrong ends soon.
LIMITS: dict[str, Any] = {
    "workers": 1,
    "seconds_per_document": 60.0,
    "megabytes_of_memory": 1024,
    "max_pages": 500,
    "max_megabytes": 50,
}


def make_settings(**changes: Any) -> ParseSettings:
    shipped = yaml.safe_load(SHIPPED.read_text())["parse"]
    return ParseSettings(**{**shipped, **LIMITS, **changes})


@pytest.fixture
def settings() -> ParseSettings:
    return make_settings()
