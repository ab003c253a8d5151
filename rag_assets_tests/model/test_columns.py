from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import Block, block_columns, hash_fields, hash_long, spans

blocks = st.lists(
    st.builds(
        Block,
        st.sampled_from(["row", "paragraph", "heading"]),
        st.integers(0, 2**40),
        st.integers(0, 2**40),
        st.none() | st.integers(1, 9),
        st.none() | st.tuples(*[st.floats(allow_nan=False)] * 4),
        st.none() | st.integers(1, 9),
        st.none() | st.text(max_size=3),
    ),
    max_size=12,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(blocks, st.slices(12))
def test_columns_are_the_records_that_were_added(given_blocks: list[Block], some: slice) -> None:
    held = block_columns()
    for block in given_blocks:
        held.add(*(getattr(block, name) for name in Block.__slots__))
    assert list(held) == given_blocks
    assert tuple(given_blocks) == held
    assert held[some] == given_blocks[some]
    assert held.values("page", some) == [block.page for block in given_blocks[some]]
    assert [held[-1 - n] for n in range(len(held))] == given_blocks[::-1]
    for block in held:
        assert astuple(block) in [astuple(one) for one in given_blocks]


def test_columns_differ_where_one_record_does() -> None:
    assert spans([(0, 1), (2, 3)]) == [(0, 1), (2, 3)]
    assert spans([(0, 1), (2, 3)]) != [(0, 1), (2, 4)]
    assert spans([(0, 1)]) != [(0, 1), (2, 3)]
    assert spans() == ()
    with pytest.raises(IndexError, match="no record 1 of 1"):
        spans([(0, 1)])[1]


@given(values)
def test_a_long_value_has_the_digest_of_the_same_value(value: object) -> None:
    assert hash_long(value) == hash_fields(value)


def test_a_value_of_several_pieces_has_the_digest_of_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rag_assets.model.hashing._PIECE_CHARACTERS", 3)
    monkeypatch.setattr("rag_assets.model.hashing._PIECE_ITEMS", 2)
    value = {"b": '光\ud83d\n"quoted" 😀\\', "a": [1, None, "x", [2, 3, 4], 5], "c": [], "d": ""}
    assert hash_long(value) == hash_fields(value)
