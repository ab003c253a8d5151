"""The model that reads pairs, as it is shipped."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.embedding import load_pair_model, pair_model
from rag_assets.embedding.pair_model import (
    CARD_FILE,
    MOST_TOKENS,
    WEIGHTS_FILE,
    pack,
    pair_ids,
    unpack,
)
from rag_assets.model import DamagedFileError
from rag_assets.workspace import configs_folder

SOURCE = "Wages rose by 12 percent after the reform, while rents held steady in most towns."
PAIRS = [
    ("How much did wages rise after the reform?", SOURCE),
    ("Rents did not change in most towns.", SOURCE),
    ("改革后工资上涨了多少？", SOURCE),
]


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_what_was_packed_is_packed_again_to_the_same_numbers(
    rows: int, columns: int, seed: int
) -> None:
    matrix = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
    once = pack({"a.weight": matrix, "a.bias": matrix[:, 0]})
    again = pack(unpack(once))
    assert np.array_equal(once["a.weight.numbers"], again["a.weight.numbers"])
    assert np.abs(unpack(once)["a.weight"] - matrix).max() <= np.abs(matrix).max() / 63
    assert np.array_equal(unpack(once)["a.bias"], matrix[:, 0])


def test_a_score_depends_on_the_pair_alone() -> None:
    model = load_pair_model()
    together = model.read([*PAIRS, PAIRS[0]])
    model._known = {}
    assert [model.read([pair])[0] for pair in (*PAIRS, PAIRS[0])] == together
    assert model.read([]) == []


def test_long_texts_are_cut_and_every_text_is_read() -> None:
    ids = pair_ids([("word " * 500, "word " * 5000), ("", ""), ("\x00", "🜁 " * 9)])
    assert max(map(len, ids)) == MOST_TOKENS
    assert all(np.isfinite(load_pair_model().read([("", ""), ("?", "\x00")])).ravel())


def test_sentences_that_say_it_score_above_others() -> None:
    other = "Bridges need paint every decade, and rust begins where two plates meet."
    said, not_said = load_pair_model().read(
        [("Wages rose after the reform.", SOURCE), ("Wages rose after the reform.", other)]
    )
    assert said.supports > not_said.supports
    assert said.relevant > not_said.relevant
    for question in (PAIRS[0][0], PAIRS[2][0]):
        answered, not_answered = load_pair_model().read([(question, SOURCE), (question, other)])
        # As quotes are chosen: `answers` was taught to tell sentences that are all near.
        chosen, other_one = (one.answers + one.relevant for one in (answered, not_answered))
        assert chosen > other_one


def test_card_names_a_free_licence_of_every_set() -> None:
    card = json.loads((configs_folder() / CARD_FILE).read_text(encoding="utf-8"))
    licences = {one["licence"] for one in card["data"].values()}
    assert licences
    assert not [one for one in licences if "NC" in one or "unknown" in one.lower()]
    assert card["curve"][-1]["step"] == card["curve"][-1]["of"]


def test_altered_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (WEIGHTS_FILE, CARD_FILE):
        (tmp_path / name).write_bytes((configs_folder() / name).read_bytes())
    (tmp_path / WEIGHTS_FILE).write_bytes(b"other")
    monkeypatch.setattr(pair_model, "configs_folder", lambda: tmp_path)
    with pytest.raises(DamagedFileError, match=CARD_FILE):
        load_pair_model.__wrapped__()
