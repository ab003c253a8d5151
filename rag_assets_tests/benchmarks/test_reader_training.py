"""Examples and training of the small reader."""

import json
import math
import random
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.reader import train, train_finder
from benchmarks.reader.changes import FRAMES, changed
from benchmarks.reader.packing import Asked, layer_names, write_questions
from benchmarks.reader.train import OUTPUTS, PairReader, area, loss_of, support_log_odds
from benchmarks.reader.train_finder import Questions


@pytest.mark.parametrize(
    "said",
    [
        "Mortality fell from 12.5 % to 8.1 % in the DRUG group and rose in the PLACEBO group.",
        "树荫下气温比裸地低2.3 ℃，差异显著。",
    ],
)
def test_a_changed_sentence_is_another_each_time(said: str) -> None:
    made = [other for seed in range(20) for other in changed(said, random.Random(seed), 3)]
    assert len(set(made)) > 5
    assert said not in made
    assert all(math.isclose(len(other), len(said), abs_tol=20) for other in made)


def test_every_frame_holds_the_sentence() -> None:
    assert all(frame.count("{}") == 1 and frame.strip() != "{}" for frame in FRAMES)


def test_the_loss_of_each_label_falls_with_its_own_score() -> None:
    wanted = {0: [(0, 9.0)], 1: [(1, 9.0)], 2: [(2, 9.0)], 3: [(0, -9.0)], 4: [(3, 9.0)]}
    wanted |= {5: [(3, -9.0)], 6: [(4, 9.0)], 7: [(4, -9.0)]}
    for label, put in wanted.items():
        plain, sure = torch.zeros(1, OUTPUTS), torch.zeros(1, OUTPUTS)
        for output, score in put:
            sure[0, output] = score
        label_of = torch.tensor([label])
        assert loss_of(sure, label_of) < 0.01 < loss_of(plain, label_of)
        assert loss_of(-sure, label_of) > loss_of(plain, label_of)


def test_the_odds_are_those_of_supported() -> None:
    assert support_log_odds(torch.tensor([[2.0, 0.0, 0.0, 9.0, 9.0]])).item() == pytest.approx(
        2 - math.log(2)
    )


def test_the_area_counts_ties_half() -> None:
    assert area(np.array([3.0, 2.0, 1.0]), np.array([True, False, False])) == 1
    assert area(np.array([1.0, 1.0]), np.array([True, False])) == 0.5
    assert math.isnan(area(np.array([1.0]), np.array([True])))


def _encoder(hidden: int = 8, inner: int = 16, layers: int = 2) -> dict[str, np.ndarray]:
    dice = np.random.default_rng(1)
    sizes = {
        "intermediate.dense.weight": (inner, hidden), "intermediate.dense.bias": (inner,),
        "position_embeddings.weight": (12, hidden), "token_type_embeddings.weight": (1, hidden),
    }  # fmt: skip
    arrays = {"rows": dice.integers(-9, 9, (5, hidden), np.int8), "scales": np.ones((5, 1), "f4")}
    arrays |= {"heads": np.array(2), "epsilon": np.array(1e-12)}
    for name in layer_names(layers):
        size = next((size for end, size in sizes.items() if name.endswith(end)), None)
        if size is None:
            inside = (
                inner
                if name.endswith("output.dense.weight") and "attention" not in name
                else hidden
            )
            is_vector = name.endswith("bias") or "LayerNorm" in name
            size = (hidden,) if is_vector else (hidden, inside)
        arrays[name] = dice.normal(size=size).astype(np.float16)
    return arrays


def test_padding_changes_no_score_and_lower_layers_stay(tmp_path: Path) -> None:
    torch.manual_seed(1)
    model = PairReader(_encoder(), first_layer=1).eval()
    alone = model(torch.tensor([[0, 1, 2]]), torch.tensor([3]))
    padded = model(torch.tensor([[0, 1, 2, 4, 4], [0, 1, 2, 3, 2]]), torch.tensor([3, 5]))
    assert torch.allclose(alone[0], padded[0], atol=1e-5)
    np.savez(tmp_path / "weights.npz", **model.arrays())
    taught = np.load(tmp_path / "weights.npz").files
    assert "encoder.layer.1.output.dense.weight" in taught
    assert not [name for name in taught if ".0." in name]
    assert [
        name for name, one in model.named_parameters() if one.requires_grad and "layers.0." in name
    ] == []


def test_training_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez(tmp_path / "encoder.npz", **_encoder())
    np.savez(
        tmp_path / "examples.npz",
        tokens=np.tile(np.array([0, 1, 2], np.uint16), 40),
        lengths=np.full(40, 3, np.uint16),
        labels=np.arange(40, dtype=np.uint8) % 8,
        folds=np.arange(40, dtype=np.uint8) % 5,
        origins=np.zeros(40, np.uint8),
        origin_names=np.array(["drafts"]),
    )
    given = Namespace(
        start=None, examples=99, most_tokens=9, open_share=1.0, first_layer=1, epochs=2, batch=4,
        rate=1e-3, every=5, most_aside=8, seed=7,
    )  # fmt: skip
    looked = train.look

    def stopped(*asked: object) -> dict[str, float]:
        if (tmp_path / "out" / "state.pt").exists():
            raise KeyboardInterrupt
        return looked(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(train, "look", stopped)
    with pytest.raises(KeyboardInterrupt):
        train.teach(tmp_path, tmp_path / "out", given)
    monkeypatch.setattr(train, "look", looked)
    train.teach(tmp_path, tmp_path / "out", given)
    lines = (tmp_path / "out" / "curve.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [5, 10, 15, 16]
    given.start = tmp_path / "out" / "weights.npz"
    begun = train.begin(tmp_path, given).arrays()
    with np.load(given.start) as taught:
        assert {name for name in begun if not np.array_equal(begun[name], taught[name])} == set()
        assert set(taught) == set(begun)


def test_a_question_comes_nearer_to_what_answers_it(tmp_path: Path) -> None:
    encoder = _encoder(layers=1) | {"rows": np.eye(5, 8, dtype=np.int8) * 3}
    np.savez(tmp_path / "encoder.npz", **encoder)
    texts = ["ask 1", "ask 2", "say 1", "say 2", "no 1", "no 2"]
    ids = [[0, 1], [0, 2], [3, 1], [3, 2], [0, 1, 4], [0, 2, 4]]
    asked = [
        Asked("ask 1", ["say 1"], ["no 1", "say 2"], "b"),
        Asked("ask 2", ["say 2"], ["no 2", "say 1"], "c"),
        Asked("ask 2", ["say 2"], ["no 2", "say 1"], "f"),  # of the folds that are kept aside
    ]
    write_questions(tmp_path / "questions.npz", asked, texts, ids, np.arange(5))
    questions = Questions(tmp_path / "questions.npz")
    assert [questions.texts[place].tolist() for place in questions.wrong[1]] == [ids[5], ids[2]]
    given = Namespace(
        start=None, first_layer=0, epochs=40, batch=2, wrong=2, rate=1e-2, every=80, seed=7
    )

    def loss() -> float:
        model = train.begin(tmp_path, given, dropout=0.0)
        return train_finder.loss_of(
            model, questions, np.arange(2), 2, np.random.default_rng(1), "cpu"
        ).item()

    before = loss()
    train_finder.teach(tmp_path, tmp_path / "out", given)
    given.start = tmp_path / "out" / "weights.npz"
    assert loss() < before / 4
