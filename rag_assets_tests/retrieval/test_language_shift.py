"""Questions over passages in another language."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import load_query_encoder, model_fingerprint
from rag_assets.model.settings import ModelSettings
from rag_assets.retrieval import AskedQuery, SearchFilters
from rag_assets.retrieval.candidates import collect
from rag_assets.retrieval.filters import EVERYTHING
from rag_assets.retrieval.languages import (
    STORED,
    VECTORS_FILE,
    read_texts,
    stored_questions,
    usual_questions,
    vectors_for,
)
from rag_assets_tests.retrieval.made_up_readers import MadeUpReader, configured, hit, readers

# Two questions in each language; of length 1, with the means (0.6, 0) and (0, 0.8).
USUAL = {"en": [[0.6, 0.8], [0.6, -0.8]], "zh": [[0.6, 0.8], [-0.6, 0.8]]}
CHINESE = AskedQuery("气温", "zh", {"q_zh": "气温"}, {"M": [[0.5, 0.5]]})


@pytest.fixture(autouse=True)
def centres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {
        language: base64.b64encode(np.array(rows, STORED).tobytes()).decode()
        for language, rows in USUAL.items()
    }
    content = {"models": [{"fingerprints": ["M"], "dimension": 2, "vectors": vectors}]}
    (tmp_path / VECTORS_FILE).write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setattr("rag_assets.retrieval.languages.configs_folder", lambda: tmp_path)


def test_a_question_moves_by_the_difference_of_the_centres() -> None:
    (moved,) = vectors_for(CHINESE, "M", {"en": 3})
    assert moved == pytest.approx([1.1, -0.3], abs=1e-3)
    english = AskedQuery("heat", "en", {"q_en": "heat"}, {"M": [[0.5, 0.5]]})
    (moved,) = vectors_for(english, "M", {"zh": 3, "en": 2})
    assert moved == pytest.approx([-0.1, 1.3], abs=1e-3)


@pytest.mark.parametrize(
    ("query", "passages"),
    [
        (CHINESE, {"zh": 1}),
        (CHINESE, {"zh": 3, "en": 2}),
        (CHINESE, {"other": 1}),
        (CHINESE, {}),
        (AskedQuery("Wärme", "other", {"q": "Wärme"}, {"M": [[0.5, 0.5]]}), {"en": 1}),
        (
            AskedQuery("气温", "zh", {"q_zh": "气温", "q_en": "heat"}, {"M": [[0.5, 0.5]]}),
            {"en": 1},
        ),
    ],
)
def test_it_stays_in_its_own_language_and_where_no_centre_is_known(
    query: AskedQuery, passages: dict[str, int]
) -> None:
    assert vectors_for(query, "M", passages) == [[0.5, 0.5]]


def test_a_model_without_centres_moves_nothing() -> None:
    query = AskedQuery("气温", "zh", {"q_zh": "气温"}, {"other": [[0.5, 0.5]]})
    assert vectors_for(query, "other", {"en": 3}) == [[0.5, 0.5]]


def test_a_search_asks_with_the_moved_vector() -> None:
    asked: list[Sequence[float]] = []

    class Listening(MadeUpReader):
        def rank_vectors(
            self, fingerprint: str, vector: Sequence[float], limit: int, filters: SearchFilters
        ) -> list[tuple[str, float]]:
            asked.append(vector)
            return super().rank_vectors(fingerprint, vector, limit, filters)

    reader = Listening([hit("a:0", text="Leaves close.")], cosines={"m": {"a:0": 0.5}})
    collect(readers(reader), CHINESE, configured(), EVERYTHING)
    assert asked == [pytest.approx([1.1, -0.3], abs=1e-3)]


def test_questions_that_are_not_stored_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    model = ModelSettings(kind="hashing", model="words")
    found = usual_questions("not stored", model)
    assert set(found) == {"en", "zh"}
    assert len(found["en"]) == len(found["zh"]) >= 40
    for rows in found.values():
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0)


@pytest.mark.model
def test_the_stored_questions_are_those_of_the_shipped_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    model = ModelSettings(kind="bundled", model="multilingual-e5-small")
    stored = stored_questions(model_fingerprint(model))
    english, chinese = read_texts()[3]
    again = load_query_encoder(model).encode_queries([english, chinese])
    assert again[0] @ stored["en"][3] > 0.9999
    assert again[1] @ stored["zh"][3] > 0.9999


@pytest.mark.model
def test_the_shipped_centres_bring_a_question_nearer_to_its_translation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    model = ModelSettings(kind="bundled", model="multilingual-e5-small")
    chinese, english = "城市公园能降低多少气温？", "How much do city parks lower the temperature?"
    theirs, own = load_query_encoder(model).encode_queries([chinese, english])
    fingerprint = model_fingerprint(model)
    query = AskedQuery(chinese, "zh", {"q_zh": chinese}, {fingerprint: [theirs.tolist()]})
    (moved,) = vectors_for(query, fingerprint, {"en": 9})
    assert np.linalg.norm(np.array(moved) - own) < 0.9 * np.linalg.norm(theirs - own)
