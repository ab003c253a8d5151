from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from rag_assets.embedding.remote import tokenizer
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import ModelSettings

BASE = ModelSettings(kind="openai_compatible", model="m", max_tokens=300)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tokenizer that knows two words and was left with truncation and padding on."""
    made = Tokenizer(models.WordLevel({"[UNK]": 0, "known": 1, "word": 2}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.enable_truncation(3)
    made.enable_padding(length=3)
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_without_a_tokenizer_words_stand_for_tokens_and_the_limit_is_smaller() -> None:
    found = tokenizer(BASE)
    assert found.count(["three short words", "三个字"]) == [3, 3]
    assert found.token_spans("a bc") == [(0, 1), (2, 4)]
    assert found.limit == 200
    assert found.unknown_share("Ж") == 0.0


@pytest.mark.parametrize("as_folder", [False, True])
def test_a_tokenizer_of_ones_own_counts_whole_texts(file: Path, as_folder: bool) -> None:
    name = str(file.parent if as_folder else file)
    found = tokenizer(BASE.model_copy(update={"tokenizer": name, "max_tokens": 100}))
    assert found.count(["known word known word known", "known"]) == [5, 1]
    assert found.unknown_share("known 生 word 字") == 0.5
    assert found.limit == 98


def test_a_bundled_models_tokenizer_may_be_named() -> None:
    model = BASE.model_copy(update={"tokenizer": "all-MiniLM-L6-v2", "max_tokens": 8191})
    assert tokenizer(model).count(["photosynthesis"])[0] > 1
    assert tokenizer(model).limit == 8189


def test_the_prompt_takes_its_room() -> None:
    model = BASE.model_copy(update={"passage_prompt": "two words: "})
    assert tokenizer(model).limit == 198


def test_a_prompt_that_leaves_no_room_is_refused() -> None:
    model = BASE.model_copy(update={"passage_prompt": "word " * 99, "max_tokens": 16})
    with pytest.raises(ConfigurationError, match="leaves no room"):
        tokenizer(model)


def test_an_unknown_tokenizer_is_named() -> None:
    with pytest.raises(ConfigurationError, match="'nowhere' is neither"):
        tokenizer(BASE.model_copy(update={"tokenizer": "nowhere"}))


def test_another_limit_or_tokenizer_is_another_fingerprint(file: Path) -> None:
    changes: list[dict[str, object]] = [{}, {"max_tokens": 100}, {"tokenizer": str(file)}]
    found = {tokenizer(BASE.model_copy(update=change)).fingerprint for change in changes}
    assert len(found) == 3
