"""A document keeps its citation key, whatever is added, removed or learned later."""

import pyarrow.parquet as pq

from rag_assets.parsing.stored import LATER_FIELDS
from rag_assets.workspace import Namespace, Workspace, find_uid, read_journal, set_metadata
from rag_assets.workspace.stages import PARSES
from rag_assets_tests.laws.driver import build, put, put_sidecar
from rag_assets_tests.laws.identities import LEAF, ROOFS, WALLS, documents, published


def keys(namespace: Namespace) -> dict[str, str]:
    return dict(published(namespace, "doc_uid, citation_key"))


def test_key_stays_when_documents_come_and_go(workspace: Workspace, namespace: Namespace) -> None:
    lee = {"authors": ["Hye-Ju Lee"], "year": 2021}
    path = put(workspace, "evidence/roofs.md", ROOFS)
    put_sidecar(workspace, "evidence/roofs.md", **lee)
    build(namespace)
    # Before the first one by name, and after it by time.
    put(workspace, "evidence/a.md", LEAF)
    put_sidecar(workspace, "evidence/a.md", **lee)
    build(namespace)
    assert keys(namespace) == {"roofs": "lee2021", "a": "lee2021a"}
    assert dict(published(namespace, "DISTINCT doc_uid, citation_key", "chunks")) == keys(namespace)
    # Better metadata change nothing that a draft may cite.
    put_sidecar(workspace, "evidence/a.md", authors=["Hye-Ju Lee"], year=2022)
    path.unlink()
    build(namespace)
    assert keys(namespace) == {"a": "lee2021a"}
    # Nor does a file that is called like the key of another document.
    put(workspace, "evidence/lee2021a.md", WALLS)
    before = read_journal(namespace.journal)
    build(namespace)
    assert keys(namespace) == {"a": "lee2021a", "lee2021a-2": "lee2021a-2"}
    assert len(read_journal(namespace.journal).citation_keys) == len(before.citation_keys) + 1
    build(namespace)
    assert keys(namespace) == {"a": "lee2021a", "lee2021a-2": "lee2021a-2"}


def test_key_of_a_person_comes_first(workspace: Workspace, namespace: Namespace) -> None:
    lee = {"authors": ["Hye-Ju Lee"], "year": 2021}
    for name, text in (("roofs", ROOFS), ("leaf", LEAF)):
        put(workspace, f"evidence/{name}.md", text)
        put_sidecar(workspace, f"evidence/{name}.md", **lee)
    build(namespace)
    assert keys(namespace) == {"leaf": "lee2021", "roofs": "lee2021a"}
    put_sidecar(workspace, "evidence/roofs.md", **lee, citation_key="lee2021")
    build(namespace)
    assert keys(namespace) == {"leaf": "lee2021b", "roofs": "lee2021"}
    assert find_uid(namespace, "lee2021b") == "leaf"
    assert find_uid(namespace, "lee2021") == "roofs"
    assert find_uid(namespace, "leaf") == "leaf"
    assert find_uid(namespace, "nobody") is None
    set_metadata(namespace, "lee2021b", "citation_key", "own", "ours")
    build(namespace)
    assert keys(namespace) == {"leaf": "own", "roofs": "lee2021"}


def test_library_of_a_version_without_these_fields_is_read_and_built_again(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/roofs.md", ROOFS)
    build(namespace)
    paths = [namespace.record(PARSES, key) for key in namespace.partition_keys]
    held = [path for path in paths if path.is_file()]
    for path in held:
        table = pq.read_table(path).drop_columns([*LATER_FIELDS])
        told = {k: v for k, v in pq.read_metadata(path).metadata.items() if k != b"ARROW:schema"}
        pq.write_table(table.replace_schema_metadata(told), path)
    assert [line.citation_key for line in documents(namespace)] == ["roofs"]
    build(namespace)
    assert keys(namespace) == {"roofs": "roofs"}
    assert all(set(pq.read_schema(path).names) >= LATER_FIELDS for path in held)
