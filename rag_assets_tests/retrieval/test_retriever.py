"""The object through which a workspace is asked."""

import pytest

from rag_assets.model import PublicationError, UsageError
from rag_assets.retrieval import Retriever, SearchFilters
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace
from rag_assets_tests.retrieval.made_up_readers import configured

FILES = {
    "evidence/roofs.md": "# Roofs\n\nSedum roofs were 16.7 degrees cooler than bitumen.\n",
    "evidence/树木.md": "# 行道树\n\n树冠覆盖率最高的街道午后气温低1.8度。\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nSedum roofs must be discussed critically.\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("library"), FILES)
    build(made.namespace("thesis"))
    return made


def test_hits_parents_and_what_was_applied_come_together(workspace: Workspace) -> None:
    with Retriever(workspace) as retriever:
        found = retriever.retrieve("How cool are sedum roofs?", top_k=2)
    assert [hit.doc_uid for hit in found.hits][:1] == ["roofs"]
    assert len(found.hits) == len(found.parents) == 2
    assert found.parents[0].best.explanation["kept_because"].startswith("place 1 of")
    assert found.settings["top_k"] == 2
    assert found.settings["fusion"]["file"] == "fusion.yaml"
    assert found.filters == ("namespace in (thesis)", "source_subtype <> references")
    assert set(found.manifests) == {"thesis"}


def test_document_ids_and_filters_confine_the_search(workspace: Workspace) -> None:
    with Retriever(workspace, ["thesis"]) as retriever:
        only = retriever.retrieve("sedum roofs", document_ids=["rubric"])
        doc_id = only.hits[0].doc_id
        same = retriever.retrieve("sedum roofs", document_ids=[doc_id])
        citable = retriever.retrieve("sedum roofs", filters=SearchFilters(citable_only=True))
    assert {hit.doc_uid for hit in only.hits} == {"rubric"}
    assert same.hits == only.hits
    assert "rubric" not in {hit.doc_uid for hit in citable.hits}


def test_neighbours_are_shown_where_the_settings_ask(workspace: Workspace) -> None:
    with Retriever(workspace, [], configured(window=1)) as retriever:
        found = retriever.retrieve("sedum roofs", top_k=1)
    (window,) = found.windows
    assert found.hits[0].text in window.text
    assert found.hits[0] in window.found


def test_what_cannot_be_asked_is_refused(workspace: Workspace) -> None:
    closed = Retriever(workspace)
    with pytest.raises(UsageError, match="not open"):
        closed.retrieve("roofs")
    with Retriever(workspace) as retriever:
        with pytest.raises(UsageError, match="no text"):
            retriever.retrieve("?!")
        with pytest.raises(UsageError, match="'top_k' must be at least 1, got 0"):
            retriever.retrieve("roofs", top_k=0)
        with pytest.raises(UsageError, match="holds a document 'nobody'"):
            retriever.retrieve("roofs", document_ids=["nobody"])


def test_more_results_than_can_come_are_warned_of(workspace: Workspace) -> None:
    with Retriever(workspace) as retriever:
        found = retriever.retrieve("roofs", top_k=500)
    assert any("at most 50 results" in warning for warning in found.warnings)


def test_a_workspace_without_publications_names_the_command(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    empty = make_workspace(tmp_path_factory.mktemp("empty"), FILES)
    with pytest.raises(PublicationError, match="rag ingest"), Retriever(empty):
        pass


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("source_type=evidenz", "Did you mean 'evidence'.*instruction, unsorted"),
        ("source_subtype=guidence", "Did you mean 'guidance'"),
    ],
)
def test_a_source_type_that_there_is_not_is_refused_with_those_there_are(
    workspace: Workspace, condition: str, words: str
) -> None:
    with Retriever(workspace) as retriever, pytest.raises(UsageError, match=words):
        retriever.retrieve("roofs", filters=SearchFilters().with_filter(condition))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("doc_uid=rofs,rubric", "'doc_uid=rofs': no document has it. Did you mean 'roofs'?"),
        ("language=zho", "'language=zho': no document has it. Did you mean 'zh'? There is zh."),
        ("tag=heat", "'tag=heat': no document has it. No document has any."),
    ],
)
def test_a_value_that_no_document_has_is_warned_of_with_the_nearest(
    workspace: Workspace, condition: str, words: str
) -> None:
    with Retriever(workspace) as retriever:
        found = retriever.retrieve("roofs", filters=SearchFilters().with_filter(condition))
    assert [warning for warning in found.warnings if words in warning]


def test_values_that_documents_or_places_have_are_not_warned_of(workspace: Workspace) -> None:
    filters = SearchFilters(doc_uids=("roofs",), source_types=("evidence", "unsorted"))
    with Retriever(workspace) as retriever:
        assert not [
            w for w in retriever.retrieve("roofs", filters=filters).warnings if "filter" in w
        ]
