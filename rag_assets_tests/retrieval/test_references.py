from pathlib import Path

from rag_assets.publishing.search_table import write_search_table
from rag_assets.retrieval import Reader, Retriever, SearchFilters
from rag_assets_tests.libraries import build, make_workspace
from rag_assets_tests.publishing.made_up_tables import chunk_row, chunk_table


def found(folder: Path, filters: SearchFilters) -> list[str]:
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    with Reader(folder, "thesis", folder.name) as reader:
        return sorted(hit.chunk_id for hit, _ in reader.search_text("roofs", 10, filters))


def test_references_are_found_only_when_asked_for_and_bare_headings_never(tmp_path: Path) -> None:
    entry = {"section_subtype": "references", "source_subtype": "references", "kind": "reference"}
    rows = [
        chunk_row("a", 0, "Green roofs cool."),
        chunk_row("a", 1, "3 Roofs", kind="heading"),
        chunk_row("a", 2, "Li (2020). Roofs and heat.", **entry),
        chunk_row("a", 3, "More roofs.", section_subtype="appendix", kind="text"),
    ]
    rows = [row | {"page_start": None, "page_end": None} for row in rows]
    write_search_table(tmp_path, chunk_table(rows))
    assert found(tmp_path, SearchFilters()) == ["a:0", "a:3"]
    assert found(tmp_path, SearchFilters(with_references=True)) == ["a:0", "a:2", "a:3"]
    only = SearchFilters(with_references=True, doc_uids=("b",))
    assert found(tmp_path, only) == []


def test_a_filter_that_names_references_finds_them_and_nothing_else(tmp_path: Path) -> None:
    text = (
        "# Roofs\n\nPlanted roofs cool rooms.\n\n# References\n\n"
        "[1] Li, W. (2020). Roofs and heat in towns. Journal of Roofs 3, 1-9.\n\n"
        "[2] Osei, D. (2021). Night airing and roofs. Journal of Air 4, 51-60.\n"
    )
    workspace = make_workspace(tmp_path, {"evidence/roofs.md": text})
    build(workspace.namespace("thesis"))
    narrowed = SearchFilters().with_filter("source_subtype=references")
    with Retriever(workspace, ("thesis",)) as retriever:
        found = retriever.retrieve("roofs", filters=narrowed)
        plain = retriever.retrieve("roofs", filters=SearchFilters())
    assert {hit.section_subtype for hit in found.hits} == {"references"}
    assert "source_subtype in (references)" in found.filters
    assert plain.hits
    assert "references" not in {hit.section_subtype for hit in plain.hits}
