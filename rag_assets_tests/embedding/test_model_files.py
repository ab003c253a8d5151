"""What is read from a model's folder without loading the model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.embedding import load_tokenizer, model_dimension, model_fingerprint
from rag_assets.model import ConfigurationError
from rag_assets.workspace.settings import EmbedSettings


def settings(model: str = "all-MiniLM-L6-v2", kind: str = "sentence_transformers") -> EmbedSettings:
    return EmbedSettings.model_validate({"kind": kind, "model": model, "batch_size": 8})


@pytest.fixture
def small_model(tmp_path: Path) -> Path:
    """A folder with everything but weights: five words, 16 places, prompts."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "passage": 3, "light": 4, "yield": 5}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=8)
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    contents = {
        "modules.json": [],
        "tokenizer_config.json": {"unk_token": "[UNK]"},
        "sentence_bert_config.json": {"max_seq_length": 16},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "passage": "passage: "}
        },
        "1_Pooling/config.json": {"word_embedding_dimension": 12},
    }
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def test_the_limit_leaves_room_for_special_tokens_and_the_prompt(small_model: Path) -> None:
    assert load_tokenizer(settings(str(small_model))).limit == 16 - 2 - 2


def test_minilm_takes_254_tokens_of_content() -> None:
    tokenizer = load_tokenizer(settings())
    assert tokenizer.limit == 254
    assert tokenizer.count(["light " * 1_000, "", "Light!"]) == [1_000, 0, 2]
    assert model_dimension(settings()) == 384


def test_counts_are_neither_truncated_nor_padded(small_model: Path) -> None:
    assert load_tokenizer(settings(str(small_model))).count(["light " * 9, "yield"]) == [9, 1]


def test_token_spans_are_code_points() -> None:
    text = "𝔘 naïve e\u0301x 光合"
    spans = load_tokenizer(settings()).token_spans(text)
    assert [text[start:end] for start, end in spans][-2:] == ["光", "合"]


def test_the_unknown_share_tells_what_a_model_cannot_read(small_model: Path) -> None:
    small = load_tokenizer(settings(str(small_model)))
    assert small.unknown_share("light yield dark night") == 0.5
    assert small.unknown_share("") == 0.0
    minilm = load_tokenizer(settings())
    assert minilm.unknown_share("Light increases the yield.") == 0.0
    assert minilm.unknown_share("光照显著提高了类胡萝卜素的产量。") > 0.3
    assert load_tokenizer(settings(kind="hashing")).unknown_share("光照") == 0.0


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "config_sentence_transformers.json", "1_Pooling/config.json"]
)
def test_a_changed_model_file_changes_the_fingerprint(small_model: Path, name: str) -> None:
    before = model_fingerprint(settings(str(small_model)))
    assert model_fingerprint(settings(str(small_model))) == before
    (small_model / name).write_text((small_model / name).read_text() + "\n")
    assert model_fingerprint(settings(str(small_model))) != before


def test_weights_of_the_same_size_have_another_fingerprint(small_model: Path) -> None:
    weights = small_model / "model.safetensors"
    weights.write_bytes(b"one")
    before = model_fingerprint(settings(str(small_model)))
    other = small_model / "other"
    other.write_bytes(b"two")
    other.replace(weights)
    assert model_fingerprint(settings(str(small_model))) != before


def test_a_readme_and_the_folder_s_place_do_not_change_the_fingerprint(small_model: Path) -> None:
    before = model_fingerprint(settings(str(small_model)))
    (small_model / "README.md").write_text("words")
    moved = small_model.rename(small_model.with_name("elsewhere"))
    assert model_fingerprint(settings(str(moved))) == before


def test_batch_size_is_no_part_of_the_fingerprint() -> None:
    changed = settings().model_copy(update={"batch_size": 1})
    assert model_fingerprint(changed) == model_fingerprint(settings())
    assert model_fingerprint(settings(kind="hashing")) != model_fingerprint(settings())


@pytest.mark.parametrize("ask", [load_tokenizer, model_fingerprint, model_dimension])
def test_an_unknown_model_is_an_error_that_says_what_works(ask, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"all-MiniLM-L6-v2.*never downloaded.*hashing"):
        ask(settings("bge-large"))
    with pytest.raises(ConfigurationError, match=r"no modules\.json"):
        ask(settings(str(tmp_path)))


def test_a_model_that_does_not_state_its_length_is_refused(small_model: Path) -> None:
    (small_model / "sentence_bert_config.json").unlink()
    with pytest.raises(ConfigurationError, match="max_seq_length"):
        load_tokenizer(settings(str(small_model)))


def test_tokenizer_and_fingerprint_import_no_torch() -> None:
    code = (
        "import sys; from rag_assets.workspace.settings import EmbedSettings as E; "
        "from rag_assets.embedding import load_tokenizer, model_dimension, model_fingerprint; "
        "s = E(kind='sentence_transformers', model='all-MiniLM-L6-v2', batch_size=8); "
        "load_tokenizer(s), model_fingerprint(s), model_dimension(s); "
        "print([m for m in ('torch', 'sentence_transformers', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
