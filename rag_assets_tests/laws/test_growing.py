"""When a publication grows from the one before it, what that reads, and what happens when not."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.editing import Passages
from rag_assets.embedding import embedding_models
from rag_assets.publishing import (
    growing,
    publish,
    segments,
    table_health,
)
from rag_assets.publishing.document_keys import KEYS_NAME
from rag_assets.publishing.search_reading import SearchTable
from rag_assets.storage import current_folder, list_publications, read_manifest
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.laws.driver import (
    SMALL,
    build,
    clean_build,
    files_of,
    make_workspace,
    put,
    put_sidecar,
    search_results,
    state_of,
)

TEXT = "Cool roofs reflect sunlight and stay cooler than dark ones in the city. Number {}.\n"


@pytest.fixture
def growing_library(tmp_path: Path) -> Namespace:
    workspace = make_workspace(tmp_path / "library", lib={"publish": {"segment_rows": 4}})
    for number in range(8):
        put(workspace, f"evidence/paper-{number}.md", TEXT.format(number) * 2)
    namespace = workspace.namespace("lib")
    build(namespace)
    return namespace


def manifest_of(namespace: Namespace) -> dict[str, Any]:
    return read_manifest(current_folder(namespace.publications, namespace.name))


def publish_heard(namespace: Namespace) -> list[str]:
    """Build all but the publication, then publish and return what was said."""
    heard: list[str] = []
    build(namespace, ["inventory", "parse_reports", "parents", "chunks", "embeddings"])
    publish(namespace, embedding_models(namespace.settings.embed), heard.append)
    return [sentence for sentence in heard if "written anew" in sentence]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The contents whose passages are read for a publication."""
    found: list[str] = []
    rows = Passages.rows

    def noted(self: Passages, partition: str, contents: Collection[str], *rest: Any) -> Any:
        found.extend(contents)
        return rows(self, partition, contents, *rest)

    monkeypatch.setattr(Passages, "rows", noted)
    return found


def test_small_library_is_published_as_ever(tmp_path: Path) -> None:
    names = []
    for rows in (None, 1_000_000, 5):
        publishing = {"publish": {"segment_rows": rows}}
        workspace = make_workspace(tmp_path / f"library-{rows}", lib=publishing)
        put(workspace, "evidence/roofs.md", TEXT.format(1))
        namespace = workspace.namespace("lib")
        build(namespace)
        folder = current_folder(namespace.publications, "lib")
        assert not (folder / KEYS_NAME).exists()
        assert "segments" not in read_manifest(folder)
        names.append((folder.name, read_manifest(folder)["tables"]))
    assert names[0] == names[1] == names[2]


def test_only_what_changed_is_read(
    growing_library: Namespace, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MAX_DELETED", 1.0)
    workspace = growing_library.workspace
    first = manifest_of(growing_library)
    assert first["segments"]["grown_from"] is None
    put(workspace, "evidence/paper-3.md", TEXT.format(3) + "Now they are green and grow moss.\n")
    put(workspace, "evidence/new.md", "Stomata close when the air is dry, and water is saved.\n")
    (workspace.root / "raw/evidence/paper-5.md").unlink()
    assert publish_heard(growing_library) == []
    grown = manifest_of(growing_library)
    assert grown["segments"]["grown_from"] == first["publication"]
    assert len(set(read)) == 2
    assert table_health(growing_library).fragments == 2
    # A rename of a title, a place or a pin changes the rows of its document alone.
    read.clear()
    put_sidecar(workspace, "evidence/paper-1.md", title="Roofs of another name")
    raw = workspace.root / "raw"
    (raw / "instruction").mkdir(exist_ok=True)
    (raw / "evidence/paper-2.md").rename(raw / "instruction/paper-2.md")
    assert publish_heard(growing_library) == []
    assert len(set(read)) == 2


def test_copy_that_forbids_citing_changes_the_rows_of_its_document(
    growing_library: Namespace,
) -> None:
    workspace, folder = growing_library.workspace, growing_library.publications

    def citable() -> list[bool]:
        table = SearchTable(current_folder(folder, "lib"))
        found = table.fetch("doc_uid = 'paper-1'", ["chunk_id", "citable"])
        return [*set(found.column("citable").to_pylist())]

    assert citable() == [True]
    # Its first place, and so its sidecar and source, stay what they were.
    put(workspace, "instruction/copy.md", TEXT.format(1) * 2)
    assert publish_heard(growing_library) == []
    assert citable() == [False]
    (workspace.root / "raw/instruction/copy.md").unlink()
    assert publish_heard(growing_library) == []
    assert citable() == [True]


def test_grown_publication_has_the_name_and_tables_of_a_clean_one(
    growing_library: Namespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MAX_STALE_TEXT", 0.0)
    put(growing_library.workspace, "evidence/new.md", "Stomata close when the air is dry.\n")
    put(growing_library.workspace, "evidence/paper-3.md", TEXT.format(3) + "They are green.\n")
    assert publish_heard(growing_library) == []
    clean = clean_build(growing_library, tmp_path / "clean")
    assert manifest_of(growing_library)["segments"]["grown_from"]
    assert manifest_of(clean)["segments"]["grown_from"] is None
    ours, theirs = state_of(growing_library), state_of(clean)
    for part, value in theirs.items():
        assert ours[part] == value, part


def _without_keys(folder: Path) -> None:
    (folder / KEYS_NAME).unlink()


def _without_data(folder: Path) -> None:
    for path in (folder / "chunks.lance/data").iterdir():
        path.unlink()


def _torn_index(folder: Path) -> None:
    for path in (folder / "chunks.lance/_indices").rglob("*.lance"):
        path.write_bytes(path.read_bytes()[:20])


def _torn_version(folder: Path) -> None:
    for path in (folder / "chunks.lance/_versions").glob("*.manifest"):
        path.write_bytes(b"no manifest")


def _without_catalogue(folder: Path) -> None:
    for path in folder.glob("*.duckdb"):
        path.write_bytes(b"no catalogue")


@pytest.mark.parametrize(
    "harm", [_without_keys, _without_data, _torn_index, _torn_version, _without_catalogue]
)
def test_damaged_publication_is_not_grown_from(
    growing_library: Namespace, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    harm(current_folder(growing_library.publications, "lib"))
    put(growing_library.workspace, "evidence/new.md", "Stomata close when the air is dry.\n")
    (sentence,) = publish_heard(growing_library)
    assert manifest_of(growing_library)["publication"] not in sentence
    assert manifest_of(growing_library)["segments"]["grown_from"] is None
    assert search_results(growing_library) == search_results(
        clean_build(growing_library, tmp_path / "clean")
    )


def test_other_models_or_settings_want_a_fresh_table(growing_library: Namespace) -> None:
    workspace = growing_library.workspace

    def configure(**changes: Any) -> Namespace:
        text = yaml.safe_dump({**SMALL, "publish": {"segment_rows": 4}, **changes})
        workspace.namespace_file("lib").write_text(text, encoding="utf-8")
        return workspace.namespace("lib")

    other = configure(embed={"kind": "hashing", "model": "words", "dimension": 64})
    (sentence,) = publish_heard(other)
    assert "other models, settings or versions" in sentence
    fresh = configure(publish={"segment_rows": None}, embed={"kind": "hashing", "model": "words",
                      "dimension": 64})  # fmt: skip
    before = manifest_of(other)["publication"]
    assert publish_heard(fresh) == []
    assert manifest_of(fresh)["publication"] != before
    assert "segments" not in manifest_of(fresh)


def test_much_change_wants_a_fresh_table(growing_library: Namespace) -> None:
    for number in range(20, 40):
        put(growing_library.workspace, f"evidence/more-{number}.md", TEXT.format(number) * 2)
    (sentence,) = publish_heard(growing_library)
    assert "rows are others than before" in sentence


@pytest.mark.parametrize(
    "place",
    [
        "rag_assets.publishing.segments.link_table",
        "rag_assets.publishing.segments._delete",
        "rag_assets.publishing.segments._index_added",
        "rag_assets.publishing.segments.write_row_order",
        "rag_assets.publishing.catalogue_growth._change_rows",
        "rag_assets.publishing.building.write_document_keys",
        "rag_assets.publishing.building.write_manifest",
        "rag_assets.publishing.building.point_at",
    ],
)
def test_killed_growth_leaves_the_publication_before(
    growing_library: Namespace, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = current_folder(growing_library.publications, "lib")
    answers, files = search_results(growing_library), files_of(before)
    put(growing_library.workspace, "evidence/new.md", "Stomata close when the air is dry.\n")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(place, killed)
        with pytest.raises(KeyboardInterrupt):
            publish_heard(growing_library)
    assert current_folder(growing_library.publications, "lib") == before
    assert search_results(growing_library) == answers
    assert files_of(before) == files
    assert publish_heard(growing_library) == []
    assert len(list_publications(growing_library.publications)) == 2
    assert state_of(growing_library)["counts"]["documents"] == 9


def test_panic_in_the_library_is_survived(
    growing_library: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        """As Rust's panics arrive in Python."""

    def panics(*_: object, **__: object) -> None:
        raise PanicException("index out of bounds")

    monkeypatch.setattr(segments, "_index_added", panics)
    put(growing_library.workspace, "evidence/new.md", "Stomata close when the air is dry.\n")
    (sentence,) = publish_heard(growing_library)
    assert "cannot grow (index out of bounds)" in sentence
    assert manifest_of(growing_library)["segments"]["grown_from"] is None


def test_full_disk_is_told_and_no_fresh_table_tried(
    growing_library: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(segments, "_index_added", full)
    put(growing_library.workspace, "evidence/new.md", "Stomata close when the air is dry.\n")
    with pytest.raises(OSError, match=r"space|room"):
        publish_heard(growing_library)


def test_workspace_copied_to_another_place_goes_on_growing(
    growing_library: Namespace, tmp_path: Path
) -> None:
    import shutil

    put(growing_library.workspace, "evidence/new.md", "Stomata close when the air is dry.\n")
    assert publish_heard(growing_library) == []
    shutil.copytree(growing_library.workspace.root, tmp_path / "elsewhere")
    shutil.rmtree(growing_library.workspace.root)
    moved = Workspace.open(tmp_path / "elsewhere").namespace("lib")
    put(moved.workspace, "evidence/more.md", "Night ventilation flushes the warmth out.\n")
    assert publish_heard(moved) == []
    assert manifest_of(moved)["segments"]["rounds"] == 2
    assert growing.LARGEST_SHARE == 0.5
