"""The shipped reader itself, where it is on this machine."""

from pathlib import Path

import pytest

from rag_assets.judging import try_model
from rag_assets.llm.local import has_runtime
from rag_assets.llm.local_models import default_reader, find_model


@pytest.mark.model
def test_the_shipped_reader_tells_what_a_sentence_says(kept_models: Path) -> None:
    kept = find_model(kept_models, default_reader()) if has_runtime() else None
    if kept is None:
        pytest.skip(
            f"the reader is not on this machine: pip install 'rag-assets[reader]', then "
            f"rag models add {default_reader()}"
        )
    answer, is_right = try_model(kept)
    assert is_right, answer
