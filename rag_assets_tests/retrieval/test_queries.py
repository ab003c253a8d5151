"""Languages, wordings, vectors and weights of a question."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.model import AnswerError
from rag_assets.publishing.content_words import passage_language
from rag_assets.retrieval import SearchFilters, detect_language, make_query, queries
from rag_assets.retrieval.fusion import Weights, load_weights
from rag_assets.retrieval.queries import without_idle
from rag_assets_tests.retrieval.made_up_readers import MadeUpReader, configured, hit, readers


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the effect of canopy cover?", "en"),
        ("CO2 reduction catalyst", "en"),
        ("MADS-box", "en"),
        ("树冠覆盖率与气温", "zh"),
        ("民法典第五百零九条", "zh"),
        ("CO2 electroreduction 的机理", "zh"),
        ("Cu2Mo2 催化剂的表面结构如何？", "zh"),
        ("What does 气候 mean?", "en"),
        ("Welche Wirkung hat die Temperatur auf das Blatt?", "other"),
        ("Quels sont les effets de la chaleur ?", "other"),
        ("気温はどのように変わりますか", "other"),
        ("Как влияет температура?", "other"),
    ],
)
def test_the_language_of_a_question_is_told(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("text", "stated", "language"),
    [
        ("Leaves close their stomata.", None, "en"),
        ("Leaves close their stomata.", "zh", "en"),
        ("Blätter schließen ihre Spalten.", "de", "other"),
        ("叶片的气孔导度下降 (Smith et al., 2020)。", None, "zh"),
        ("Wang 王 and Li 李 measured the leaves of many trees.", "en", "en"),
    ],
)
def test_the_language_of_a_passage_is_told(text: str, stated: str | None, language: str) -> None:
    assert passage_language(text, stated) == language


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> MadeUpReader:
    """A publication of `every`, which reads all, and `small`, which reads ASCII only."""
    from rag_assets.retrieval.queries import ModelSettings

    class WithSettings(MadeUpReader):
        @property
        def models(self) -> Any:
            found = super().models
            for model in found:
                object.__setattr__(
                    model, "settings", ModelSettings(kind="hashing", model=model.name)
                )
                object.__setattr__(model, "is_sparse", model.name == "sparse")
            return found

    monkeypatch.setattr(
        queries,
        "_readable",
        lambda model, texts: [t for t in texts if model.model == "every" or t.isascii()],
    )
    monkeypatch.setattr(
        "rag_assets.embedding.encode_questions",
        lambda _, texts, __: [[float(len(t))] for t in texts],
    )
    return WithSettings([], cosines={"small": {}, "every": {}})


def test_a_model_that_cannot_read_the_question_is_left_out_without_a_word(
    made_up: MadeUpReader,
) -> None:
    asked = make_query("气温", readers(made_up), configured())
    assert asked.texts == {"q_zh": "气温"}
    assert asked.vectors == {"EVERY": [[2.0]]}
    assert asked.warnings == ()


def test_words_alone_are_searched_and_said_where_no_model_can_read(made_up: MadeUpReader) -> None:
    made_up.cosines = {"small": {}}
    asked = make_query("气温", readers(made_up), configured())
    assert asked.vectors == {}
    assert "(small) can read the question: it was searched by words alone" in asked.warnings[0]
    semantic = make_query("气温", readers(made_up), configured(method="semantic"))
    assert semantic.vectors == {"SMALL": [[2.0]]}
    assert "may be unrelated" in semantic.warnings[0]


def test_lexical_search_encodes_nothing(made_up: MadeUpReader) -> None:
    assert make_query("heat", readers(made_up), configured(method="lexical")).vectors == {}


def test_a_rewriting_is_asked_beside_the_question_by_the_models_that_read_it(
    made_up: MadeUpReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_assets.llm.rewrite_question", lambda _, __: "heat")
    model: Any = object()
    asked = make_query("气温", readers(made_up), configured(), model)
    assert asked.texts == {"q_zh": "气温", "q_en": "heat"}
    assert asked.vectors == {"SMALL": [[4.0]], "EVERY": [[2.0], [4.0]]}
    assert asked.languages == {"zh", "en"}
    assert make_query("气温", readers(made_up), configured()).languages == {"zh"}


def test_an_answer_that_is_no_question_is_not_searched_but_said(
    made_up: MadeUpReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Any, __: str) -> str:
        raise AnswerError("the answer is empty", "")

    monkeypatch.setattr("rag_assets.llm.rewrite_question", refuse)
    model: Any = object()
    asked = make_query("气温", readers(made_up), configured(), model)
    assert asked.texts == {"q_zh": "气温"}
    assert asked.warnings == ("the answer is empty",)


EN, ZH = (hit(f"{name}:0", text=text) for name, text in (("a", "Leaves."), ("b", "叶片与气温。")))
ONLY_SMALL = {"kind": "weighted", "weights": {"lexical": 0.5, "small": 0.5, "every": 0.0}}


def test_a_model_that_weighs_nothing_does_not_encode_the_question(made_up: MadeUpReader) -> None:
    made_up.chunks = [EN]
    asked = make_query("heat", readers(made_up), configured(fusion=ONLY_SMALL))
    assert asked.vectors == {"SMALL": [[4.0]]}
    both = make_query("heat", readers(made_up), configured(fusion={"kind": "rrf"}))
    assert both.vectors.keys() == {"SMALL", "EVERY"}


def test_a_sparse_encoder_is_asked_for_hybrid_search_alone(made_up: MadeUpReader) -> None:
    made_up.cosines = {"small": {}, "every": {}, "sparse": {}}
    fusion = {"kind": "rrf"}
    hybrid = make_query("heat", readers(made_up), configured(fusion=fusion))
    assert hybrid.vectors.keys() == {"SMALL", "EVERY", "SPARSE"}
    for fused in ({"kind": "rrf"}, {"kind": "weighted"}):
        for text, models in (("heat", {"SMALL", "EVERY"}), ("气温", {"EVERY"})):
            settings = configured(method="semantic", fusion=fused)
            assert make_query(text, readers(made_up), settings).vectors.keys() == models


def test_it_does_where_another_model_cannot_read_the_question(made_up: MadeUpReader) -> None:
    made_up.chunks = [EN]
    asked = make_query("气温", readers(made_up), configured(fusion=ONLY_SMALL))
    assert asked.vectors == {"EVERY": [[2.0]]}


def test_the_languages_that_are_there_decide_what_weighs(
    made_up: MadeUpReader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = "  - {question: en, passage: en, weights: {lexical: 1, small: 1, every: 0}}\n"
    (tmp_path / "fusion.yaml").write_text(FILE + rows, encoding="utf-8")
    monkeypatch.setattr("rag_assets.retrieval.fusion.configs_folder", lambda: tmp_path)
    made_up.chunks = [EN]
    assert make_query("heat", readers(made_up), configured()).vectors.keys() == {"SMALL"}
    made_up.chunks = [EN, ZH]
    assert make_query("heat", readers(made_up), configured()).vectors.keys() == {"SMALL", "EVERY"}


def test_a_question_that_all_models_encoded_is_searched_as_a_user_asks_it(
    made_up: MadeUpReader,
) -> None:
    made_up.chunks = [EN]
    everything = SearchFilters()
    settings = configured(fusion=ONLY_SMALL)
    whole = make_query("heat", readers(made_up), configured(fusion={"kind": "rrf"}))
    assert without_idle(whole, readers(made_up), settings, everything) == make_query(
        "heat", readers(made_up), settings
    )
    chinese = make_query("气温", readers(made_up), settings)
    assert without_idle(chinese, readers(made_up), settings, everything) == chinese


def test_each_language_of_a_library_is_asked_by_the_models_that_weigh_there(
    made_up: MadeUpReader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = "  - {question: en, passage: en, weights: {lexical: 1, small: 1, every: 0}}\n"
    (tmp_path / "fusion.yaml").write_text(FILE + rows, encoding="utf-8")
    monkeypatch.setattr("rag_assets.retrieval.fusion.configs_folder", lambda: tmp_path)
    made_up.chunks = [EN, ZH]
    query = make_query("heat", readers(made_up), configured())
    for language, models in (("en", {"SMALL"}), ("zh", {"SMALL", "EVERY"})):
        filters = SearchFilters(passage_languages=(language,))
        found = without_idle(query, readers(made_up), configured(), filters)
        assert found.vectors.keys() == models


FILE = """
provenance: {made_by: a test}
fallback:
  same_language: {lexical: 0.4, models: 0.6}
  other_language: {lexical: 0.1, models: 0.9}
rows:
  - {question: en, passage: en, weights: {lexical: 1, a: 2}}
  - {question: en, passage: en, weights: {lexical: 1, a: 3, b: 4}}
"""


def test_a_set_takes_its_own_row_then_a_larger_one_then_the_rule() -> None:
    weights = Weights(None, yaml.safe_load(FILE))
    assert weights.of("en", "en", frozenset({"lexical", "a"})) == {"lexical": 1, "a": 2}
    assert weights.of("en", "en", frozenset({"a", "b"})) == {"a": 3, "b": 4}
    assert weights.of("en", "en", frozenset({"lexical", "x", "y"})) == {
        "lexical": 0.4,
        "x": 0.3,
        "y": 0.3,
    }
    assert weights.of("zh", "en", frozenset({"lexical", "x"})) == {"lexical": 0.1, "x": 0.9}


def test_sparse_encoders_share_the_weight_of_the_words_unless_they_have_a_row() -> None:
    row = "  - {question: en, passage: en, weights: {lexical: 1, a: 2, fitted: 5}}\n"
    weights = Weights(None, yaml.safe_load(FILE + row), frozenset({"s", "t", "fitted"}))
    found = weights.of("en", "en", frozenset({"lexical", "a", "s"}))
    assert found == {"lexical": 0.5, "a": 2, "s": 0.5}
    both = weights.of("en", "en", frozenset({"lexical", "x", "s", "t"}))
    assert both == pytest.approx({"lexical": 0.4 / 3, "x": 0.6, "s": 0.4 / 3, "t": 0.4 / 3})
    assert weights.of("en", "en", frozenset({"lexical", "a", "fitted"})) == {
        "lexical": 1,
        "a": 2,
        "fitted": 5,
    }


def test_the_shipped_weights_can_be_read() -> None:
    assert load_weights(configured().fusion, frozenset()).file["rows"]
