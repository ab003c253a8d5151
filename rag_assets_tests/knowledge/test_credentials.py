"""What is secret in an address is kept nowhere, whoever wrote it down."""

import os
import stat
from pathlib import Path

import pytest
import requests

from rag_assets.evidence import Question, ask
from rag_assets.knowledge import KnowledgeSource
from rag_assets.knowledge.adding import add_content
from rag_assets.llm.services import hide
from rag_assets.model import ConfigurationError, UsageError
from rag_assets.running import examine
from rag_assets.tracing import open_sql
from rag_assets.workspace import (
    Workspace,
    correct_environment,
    create_workspace,
    readers_of_secrets,
    record_decision,
    set_metadata,
)
from rag_assets_tests.libraries import HASHING, build, make_workspace

SECRET = "s3cretW0rd"
ADDRESS = f"https://ann:{SECRET}@example.org/page?id=7&token={SECRET}&page=2#token={SECRET}"
KEPT = "https://example.org/page?id=7&page=2"


def derived(workspace: Workspace) -> list[str]:
    """Return the files of a workspace, but for raw/, that hold the secret as it is written."""
    return [
        str(path)
        for path in sorted(workspace.root.rglob("*"))
        if path.is_file()
        and "raw" not in path.relative_to(workspace.root).parts[:1]
        and SECRET.encode() in path.read_bytes()
    ]


def test_what_a_sidecar_says_is_published_without_it(tmp_path: Path) -> None:
    sidecar = f"url: {ADDRESS}\nsource_uri: {ADDRESS}\nmetadata:\n  from: [{{at: '{ADDRESS}'}}]\n"
    files: dict[str, str | bytes] = {
        "evidence/roofs.md": "# Roofs\n\nIt was 7 degrees cooler.\n",
        "evidence/roofs.md.meta.yaml": sidecar,
    }
    workspace = make_workspace(tmp_path / "library", files, HASHING)
    namespace = workspace.namespace("thesis")
    build(namespace)
    set_metadata(namespace, "roofs", "url", ADDRESS, f"from {ADDRESS}")
    build(namespace)
    ask(workspace, Question(question="How much cooler was the roof?"))
    with open_sql(workspace) as connection:
        assert connection.execute("SELECT url FROM documents").fetchall() == [(KEPT,)]
        ((metadata,),) = connection.execute("SELECT metadata FROM sources").fetchall()
    assert SECRET not in metadata
    assert metadata.count(KEPT) == 3
    assert derived(workspace) == []
    raw = workspace.root / "raw/evidence/roofs.md.meta.yaml"
    assert raw.read_text(encoding="utf-8") == sidecar


def test_address_without_secrets_is_published_as_it_is_written(tmp_path: Path) -> None:
    address = "https://example.org/a?id=7&page=2&q=%E6%B3%95#section-2"
    files: dict[str, str | bytes] = {
        "evidence/roofs.md": "# Roofs\n\nCool.\n",
        "evidence/roofs.md.meta.yaml": f"url: {address}\n",
    }
    workspace = make_workspace(tmp_path / "library", files, HASHING)
    build(workspace.namespace("thesis"))
    with open_sql(workspace) as connection:
        assert connection.execute("SELECT url FROM documents").fetchall() == [(address,)]


def test_what_is_added_has_it_neither_in_its_sidecar_nor_in_its_name(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library", {}, HASHING)
    namespace = workspace.namespace("thesis")
    source = KnowledgeSource(ADDRESS, content="# Roofs\n", metadata={"url": ADDRESS, "at": ADDRESS})
    fetched = source.fetch(namespace.settings)
    added = add_content(namespace, fetched.data, fetched.name, ADDRESS, source.describe(fetched))
    sidecar = added.path.with_name(added.path.name + ".meta.yaml").read_text(encoding="utf-8")
    assert SECRET not in sidecar + str(added.path)
    assert sidecar.count(KEPT) == 3


def test_password_of_a_file_is_kept_for_the_next_parse(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path / "library", {}, HASHING).namespace("thesis")
    added = add_content(namespace, b"x", "a.txt", "a.txt", {"password": "https://a:b@c"})
    sidecar = added.path.with_name(added.path.name + ".meta.yaml").read_text(encoding="utf-8")
    assert "https://a:b@c" in sidecar


def test_settings_that_are_noted_with_a_decision_hold_none(tmp_path: Path) -> None:
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    (workspace.root / "config.yaml").write_text(
        f"parse:\n  mineru:\n    url: {ADDRESS}\n", encoding="utf-8"
    )
    decision = record_decision(workspace, "MinerU elsewhere", "It is nearer.")
    assert decision.settings["config.yaml: parse.mineru.url"] == KEPT
    assert SECRET not in decision.path.read_text(encoding="utf-8")


def test_errors_do_not_repeat_it(tmp_path: Path) -> None:
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    (workspace.root / "config.yaml").write_text(f"parse:\n  workers: {ADDRESS}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError) as wrong_value:
        workspace.namespace("thesis")
    other = make_workspace(tmp_path / "other", {}, HASHING).namespace("thesis")
    with pytest.raises(UsageError) as wrong_override:
        set_metadata(other, "roofs", "year", ADDRESS, "because")
    for caught in (wrong_value, wrong_override):
        assert SECRET not in str(caught.value)
        assert "example.org" in str(caught.value)


def test_error_of_a_client_is_said_without_it() -> None:
    with pytest.raises(requests.ConnectionError) as caught:
        requests.get(f"http://127.0.0.1:9/v1/rerank?key={SECRET}", timeout=5)
    assert SECRET in str(caught.value)
    assert SECRET not in hide(str(caught.value), None)


@pytest.mark.skipif(os.name == "nt", reason="files have no such rights on Windows")
def test_environment_file_is_private_and_doctor_says_where_it_is_not(tmp_path: Path) -> None:
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    file = workspace.root / ".env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    assert readers_of_secrets(workspace) is None  # it says only where the workspace is
    text = file.read_text(encoding="utf-8").replace(str(workspace.root), "/elsewhere")
    file.write_text(text + f"MY_API_KEY={SECRET}\n", encoding="utf-8")
    assert correct_environment(workspace)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644  # it is the user's own
    found = [each.found for each in examine(str(workspace.root)) if each.what == ".env"]
    assert found == ["others on this machine may read its keys (mode 644)"]
    file.chmod(0o600)
    assert readers_of_secrets(workspace) is None
