"""The page of the second opinion."""

from importlib.util import find_spec

from rag_assets_tests.desk.laboratory.visits import Visit
from rag_assets_tests.lab.laboratories import put_run


def test_the_page_asks_what_is_to_be_high_and_says_what_is_missing(visited: Visit) -> None:
    assert "Next experiments" in visited.see("/lab/suggest")
    put_run(visited.lab, "r1")
    visited.give("r1")
    status = 200 if find_spec("baybe") else 400
    page = visited.client.get("/lab/suggest?product=C2H4&by=fraction")
    assert page.status_code == status
    needed = "Not enough data" if find_spec("baybe") else "rag-assets[bo]"
    assert needed in page.text
