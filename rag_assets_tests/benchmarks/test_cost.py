"""The table of cost is what its script prints, and follows from what was measured."""

from pathlib import Path

import pytest

from benchmarks import cost

SCALE = Path(__file__).parents[2] / "docs/scale.md"


def test_the_tables_of_the_page_are_what_the_script_prints() -> None:
    assert cost.report() in SCALE.read_text(encoding="utf-8"), (
        "docs/scale.md, 'What it costs': put in what `python -m benchmarks.cost` prints"
    )


@pytest.mark.parametrize("kind", cost.KINDS, ids=lambda kind: kind.name)
def test_at_its_wall_a_library_takes_what_the_wall_says(kind: cost.Measured) -> None:
    walls = {what: number for number, what in cost.walls(kind)}
    found = walls["a new file is found after 10 minutes"]
    memory = walls["a publication takes 16 GB of memory"]
    seconds = cost.freshness(kind, int(min(found, memory)) - 1)
    assert seconds is not None
    assert seconds <= cost.FRESH_SECONDS
    assert cost.freshness(kind, int(memory) + 1) is None


def test_a_library_of_the_size_that_was_built_takes_what_it_took() -> None:
    papers = cost.PAPERS
    assert papers.times(papers.documents)(papers.publication) == papers.publication
    row = cost.cost_table(papers).splitlines()[2].split(" | ")
    # 10,000 papers at 1.67 processor seconds: 4.6 hours.
    hours = sum(map(float, row[2:5]))
    assert hours == pytest.approx(papers.seconds_per_document * 10**4 / 3600, rel=0.05)
