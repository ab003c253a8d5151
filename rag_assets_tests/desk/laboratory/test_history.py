"""Results as a table and as a file."""

import csv
import io

from rag_assets_tests.desk.laboratory.visits import HOSTILE, Visit, text_of
from rag_assets_tests.lab.laboratories import put_run


def test_results_are_listed_and_taken_away_as_a_file(visited: Visit) -> None:
    assert "No experiment has been reported yet." in visited.see("/lab/history")
    for name in ("r1", "r2"):
        put_run(visited.lab, name)
    visited.give("r1", pros=HOSTILE, cons="=2+5")
    visited.give("r2", product=[visited.products()["CO"]], value=["1"], score="9")
    page = visited.get("/lab/history")
    assert HOSTILE in text_of(page)
    assert "<img" not in page.text
    only = visited.see("/lab/history?products=CO")
    assert "r2" in only
    assert "r1" not in only.partition("Recipe")[2]
    table = list(csv.DictReader(io.StringIO(visited.get("/lab/history/history.csv").text[1:])))
    first = next(row for row in table if (row["run"], row["product"]) == ("r1", "C2H4"))
    assert (first["score"], first["value"], first["fraction"]) == ("7.5", "6.0", "0.75")
    assert first["pros"] == HOSTILE
    # What a spreadsheet would compute is text there.
    assert first["cons"] == "'=2+5"
    assert [row["product"] for row in table if row["run"] == "r2"] == ["CO"]
