"""What a pack says to cite is what an audit takes for that document, beside other namespaces."""

from pathlib import Path

import pytest

from rag_assets.auditing import audit_citations
from rag_assets.evidence import Question, ask, make_pack
from rag_assets.evidence.bibliography import export_used_sources
from rag_assets.workspace import Workspace, add_namespace
from rag_assets_tests.libraries import build, make_workspace, write_raw

QUESTION = "How much cooler were sedum roofs?"


@pytest.fixture
def twins(tmp_path: Path) -> Workspace:
    """Two namespaces that each hold a `roofs`, one of them with a `streets` of its own."""
    made = make_workspace(
        tmp_path / "twins",
        {
            "evidence/roofs.md": "Sedum roofs were 16.7 degrees cooler than bitumen.\n",
            "evidence/streets.md": "Sedum roofs cooled no street.\n",
        },
    )
    add_namespace(made, "papers", ("raw/papers",), "papers")
    workspace = Workspace.open(made.root)
    write_raw(workspace, "papers/roofs.md", "In Oslo sedum roofs were 4 degrees cooler.\n")
    for name in workspace.namespace_names:
        build(workspace.namespace(name))
    return workspace


def test_uid_of_two_namespaces_is_cited_with_its_namespace(twins: Workspace) -> None:
    outcome = ask(twins, Question(question=QUESTION))
    cited = {(item.namespace, item.doc_uid): item.cite_as for item in outcome.pack.items}
    assert cited == {
        ("thesis", "roofs"): "thesis:roofs",
        ("papers", "roofs"): "papers:roofs",
        ("thesis", "streets"): "streets",
    }
    shown = outcome.markdown.read_text(encoding="utf-8")
    exported = export_used_sources(twins, outcome.json).files[".md"].read_text(encoding="utf-8")
    for text in (shown, exported):
        assert "`{#papers:roofs}`" in text
        assert "`{#streets}`" in text
        assert "`{#roofs}`" not in text


def test_namespace_is_named_where_the_others_were_not_asked(twins: Workspace) -> None:
    pack = make_pack(twins, Question(question=QUESTION, namespaces=("papers",)))
    assert {item.cite_as for item in pack.items} == {"papers:roofs"}


def test_uid_that_only_one_namespace_may_cite_stands_alone(tmp_path: Path) -> None:
    made = make_workspace(
        tmp_path / "one", {"instruction/guidance/roofs.md": "Sedum roofs must be discussed.\n"}
    )
    add_namespace(made, "papers", ("raw/papers",), "papers")
    workspace = Workspace.open(made.root)
    write_raw(workspace, "papers/roofs.md", "In Oslo sedum roofs were 4 degrees cooler.\n")
    for name in workspace.namespace_names:
        build(workspace.namespace(name))
    pack = make_pack(workspace, Question(question=QUESTION))
    assert [item.cite_as for item in pack.items] == ["roofs"]


def test_advice_of_a_pack_is_no_error_in_an_audit(twins: Workspace) -> None:
    pack = make_pack(twins, Question(question=QUESTION))
    draft = twins.root / "chapter.md"
    draft.write_text(
        "".join(f"{item.exact_quote[:-1]} {{#{item.cite_as}}}.\n\n" for item in pack.items), "utf-8"
    )
    statuses = [row.status for row in audit_citations(twins, draft).audit.rows]
    assert len(statuses) == len(pack.items)
    assert "ERROR" not in statuses
