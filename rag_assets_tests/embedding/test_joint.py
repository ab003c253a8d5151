"""One tokenizer for several models: what it lets pass fits each of them."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.chunking import chunk_document
from rag_assets.embedding import EmbeddingTokenizer, can_read, joint_tokenizer
from rag_assets.embedding.models import JointTokenizer, _most_tokens, load_tokenizer
from rag_assets.model.settings import EmbedSettings, ModelSettings
from rag_assets_tests.chunking.fakes import (
    LetterTokenizer,
    any_documents,
    any_texts,
    chunk_settings,
)

MINILM = ModelSettings(kind="bundled", model="all-MiniLM-L6-v2")
E5 = ModelSettings(kind="bundled", model="multilingual-e5-small")


class Words(LetterTokenizer):
    """Counts words; remembers what it was asked to count."""

    def __init__(self, limit: int, unknown: float = 0.0) -> None:
        super().__init__(limit)
        self.fingerprint = f"words {limit} {unknown}"
        self.unknown = unknown
        self.asked: list[str] = []

    def count(self, texts: Sequence[str]) -> list[int]:
        self.asked += texts
        return super().count(texts)

    def unknown_share(self, text: str) -> float:
        return self.unknown if text else 0.0


class Characters(Words):
    """Every visible character a token."""

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [(i, i + 1) for i, character in enumerate(text) if not character.isspace()]


@settings(deadline=None, max_examples=200)
@given(any_documents(), st.integers(5, 40), st.integers(5, 60))
def test_every_chunk_fits_every_model(document, words, characters) -> None:  # type: ignore[no-untyped-def]
    first, other = Words(words), Characters(characters)
    joint = JointTokenizer(first, [other])
    _, chunks = chunk_document(document, chunk_settings(context="headings"), joint)
    for chunk in chunks:
        given_text = f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text
        assert first.count([given_text])[0] <= max(first.limit, 1)
        assert other.count([given_text])[0] <= other.limit
        assert chunk.input_tokens <= joint.limit


@given(any_texts)
def test_count_is_the_first_models_unless_another_cannot_hold_the_text(text: str) -> None:
    first, other = Words(1000), Characters(12)
    joint = JointTokenizer(first, [other])
    (count,) = joint.count([text])
    if other.count([text])[0] <= other.limit:
        assert count == first.count([text])[0]
    else:
        assert count > joint.limit


def test_other_models_are_asked_only_where_a_text_could_be_too_long() -> None:
    first, other = Words(1000), Characters(100)
    JointTokenizer(first, [other]).count(["short", "x" * 300, "also short"])
    assert other.asked == ["x" * 300]
    assert len(first.asked) == 3


def test_limit_is_the_smallest_and_a_single_model_speaks_for_itself() -> None:
    assert JointTokenizer(Words(300), [Words(200), Words(250)]).limit == 200
    alone = joint_tokenizer(EmbedSettings(models=[MINILM]))
    assert alone.fingerprint == load_tokenizer(MINILM).fingerprint


def test_order_of_the_other_models_changes_nothing_and_the_first_does() -> None:
    a, b, c = Words(10), Words(20), Words(30)
    assert JointTokenizer(a, [b, c]).fingerprint == JointTokenizer(a, [c, b]).fingerprint
    assert JointTokenizer(a, [b, c]).fingerprint != JointTokenizer(b, [a, c]).fingerprint
    assert JointTokenizer(a, [b]).fingerprint != a.fingerprint


@pytest.mark.parametrize("model", [MINILM, E5], ids=lambda model: model.model)
@given(text=st.one_of(any_texts, st.text(max_size=60)))
@settings(deadline=None, max_examples=300)
def test_no_tokenizer_makes_more_tokens_than_the_bound(model: ModelSettings, text: str) -> None:
    text = text.encode("utf-8", "replace").decode("utf-8")
    assert load_tokenizer(model).count([text])[0] <= _most_tokens(text)


def test_text_that_one_model_takes_for_a_single_word_is_cut_for_the_other() -> None:
    thai = "การเปลี่ยนแปลงสภาพภูมิอากาศส่งผลต่อผลผลิตข้าว" * 60
    minilm, e5 = load_tokenizer(MINILM), load_tokenizer(E5)
    joint = joint_tokenizer(EmbedSettings(models=[MINILM, E5]))
    assert minilm.count([thai])[0] <= minilm.limit
    assert e5.count([thai])[0] > e5.limit
    assert joint.count([thai])[0] > joint.limit


@pytest.mark.parametrize(("share", "expected"), [(0.0, True), (0.2, True), (0.21, False)])
def test_model_reads_what_it_knows_four_fifths_of(share: float, expected: bool) -> None:
    tokenizer: EmbeddingTokenizer = Words(10, unknown=share)
    assert can_read(tokenizer, "text") is expected


def test_minilm_reads_english_and_no_chinese() -> None:
    tokenizer = load_tokenizer(MINILM)
    assert can_read(tokenizer, "Cool roofs reflect sunlight.")
    assert not can_read(tokenizer, "违约金过分高于造成的损失的，当事人可以请求适当减少。")
