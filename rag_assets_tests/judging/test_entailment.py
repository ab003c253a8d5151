"""Scorer `nli`: a tiny entailment model made here."""

from pathlib import Path
from typing import Any

import pytest

from rag_assets.judging import load_scorer
from rag_assets.local_models import add_from_path
from rag_assets.model import ConfigurationError
from rag_assets.settings import EntailmentSettings, VerifySettings
from rag_assets.workspace import shipped_settings
from rag_assets_tests.judging.sentences import passage

CLAIM = ("Yields rose in 2019.", [passage("Yields rose."), passage("Nothing else did.")])


def _settings(model: str | None = None) -> VerifySettings:
    chosen = EntailmentSettings(model=model, threshold=0.5, weak_threshold=0.25)
    return shipped_settings(None).verify.model_copy(update={"scorer": "nli", "nli": chosen})


def _tiny_encoder(folder: Path, labels: dict[int, str]) -> str:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "yields", "rose", "nothing", "else", "did"]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast: Any = PreTrainedTokenizerFast
    fast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=32,
    ).save_pretrained(folder)  # fmt: skip
    import torch

    torch.manual_seed(7)
    make: Any = BertConfig
    config = make(
        vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8, max_position_embeddings=32, num_labels=len(labels), id2label=labels,
        label2id={name: number for number, name in labels.items()},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def test_an_nli_model_is_read_by_its_classes(tmp_path: Path) -> None:
    labels = {0: "contradiction", 1: "ENTAILMENT", 2: "neutral"}
    scorer = load_scorer(_settings(_tiny_encoder(tmp_path, labels)))
    (judgement,) = scorer.judge([CLAIM])
    assert 0 < judgement.score < 1
    assert scorer.judge([CLAIM, CLAIM]) == [judgement, judgement]


def test_a_model_without_entailment_is_refused(tmp_path: Path) -> None:
    scorer = load_scorer(_settings(_tiny_encoder(tmp_path, {0: "good", 1: "bad"})))
    with pytest.raises(ConfigurationError, match="entailment"):
        scorer.judge([CLAIM])


def test_one_logit_is_a_probability(tmp_path: Path) -> None:
    scorer = load_scorer(_settings(_tiny_encoder(tmp_path, {0: "score"})))
    (judgement,) = scorer.judge([CLAIM])
    assert 0 < judgement.score < 1


def test_a_model_that_is_not_named_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"verify\.nli\.model"):
        load_scorer(_settings())


def test_a_model_of_the_cache_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_MODELS", str(tmp_path / "models"))
    folder = Path(_tiny_encoder(tmp_path / "made", {0: "score"}))
    add_from_path(tmp_path / "models", "tiny-nli", folder, lambda _sentence: None)
    by_folder, by_name = load_scorer(_settings(str(folder))), load_scorer(_settings("tiny-nli"))
    assert by_folder.judge([CLAIM]) == by_name.judge([CLAIM])
    assert by_folder.fingerprint == by_name.fingerprint


def test_a_name_that_is_not_there_says_how_to_add_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_MODELS", str(tmp_path))
    with pytest.raises(ConfigurationError, match="rag models add nowhere-nli"):
        load_scorer(_settings("nowhere-nli")).judge([CLAIM])
