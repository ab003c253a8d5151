"""Each asset check is a statement that can fail, and the commands' exit codes follow it."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest
import time_machine
from click.testing import Result

from rag_assets.defs.checks.namespace import judge_freshness
from rag_assets.embedding import model_fingerprints
from rag_assets.evidence import ask, mark_retired
from rag_assets.evidence.asking import packs_without_publication
from rag_assets.publishing import index_differences, uncitable_evidence
from rag_assets.publishing.catalogue import catalogue_name
from rag_assets.storage import current_folder
from rag_assets.workspace import Namespace, take_inventory
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    open_namespace,
    whole_publication,
)
from rag_assets_tests.libraries import build, make_workspace, write_raw

Rag = Callable[..., Result]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, parse_in_process: None) -> Path:
    root = tmp_path_factory.mktemp("checks") / "library"
    build(make_workspace(root, NOTES, SETTINGS).namespace("thesis"))
    return root


@pytest.fixture
def namespace(library: Path, tmp_path: Path) -> Namespace:
    shutil.copytree(library, tmp_path / "library")
    return open_namespace(tmp_path / "library")


def change_catalogue(namespace: Namespace, statement: str) -> None:
    folder = current_folder(namespace.publications, namespace.name)
    with duckdb.connect(str(folder / catalogue_name(folder.name))) as connection:
        connection.execute(statement)


def checks_of(ran: Result) -> dict[str, dict[str, Any]]:
    report = json.loads(ran.stdout)["thesis"]
    return {check["check"]: check for check in report["checks"]}


def test_every_check_passes_where_nothing_is_wrong(namespace: Namespace, rag: Rag) -> None:
    # Without it there would be nothing to do, and no run.
    ran = rag("--workspace", namespace.workspace.root, "ingest", "--json", "--rehash")
    assert ran.exit_code == 0, ran.output
    assert {name: check["passed"] for name, check in checks_of(ran).items()} == dict.fromkeys(
        (
            "no_citability_conflicts", "no_documents_failed", "index_matches_chunks",
            "evidence_is_citable", "publication_is_fresh",
        ),
        True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "check", "words"),
    [
        (
            "DELETE FROM chunks WHERE chunk_id = (SELECT min(chunk_id) FROM chunks)",
            "index_matches_chunks",
            "are in the catalogue",
        ),
        ("UPDATE documents SET chunks = 99", "index_matches_chunks", "chunk counts"),
        (
            "UPDATE chunks SET citable = true WHERE doc_uid = 'rubric'",
            "evidence_is_citable",
            "'rubric' is published as citable",
        ),
    ],
)
def test_a_publication_that_is_not_what_it_says_fails_the_command(
    namespace: Namespace, rag: Rag, statement: str, check: str, words: str
) -> None:
    change_catalogue(namespace, statement)
    ran = rag("--workspace", namespace.workspace.root, "ingest", "--rehash", "--json")
    assert ran.exit_code == 1
    found = checks_of(ran)
    failed = {name for name, each in found.items() if not each["passed"]}
    assert failed == {check}
    assert words in found[check]["description"]
    assert found[check]["severity"] == "ERROR"


def test_what_another_run_has_changed_since_is_no_fault_of_a_publication(
    namespace: Namespace,
) -> None:
    models = model_fingerprints(namespace.settings.embed)
    # Another run has taken the inventory: a new file, and one that may not be cited any more.
    write_raw(namespace.workspace, "evidence/ponds.md", "# Ponds\n\nA pond cools the air.\n")
    write_raw(namespace.workspace, "evidence/roofs.md.meta.yaml", "citable: false\n")
    take_inventory(namespace, notify=lambda _: None)
    assert [*index_differences(namespace, models)] == []
    assert [*uncitable_evidence(namespace)] == []
    change_catalogue(namespace, "UPDATE documents SET chunks = 99")
    assert "chunk counts" in " ".join(index_differences(namespace, models))


def test_trouble_with_single_files_fails_the_command_and_publishes_the_rest(
    namespace: Namespace, rag: Rag
) -> None:
    write_raw(namespace.workspace, "evidence/empty.md", "")
    write_raw(namespace.workspace, "instruction/copy.md", NOTES["evidence/roofs.md"])
    ran = rag("--workspace", namespace.workspace.root, "ingest", "--json")
    assert ran.exit_code == 1, ran.output
    found = checks_of(ran)
    failed = {name: each["severity"] for name, each in found.items() if not each["passed"]}
    assert failed == {"no_documents_failed": "ERROR", "no_citability_conflicts": "WARN"}
    assert "empty.md: failed: empty_file" in found["no_documents_failed"]["description"]
    conflict = found["no_citability_conflicts"]["description"]
    assert "raw/evidence/roofs.md" in conflict
    assert "raw/instruction/copy.md" in conflict
    shown = rag("--workspace", namespace.workspace.root, "sql",
                "SELECT citable FROM documents WHERE doc_uid = 'roofs'", "--json")  # fmt: skip
    assert json.loads(shown.stdout) == [{"citable": False}]
    whole_publication(namespace)


def test_a_failed_document_fails_status_and_ingest_until_a_person_archives_it(
    namespace: Namespace, rag: Rag
) -> None:
    write_raw(namespace.workspace, "evidence/empty.md", "")
    build(namespace)
    at = ("--workspace", namespace.workspace.root)
    status = rag(*at, "status")
    assert status.exit_code == 1
    assert "1 document could not be read" in status.stdout
    assert "archived=true" in status.stdout
    # There is nothing to build, and no run.
    assert rag(*at, "ingest").exit_code == 1
    assert rag(*at, "meta", "set", "empty", "archived=true", "--reason", "lost").exit_code == 0
    build(open_namespace(namespace.workspace.root))
    assert rag(*at, "status").exit_code == 0
    assert rag(*at, "ingest").exit_code == 0


def test_a_file_that_is_a_copy_of_another_now_is_not_missing(
    namespace: Namespace, rag: Rag
) -> None:
    write_raw(namespace.workspace, "evidence/streets.md", NOTES["evidence/roofs.md"])
    at = ("--workspace", namespace.workspace.root)
    told = "raw/evidence/streets.md, `streets`, is now a copy of `roofs`"
    with time_machine.travel(time.time() + 60):  # it is not being written any more
        assert told in rag(*at, "status").stdout
    build(namespace)
    line = " ".join(rag(*at, "documents", "--status", "removed").stdout.split())
    assert "has held the same bytes as `roofs` since" in line
    assert "missing" not in line


def test_what_changed_since_the_publication_is_told_with_when_it_was_looked_at(
    namespace: Namespace, rag: Rag
) -> None:
    write_raw(namespace.workspace, "evidence/ponds.md", "# Ponds\n\nA pond cools the air.\n")
    with time_machine.travel(time.time() + 60):  # it is not being written any more
        result = judge_freshness(namespace)
    assert not result.passed
    assert result.severity == dg.AssetCheckSeverity.WARN
    assert "raw/ has changed since the publication: 1 added" in (result.description or "")
    shown = result.metadata or {}
    assert shown["run next"].value == "rag ingest --namespace thesis"
    assert shown["files"].value == len(NOTES) + 1
    looked, published = shown["raw/ looked at"], shown["published"]
    assert isinstance(looked, dg.TimestampMetadataValue)
    assert isinstance(published, dg.TimestampMetadataValue)
    assert looked.value > published.value
    ran = rag("--workspace", namespace.workspace.root, "ingest", "--json")
    fresh = checks_of(ran)["publication_is_fresh"]
    assert fresh["passed"]
    assert fresh["description"].startswith("Nothing has changed: raw/ held 5 files when it was")


def test_a_pack_whose_publication_is_gone_without_a_word_is_named(namespace: Namespace) -> None:
    workspace = namespace.workspace
    outcome = ask(workspace, "Which roof was cooler at noon?")
    assert [*packs_without_publication(workspace)] == []
    published = outcome.pack.publications["thesis"]
    shutil.rmtree(namespace.publications / published)
    (sentence,) = packs_without_publication(workspace)
    assert f"publication thesis/{published} is gone and was never retired" in sentence
    assert mark_retired(workspace, "thesis", (published,)) == 1
    assert [*packs_without_publication(workspace)] == []
