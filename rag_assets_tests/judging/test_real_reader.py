"""The shipped reader itself, where it is on this machine."""

from pathlib import Path

import pytest

from rag_assets.judging.facts import ShownSentence
from rag_assets.judging.readers import OddsReader
from rag_assets.llm import open_local_model
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
    claim, sentence = "Yields rose by 12% in 2019.", "Yields rose by 12% in 2019, to 5.1 t/ha."
    shown = [ShownSentence(sentence, 0, (0, len(sentence)))]
    reading = OddsReader(open_local_model(kept.name)).read(claim, shown)
    assert reading.logit is not None
    assert reading.logit > 0
