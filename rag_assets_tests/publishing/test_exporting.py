import json
from pathlib import Path

import pytest

from rag_assets.model import ParsedDocument, UsageError
from rag_assets.parsing import read_parsed
from rag_assets.publishing.export import (
    KINDS,
    export_chunks,
    export_parsed,
    refresh_readable,
)
from rag_assets_tests.libraries import HASHING, build, make_workspace, write_raw

FILES = {
    "evidence/roofs.md": "# Roofs\n\nPlanted roofs cool rooms.\n",
    "evidence/z.csv": "a,b\n1,2\n",
}


def test_every_parsed_document_gets_a_folder(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path / "w", FILES).namespace("thesis")
    build(namespace)
    count, problems = export_parsed(namespace, tmp_path / "out")
    assert (count, problems) == (2, [])
    made = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert made == ["parse_manifest.json", "roofs", "z"]
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


def test_a_namespace_without_an_inventory_is_named(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path / "w", FILES).namespace("thesis")
    with pytest.raises(UsageError, match="rag ingest"):
        export_chunks(namespace, tmp_path / "out")


def modified(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns
        for path in folder.rglob("*.*")
        if path.is_file()
    }


def test_only_what_changed_is_written_again_and_what_is_gone_is_removed(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", FILES)
    namespace = workspace.namespace("thesis")
    build(namespace)
    parsed, chunks = tmp_path / "w/parsed", tmp_path / "w/chunks"
    assert refresh_readable(namespace, KINDS) == ([parsed, chunks], [])
    before = modified(parsed) | modified(chunks)
    assert refresh_readable(namespace, ()) == ([parsed, chunks], [])
    assert modified(parsed) | modified(chunks) == before
    write_raw(workspace, "evidence/roofs.md", "# Roofs\n\nThey are warm.\n")
    (tmp_path / "w/raw/evidence/z.csv").unlink()
    (parsed / "roofs/mine.txt").write_text("a note of my own")
    build(namespace)
    refresh_readable(namespace, ())
    assert "warm" in (parsed / "roofs/roofs.md").read_text()
    assert (parsed / "roofs/mine.txt").is_file()
    assert not (parsed / "z").exists()
    texts = [json.loads(line)["text"] for line in (chunks / "chunks.jsonl").open()]
    assert "warm" in str(texts)


def test_several_namespaces_have_a_folder_each(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", FILES)
    namespace = workspace.namespace("thesis")
    build(namespace)
    refresh_readable(namespace, KINDS)
    (workspace.root / "namespaces/notes.yaml").write_text("raw: [notes]\n")
    refresh_readable(namespace, KINDS)
    assert (workspace.root / "parsed/thesis/roofs/roofs.md").is_file()
    assert (workspace.root / "chunks/thesis/chunks.jsonl").is_file()
    assert not (workspace.root / "parsed/roofs").exists()
    assert not (workspace.root / "chunks/chunks.jsonl").exists()
    (workspace.root / "namespaces/notes.yaml").unlink()
    refresh_readable(namespace, KINDS)
    assert (workspace.root / "parsed/roofs/roofs.md").is_file()
    assert not (workspace.root / "parsed/thesis").exists()


def test_a_folder_among_raw_files_is_not_written_and_that_is_said(tmp_path: Path) -> None:
    settings = {**HASHING, "raw": ["."]}
    namespace = make_workspace(tmp_path / "w", FILES, settings).namespace("thesis")
    (tmp_path / "w/namespaces/thesis.yaml").write_text("raw: ['.']\n")
    written, problems = refresh_readable(namespace, KINDS)
    assert (written, len(problems)) == ([], 2)
    assert "raw files of namespace" in problems[0]


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
