from types import SimpleNamespace
from typing import Any

from rag_assets.publishing.facts import DocumentFacts, document_row

REPORT = {
    "doc_id": "d",
    "parsed_file": "f.parquet",
    "media_type": "application/pdf",
    "parser": "pdf",
    "parser_version": "1",
    "pages": 3,
    "title": "Printed title",
    "language": "en",
    "authors": ["A. Writer", "王小明"],
    "year": 2019,
    "doi": "10.1/printed",
    "abstract": "What was found.",
}


def row_of(**sidecar: Any) -> dict[str, Any]:
    source = SimpleNamespace(
        source_uri="raw/a.pdf", source_type="evidence", source_subtype="", sidecar="{}"
    )
    living: Any = SimpleNamespace(first=source, sources=(source,))
    namespace: Any = SimpleNamespace(name="thesis", partition_of=lambda _: "a")
    facts = DocumentFacts(
        "c", living, "a", "published", None, None, True, sidecar, REPORT, 1, None, None
    )
    return document_row(namespace, facts, 1, [])


def test_what_the_sidecar_does_not_say_comes_from_the_parse() -> None:
    row = row_of()
    assert (row["authors"], row["year"]) == (["A. Writer", "王小明"], 2019)
    assert (row["doi"], row["abstract"]) == ("10.1/printed", "What was found.")
    assert row["title"] == "Printed title"


def test_a_sidecar_always_wins() -> None:
    row = row_of(authors=["B. Other"], year=2001, doi="10.2/own", title="Own title")
    assert (row["authors"], row["year"], row["doi"]) == (["B. Other"], 2001, "10.2/own")
    assert row["title"] == "Own title"
    assert row_of(published_date="2003-04-05")["year"] == 2003
