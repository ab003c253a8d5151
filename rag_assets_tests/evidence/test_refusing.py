"""What must not stand in a pack stops it, with filters and sources."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rag_assets.evidence import Question, make_pack
from rag_assets.model import DamagedFileError, UsageError
from rag_assets.retrieval import Retriever
from rag_assets.workspace import Workspace

QUESTION = Question(question="How much cooler are sedum roofs?")


@pytest.fixture
def returning(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the search return its first hit with other values."""
    search = Retriever.retrieve

    def change(**values: Any) -> None:
        def retrieve(self: Retriever, *args: Any, **options: Any) -> Any:
            found = search(self, *args, **options)
            first = found.parents[0]
            changed = replace(first, best=replace(first.best, **values))
            return replace(found, parents=(changed, *found.parents[1:]))

        monkeypatch.setattr(Retriever, "retrieve", retrieve)

    return change


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"citable": False}, r"must not be cited \(citable = false\)"),
        ({"doc_uid": ""}, "has no doc_uid"),
        ({"parent_id": ""}, "has no parent_id"),
        ({"doc_uid": "nobody"}, "lists no document 'nobody'"),
    ],
)
def test_item_that_must_not_stand_there_stops_the_pack(
    library: Workspace, returning: Callable[..., None], values: dict[str, Any], message: str
) -> None:
    returning(**values)
    with pytest.raises(UsageError, match=message) as raised:
        make_pack(library, QUESTION)
    assert "No pack was made" in str(raised.value)
    assert "citable = true; namespace in (thesis)" in str(raised.value)


def test_refusal_names_the_sources_that_came_back(
    library: Workspace, returning: Callable[..., None]
) -> None:
    returning(citable=False)
    with pytest.raises(UsageError, match=r"asked \(evidence, citable = \w+\)"):
        make_pack(library, QUESTION)


def test_passage_that_its_parse_does_not_hold_stops_the_pack(
    library: Workspace, returning: Callable[..., None]
) -> None:
    returning(text="Tin roofs are hot.")
    with pytest.raises(DamagedFileError, match="publication and parse differ"):
        make_pack(library, QUESTION)
