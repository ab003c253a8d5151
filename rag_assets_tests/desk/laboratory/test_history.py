"""Results as a table and as files; sheets of past experiments, seen before they are stored."""

import csv
import io

from httpx2 import Response

from rag_assets.lab.showing import read_queue
from rag_assets.parsing import read_workbook
from rag_assets_tests.desk.laboratory.visits import HOSTILE, Visit, expect, text_of
from rag_assets_tests.lab.laboratories import put_run

SHEET = (
    "catalyst,modifier,score,C2H4,Ethane (umol),pros\n"
    f'Cu2Mo2-TiO2/Zr-BTB,glycine,5,3,1,"{HOSTILE.replace(chr(34), chr(34) * 2)}"\n'
    "CuX,glycine,1,2,3,\n"
)


def bring(
    visited: Visit, name: str, data: str | bytes, status: int = 200, **typed: str
) -> Response:
    files = {"file": (name, data)}
    return expect(visited.client.post("/lab/history/import", files=files, data=typed), status)


def test_results_are_listed_and_taken_away_as_files(visited: Visit) -> None:
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
    by_run = {row["run"]: row for row in table}
    first = by_run["r1"]
    assert (first["score"], first["C2H4"], first["C2H4 fraction"]) == ("7.5", "6.0", "0.75")
    assert first["pros"] == HOSTILE
    # What a spreadsheet would compute is text there.
    assert first["cons"] == "'=2+5"
    assert by_run["r2"]["C2H4"] == ""
    data = visited.get("/lab/history/history.xlsx").content
    (sheet,) = read_workbook(data, visited.lab.workspace.settings.parse)
    cells = {value for _, row in sheet.rows for _, value in row.values()}
    assert {"=2+5", HOSTILE, "7.5", "0.75"} <= cells
    assert data == visited.get("/lab/history/history.xlsx").content


def test_a_sheet_is_shown_as_it_is_understood_and_stored_only_when_asked(visited: Visit) -> None:
    text = text_of(bring(visited, "../../old\\runs.csv", SHEET))
    assert "runs.csv · headers in row 1 Nothing is stored yet." in text
    assert "1 experiment is understood" in text
    assert "Row 3: two metals cannot be told from 'CuX'" in text
    assert "Ethane (umol) kept, not used" in text
    assert "measured value of C2H4" in text
    assert read_queue(visited.lab).runs == ()
    bring(visited, "runs.csv", SHEET, do="store")
    visited.wait()
    (run,) = read_queue(visited.lab).runs
    assert (run.kind, run.request["file"]) == ("imported", "runs.csv")
    assert "C2H4: 3 ( 1.000 )" in visited.see("/lab/history")
    assert visited.items() == []
    assert HOSTILE in visited.see(f"/lab/runs/{run.id}")
    # The same sheet again adds nothing.
    bring(visited, "runs.csv", SHEET, do="store", learn="1")
    visited.wait()
    assert len(read_queue(visited.lab).runs) == 1


def test_what_is_no_sheet_or_not_understood_is_said(visited: Visit) -> None:
    assert "read from xlsx, csv and tsv" in bring(visited, "x.exe", b"MZ", 400).text
    assert "Choose a file first." in visited.post("/lab/history/import", 400).text
    answer = bring(visited, "x.csv", "a,b\n1,2\n", 400)
    assert "none of the first 20 rows is a header" in answer.text
    broken = bring(visited, "x.xlsx", b"PK\x03\x04 no workbook", 400)
    assert "xlsx" in text_of(broken)


def test_an_upload_is_bounded(visited: Visit) -> None:
    assert bring(visited, "x.csv", b"a" * 1_000_001, 413).status_code == 413
