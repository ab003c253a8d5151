"""Sources of an answer are named by alias, or by paper and passages."""

from dataclasses import replace

import pytest

from rag_assets.answering.rendering import show_chunks, unknown_sources
from rag_assets_tests.agents.toys import passage

FOUND = {
    f"C{place}": replace(passage("roofs"), chunk_id=f"roofs:{number}")
    for place, number in enumerate((41, 42, 43, 57), start=1)
}


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [((41,), "roofs: 41"), ((43, 41, 42, 42), "roofs: 41-43"), ((57, 41, 43), "roofs: 41, 43, 57")],
)
def test_neighbours_are_a_range(numbers: tuple[int, ...], shown: str) -> None:
    assert show_chunks("roofs", [f"roofs:{number}" for number in numbers]) == shown


@pytest.mark.parametrize("known", ["C1", "[C4]", "roofs: chunk_41-43", "roofs:57", "roofs: 41–42"])
def test_what_was_found_may_be_named_so(known: str) -> None:
    assert unknown_sources([known], FOUND) == ()


@pytest.mark.parametrize("unknown", ["C9", "roofs: 44", "roofs: 43-41", "trees:41", "my memory"])
def test_what_was_not_found_is_told(unknown: str) -> None:
    assert unknown_sources(["C1", unknown], FOUND) == (unknown,)
