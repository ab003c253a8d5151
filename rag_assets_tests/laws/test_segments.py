"""Law 3 where publications grow from one another: a table in segments equals a fresh one."""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from rag_assets.publishing import building, growing, segments
from rag_assets.publishing.segments import Grown
from rag_assets_tests.laws.test_parity import Histories, HistoriesWithEntities, run_histories

_QUICK_EXAMPLES = 5
_LONG_EXAMPLES = int(os.environ.get("RAG_PARITY_EXAMPLES", "60"))
_GROWING = {"publish": {"segment_rows": 1}}


class HistoriesInSegments(Histories):
    """Every publication grows from the one before it, whatever changed."""

    settings: ClassVar[Mapping[str, Any]] = _GROWING


class HistoriesInSegmentsWithEntities(HistoriesWithEntities):
    """The same, of a library that finds entities."""

    settings: ClassVar[Mapping[str, Any]] = HistoriesWithEntities.settings | _GROWING


@pytest.fixture(autouse=True)
def grown(monkeypatch: pytest.MonkeyPatch) -> list[Grown]:
    """Let every publication grow, without falling back, and count."""
    found: list[Grown] = []
    grow = segments.grow_search_table

    def counted(*args: Any) -> Grown:
        found.append(grow(*args))
        return found[-1]

    monkeypatch.setattr(segments, "grow_search_table", counted)
    monkeypatch.setattr(building, "is_fault_of_table", lambda _: False)
    monkeypatch.setattr(growing, "LARGEST_SHARE", 1.0)
    # Text scores are those of a fresh index where nothing deleted is counted.
    monkeypatch.setattr(segments, "MAX_STALE_TEXT", 0.0)
    return found


def test_short_histories_in_segments_equal_clean_builds(grown: list[Grown]) -> None:
    run_histories(_QUICK_EXAMPLES, 14, fixed=True, machine=HistoriesInSegments)
    # Which histories are drawn differs between profiles of hypothesis.
    assert max(each.rounds for each in grown) > 1


def test_short_histories_with_entities_in_segments_equal_clean_builds(
    grown: list[Grown], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MAX_SMALL_FRAGMENTS", 2)
    monkeypatch.setattr(segments, "MAX_PARTS", 2)
    run_histories(_QUICK_EXAMPLES // 2, 14, fixed=True, machine=HistoriesInSegmentsWithEntities)
    assert any(each.is_compacted for each in grown)
    assert not all(each.is_compacted for each in grown)


@pytest.mark.slow
def test_long_histories_in_segments_equal_clean_builds(grown: list[Grown]) -> None:
    """RAG_PARITY_EXAMPLES sets how many; other ones each time."""
    run_histories(_LONG_EXAMPLES, 30, fixed=False, machine=HistoriesInSegments)
    assert any(each.is_compacted for each in grown)
