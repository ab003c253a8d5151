"""A machine with the configuration alone reads what another one has built, from an object store."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from rag_assets.model import StorageError
from rag_assets.retrieval import OpenedLibrary
from rag_assets.storage import ObjectStore
from rag_assets.workspace import (
    WORKSPACE_MARKER,
    Namespace,
    Workspace,
    configuration_digest,
    settings_digest,
)
from rag_assets_tests.e2e.workspaces import NOTES, SETTINGS, open_namespace, whole_publication
from rag_assets_tests.libraries import build, make_workspace, write_raw

QUESTION = "How much cooler was a green roof?"


@pytest.fixture(scope="module")
def library(parse_in_process: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace on a disk, published; nothing has changed since."""
    root = tmp_path_factory.mktemp("readers-elsewhere") / "library"
    build(make_workspace(root, NOTES, SETTINGS).namespace("thesis"))
    return root


@pytest.fixture
def built(library: Path, tmp_path: Path) -> Namespace:
    """A copy of the library that a test may change."""
    shutil.copytree(library, tmp_path / "library")
    return open_namespace(tmp_path / "library")


def shared(namespace: Namespace, url: str) -> Namespace:
    """Let a workspace share its publications in an object store."""
    config = namespace.workspace.root / WORKSPACE_MARKER
    config.write_text(f"{config.read_text(encoding='utf-8')}\nstore: {url}\n", encoding="utf-8")
    return open_namespace(namespace.workspace.root)


def reader_of(namespace: Namespace, root: Path) -> Workspace:
    """A folder with the configuration of another one, and nothing else."""
    root.mkdir()
    shutil.copy2(namespace.workspace.root / WORKSPACE_MARKER, root)
    shutil.copytree(namespace.workspace.root / "namespaces", root / "namespaces")
    return Workspace.open(root)


def test_a_reader_needs_the_store_and_the_configuration(
    built: Namespace, store_url: str, tmp_path: Path, rag: Callable[..., Result]
) -> None:
    namespace = shared(built, store_url)
    assert build(namespace).is_new is False  # the setting decides nothing; what is there is shared
    other = reader_of(namespace, tmp_path / "elsewhere")

    def ask(*arguments: object) -> Result:
        ran = rag("--workspace", other.root, *arguments)
        assert ran.exit_code == 0, ran.output
        return ran

    assert "7 degrees cooler" in ask("query", QUESTION, "--namespace", "thesis").stdout
    counted = "SELECT count(*) AS chunks FROM thesis.chunks"
    before = json.loads(ask("sql", counted, "--json").stdout)[0]["chunks"]
    assert store_url in ask("status").stdout
    assert f"read from {store_url}" in rag("--workspace", other.root, "doctor").output

    with OpenedLibrary(other) as desk:
        with desk.hold(["thesis"]) as held:
            first = held.names["thesis"]
        write_raw(namespace.workspace, "evidence/ice.md", "# Ice\n\nA slurry of ice stores cold.\n")
        published = build(namespace)
        with desk.hold(["thesis"]) as held:
            assert held.names["thesis"] == published.publication != first
    assert "slurry" in ask("query", "What stores cold?").stdout
    assert published.publication in ask("status").stdout
    assert json.loads(ask("sql", counted, "--json").stdout)[0]["chunks"] > before
    assert whole_publication(other.namespace("thesis")) == published.publication


def test_what_could_not_be_shared_is_stale_and_the_next_ingest_shares_it(
    built: Namespace,
    store_url: str,
    tmp_path: Path,
    rag: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    namespace = shared(built, store_url)
    root = namespace.workspace.root

    def refuse(store: ObjectStore, *_: object) -> None:
        raise StorageError(f"{store.url}: cannot be written.")

    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "share", refuse)
        with pytest.raises(StorageError, match="cannot be written"):
            build(namespace)
    stale = f"readers of {store_url} do not see the last publication yet"
    assert stale in rag("--workspace", root, "status").stdout
    ran = rag("--workspace", root, "ingest")
    assert ran.exit_code == 0, ran.output
    assert stale not in rag("--workspace", root, "status").stdout
    other = reader_of(namespace, tmp_path / "elsewhere").namespace("thesis")
    assert whole_publication(other) == whole_publication(namespace)


@pytest.mark.parametrize("arguments", [("query", QUESTION), ("status",), ("sql", "SELECT 1")])
def test_a_store_that_is_not_there_is_one_sentence(
    built: Namespace,
    tmp_path: Path,
    rag: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    def refuse(store: ObjectStore, *_: object) -> None:
        raise StorageError(f"{store.url}: cannot be read.")

    monkeypatch.setattr(ObjectStore, "fetch", refuse)
    namespace = shared(built, "s3://bucket/library")
    other = reader_of(namespace, tmp_path / "elsewhere")
    ran = rag("--workspace", other.root, *arguments)
    assert ran.exit_code == 1
    assert ran.stderr.count("error: ") == 1
    assert "s3://bucket/library" in ran.stderr
    assert "Traceback" not in ran.output


def test_the_setting_holds_for_the_whole_workspace(
    built: Namespace, rag: Callable[..., Result]
) -> None:
    workspace = built.workspace
    path = workspace.namespace_file("thesis")
    written = path.read_text(encoding="utf-8")
    path.write_text(written + "store: s3://bucket/library\n", encoding="utf-8")
    ran = rag("--workspace", workspace.root, "status")
    assert ran.exit_code == 2
    assert f"{path}: 'store' holds for the whole workspace" in ran.stderr
    path.write_text(written, encoding="utf-8")
    config = workspace.root / WORKSPACE_MARKER
    config.write_text("store: /mnt/shared\n", encoding="utf-8")
    ran = rag("--workspace", workspace.root, "status")
    assert ran.exit_code == 2
    assert f"{config}: 'store'" in ran.stderr


def test_where_it_is_shared_decides_no_build(built: Namespace) -> None:
    before = settings_digest(built), configuration_digest(built)
    moved = shared(built, "s3://bucket/library")
    assert (settings_digest(moved), configuration_digest(moved)) == before
