import json
from pathlib import Path

import pytest

from rag_assets.model import ParsedDocument, PublicationError
from rag_assets.parsing import read_parsed
from rag_assets.publishing.exporting import export_chunks, export_parsed
from rag_assets_tests.libraries import build, make_workspace

FILES = {
    "evidence/roofs.md": "# Roofs\n\nPlanted roofs cool rooms.\n",
    "evidence/z.csv": "a,b\n1,2\n",
}


def test_every_published_document_gets_a_folder(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path / "w", FILES).namespace("thesis")
    build(namespace)
    count, problems = export_parsed(namespace, tmp_path / "out")
    assert (count, problems) == (2, [])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["roofs", "z"]
    assert (tmp_path / "out/roofs/roofs.md").read_text() == FILES["evidence/roofs.md"]
    fields = json.loads((tmp_path / "out/roofs/roofs.json").read_text())
    heading = fields["blocks"][0]
    assert fields["text"][heading["start"] : heading["end"]] == "# Roofs"
    assert fields["sections"][0]["title"] == "Roofs"


def test_chunks_are_slices_of_the_exported_text(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path / "w", FILES).namespace("thesis")
    build(namespace)
    parents, chunks = export_chunks(namespace, tmp_path / "out")
    export_parsed(namespace, tmp_path / "parsed")
    rows = [json.loads(line) for line in (tmp_path / "out/chunks.jsonl").read_text().splitlines()]
    assert len(rows) == chunks
    for row in rows:
        uid = row["doc_uid"]
        text = json.loads((tmp_path / f"parsed/{uid}/{uid}.json").read_text())["text"]
        assert text[row["char_start"] : row["char_end"]] == row["text"]
    manifest = json.loads((tmp_path / "out/chunk_manifest.json").read_text())
    assert manifest["chunks"]["rows"] == chunks
    assert manifest["parents"]["rows"] == parents
    assert set(manifest["documents"]) == {"roofs", "z"}


def test_an_unpublished_namespace_is_named(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path / "w", FILES).namespace("thesis")
    with pytest.raises(PublicationError, match="rag ingest"):
        export_chunks(namespace, tmp_path / "out")


def test_the_json_holds_every_field_of_the_parse(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path / "w", FILES).namespace("thesis")
    build(namespace)
    export_parsed(namespace, tmp_path / "out")
    fields = json.loads((tmp_path / "out/roofs/roofs.json").read_text())
    (stored,) = (
        path
        for path in namespace.records.glob("parsed/*/*.parquet")
        if read_parsed(path)[0].title == "Roofs"
    )
    document = read_parsed(stored)[0]
    assert set(fields) == set(ParsedDocument.__dataclass_fields__)
    assert fields["text"] == document.text
