"""The model that reads pairs, as it is shipped."""

import numpy as np

from rag_assets.embedding.taught import (
    MOST_TOKENS,
    load_pair_model,
    pair_ids,
)

SOURCE = "Wages rose by 12 percent after the reform, while rents held steady in most towns."
PAIRS = [
    ("How much did wages rise after the reform?", SOURCE),
    ("Rents did not change in most towns.", SOURCE),
    ("改革后工资上涨了多少？", SOURCE),
]


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
        assert answered.answers > not_answered.answers
        assert answered.relevant > not_answered.relevant
