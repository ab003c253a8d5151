"""What was taught: its file, its card, and what it is for."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.embedding import taught
from rag_assets.embedding.taught import load_finder, pack, read_taught, unpack
from rag_assets.model import DamagedFileError
from rag_assets.workspace import configs_folder

NAMES = pytest.mark.parametrize("name", ["reader", "finder"])


@NAMES
def test_card_names_a_free_licence_of_every_set(name: str) -> None:
    card = json.loads((configs_folder() / f"{name}.json").read_text(encoding="utf-8"))
    licences = {one["licence"] for one in card["data"].values()}
    assert licences
    assert not [one for one in licences if "NC" in one or "unknown" in one.lower()]
    assert card["curve"]


@NAMES
def test_altered_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: taught.TaughtName
) -> None:
    card = f"{name}.json"
    (tmp_path / card).write_bytes((configs_folder() / card).read_bytes())
    (tmp_path / f"{name}.npz").write_bytes(b"other")
    monkeypatch.setattr(taught, "configs_folder", lambda: tmp_path)
    with pytest.raises(DamagedFileError, match=card):
        read_taught(name)


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


@pytest.mark.parametrize(
    ("question", "answers", "beside"),
    [
        (
            "How much cooler are planted roofs?",
            "Roofs with sedum stayed 16 degrees below those of bitumen.",
            "Planted roofs were chosen in five streets, and each was visited twice a week.",
        ),
        (
            "房东可以随时涨房租吗？",
            "租赁期限内，出租人不得单方面提高租金。",
            "出租人应当按照约定将租赁物交付承租人。",
        ),
        (
            "Why did the authors not measure at night?",
            "夜间没有测量，因为记录仪的电池只能用十小时。",
            "夜间的测量数据见表3。",
        ),
    ],
)
def test_what_answers_is_nearer_than_what_repeats_the_words(
    question: str, answers: str, beside: str
) -> None:
    finder = load_finder()
    near, far = finder.encode_passages([answers, beside]) @ finder.encode_queries([question])[0]
    assert near > far
