from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import PublicationError
from rag_assets.publishing import plot_publication
from rag_assets.publishing.plots import draw_histogram
from rag_assets_tests.libraries import build, make_workspace


def counts(plot: str) -> list[int]:
    return [int(line.rsplit(" ", 1)[1]) for line in plot.splitlines()]


@given(st.lists(st.floats(0, 1e9, allow_nan=False), min_size=1, max_size=200))
def test_every_value_is_counted_once_and_no_bar_is_too_long(values: list[float]) -> None:
    plot = draw_histogram(values)
    assert sum(counts(plot)) == len(values)
    assert max(line.count("█") for line in plot.splitlines()) == 40
    assert len(plot.splitlines()) <= 12


def test_a_giant_stands_in_the_last_bucket_and_flattens_nothing() -> None:
    plot = draw_histogram([*range(1, 100), 1e6])
    assert plot.splitlines()[-1].startswith("from 100 ")
    assert counts(plot)[0] == 9


def test_the_highest_share_has_no_bucket_of_its_own() -> None:
    last = draw_histogram([0.3, 0.65, 1.0, 1.0]).splitlines()[-1].split()
    assert (last[:3], last[-1]) == (["0.9", "–", "1"], "2")


def test_a_publication_is_plotted_by_pages_seconds_headings_and_sizes(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path, {"evidence/a.md": "# A\n\nWords."}).namespace("thesis")
    with pytest.raises(PublicationError):
        plot_publication(namespace)
    build(namespace)
    plot = plot_publication(namespace)
    assert "**Tokens a chunk**" in plot
    assert "**Headings a document**\n\n```text\n" in plot
    assert "Characters a page" not in plot  # no document has pages
