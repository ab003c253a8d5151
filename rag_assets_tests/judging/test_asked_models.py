"""Scorer `model`: a tiny NLI model made here, and a language model that follows a script."""

from pathlib import Path
from typing import Any

import pytest

from rag_assets.judging import load_scorer
from rag_assets.llm import ScriptedModel, read_script
from rag_assets.model import AnswerError, ConfigurationError
from rag_assets.workspace import shipped_settings
from rag_assets.workspace.settings import JudgeModelSettings, VerifySettings
from rag_assets_tests.judging.sentences import passage

CLAIM = ("Yields rose in 2019.", [passage("Yields rose."), passage("Nothing else did.")])


def _settings(provider: str, model: str | None = None) -> VerifySettings:
    chosen = JudgeModelSettings.model_validate(
        {"provider": provider, "model": model, "threshold": 0.5, "weak_threshold": 0.25}
    )
    return shipped_settings(None).verify.model_copy(update={"scorer": "model", "model": chosen})


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
    scorer = load_scorer(_settings("nli", _tiny_encoder(tmp_path, labels)))
    (judgement,) = scorer.judge([CLAIM])
    assert 0 < judgement.score < 1
    assert scorer.judge([CLAIM, CLAIM]) == [judgement, judgement]


def test_a_model_without_entailment_is_refused(tmp_path: Path) -> None:
    scorer = load_scorer(_settings("nli", _tiny_encoder(tmp_path, {0: "good", 1: "bad"})))
    with pytest.raises(ConfigurationError, match="entailment"):
        scorer.judge([CLAIM])


def test_one_logit_is_a_probability(tmp_path: Path) -> None:
    scorer = load_scorer(_settings("cross_encoder", _tiny_encoder(tmp_path, {0: "score"})))
    (judgement,) = scorer.judge([CLAIM])
    assert 0 < judgement.score < 1


def test_a_model_that_is_not_named_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"verify\.model\.model"):
        load_scorer(_settings("nli"))


def _chat(folder: Path, text: str) -> ScriptedModel:
    (folder / "answers.yaml").write_text(text, encoding="utf-8")
    return ScriptedModel(read_script(folder / "answers.yaml"))


def test_a_language_model_answers_by_a_schema(tmp_path: Path) -> None:
    chat = _chat(
        tmp_path,
        "answers:\n"
        "  - when: Yields rose\\.$\n"
        "    data: {verdict: supported, probability: 0.9, reason: It says so.}\n"
        "  - data: {verdict: not_found, probability: 0.9, reason: Not there.}\n",
    )
    (judgement,) = load_scorer(_settings("llm"), chat=chat).judge([CLAIM])
    assert (judgement.status, judgement.reason, judgement.passage) == ("OK", "It says so.", 0)


def test_a_contradiction_of_a_language_model_is_missing(tmp_path: Path) -> None:
    chat = _chat(
        tmp_path,
        "answers:\n  - data: {verdict: contradicted, probability: 0.9, reason: It fell.}\n",
    )
    (judgement,) = load_scorer(_settings("llm"), chat=chat).judge([CLAIM])
    assert (judgement.status, judgement.reason_code) == ("MISSING", "contradicted")


def test_an_answer_beside_the_schema_is_an_error(tmp_path: Path) -> None:
    chat = _chat(tmp_path, "answers:\n  - answer: I think so\n")
    with pytest.raises(AnswerError):
        load_scorer(_settings("llm"), chat=chat).judge([CLAIM])


def test_llm_without_a_language_model_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"llm\.kind"):
        load_scorer(_settings("llm"))
