"""Entities from the stage to the search: where they are on, and where they are off."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rag_assets.defs.assets import build_namespace_assets
from rag_assets.model import ConfigurationError
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table
from rag_assets.publishing.schemas import GRAPH_SCHEMAS
from rag_assets.retrieval import Retriever, SearchFilters, explain_hit
from rag_assets.retrieval.hits import explain
from rag_assets.storage import current_folder, read_manifest
from rag_assets.workspace import Namespace, Workspace, shipped_settings
from rag_assets_tests.laws.driver import SMALL, build, make_workspace, put, state_of

ON = {"graph": {"enabled": True}}
FILM = "# Films\n\nThe film Ed Wood was directed by Tim Burton, and Johnny Depp played in it.\n"
PERSON = "# People\n\nBorn in Burbank, the painter Tim Burton went to school there.\n"
OTHER = "# Roofs\n\nOn the roofs of Paris trees give shade to those who were born there.\n"
CITABLE = SearchFilters(citable_only=True)
QUESTION = "Where did the director of Ed Wood grow up?"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = make_workspace(tmp_path / "library", lib=ON)
    for name, text in (("film", FILM), ("person", PERSON), ("roofs", OTHER)):
        put(made, f"evidence/{name}.md", text)
    return made


def tables_of(namespace: Namespace) -> dict[str, list[dict[str, object]]]:
    folder = current_folder(namespace.publications, namespace.name)
    with open_catalogue(folder / catalogue_name(folder.name)) as connection:
        return {name: read_table(connection, name).to_pylist() for name in GRAPH_SCHEMAS}


def switch(workspace: Workspace, is_on: bool) -> Namespace:
    text = yaml.safe_dump({**SMALL, **(ON if is_on else {})})
    workspace.namespace_file("lib").write_text(text, encoding="utf-8")
    return workspace.namespace("lib")


def test_entities_are_merged_over_documents_and_relations_have_their_sentence(
    workspace: Workspace,
) -> None:
    namespace = workspace.namespace("lib")
    build(namespace)
    tables = tables_of(namespace)
    by_key = {row["entity"]: row for row in tables["entities"]}
    burton = by_key["tim burton"]
    assert (burton["name"], burton["documents"], burton["mentions"]) == ("Tim Burton", 2, 2)
    texts = {"film": FILM, "person": PERSON, "roofs": OTHER}
    with Retriever(workspace, ["lib"]) as retriever:
        (reader,) = retriever.readers
        for row in tables["mentions"]:
            passage = reader.fetch_hits([str(row["chunk_id"])])[str(row["chunk_id"])].text
            assert passage[row["char_start"] : row["char_end"]] == row["name"]
            assert passage in texts[str(row["doc_uid"])]
        (row,) = (
            row for row in tables["relations"]
            if {row["first"], row["second"]} == {"ed wood", "tim burton"}
        )  # fmt: skip
        passage = reader.fetch_hits([str(row["chunk_id"])])[str(row["chunk_id"])].text
        sentence = passage[row["sentence_start"] : row["sentence_end"]]
        assert sentence.startswith("The film Ed Wood")


def test_what_stands_in_a_long_list_is_not_related(workspace: Workspace) -> None:
    towns = "Rome Oslo Bern Riga Kyiv Lima Doha Cairo Tunis Accra Dakar Quito Hanoi".split()  # noqa: SIM905
    for most, related in ((12, True), (13, False)):
        text = f"We were in {', '.join(towns[:most])}.\n"
        put(workspace, "evidence/towns.md", text)
        build(workspace.namespace("lib"))
        pairs = {
            (row["first"], row["second"])
            for row in tables_of(workspace.namespace("lib"))["relations"]
        }
        assert (("oslo", "rome") in pairs) is related


def test_removing_and_editing_leave_nothing_behind(workspace: Workspace) -> None:
    namespace = workspace.namespace("lib")
    assert build(namespace).computed["entities"] == 3
    assert build(namespace).computed["entities"] == 0
    (workspace.root / "raw/evidence/film.md").unlink()
    put(workspace, "evidence/person.md", PERSON.replace("Burbank", "Pasadena"))
    assert build(namespace).computed["entities"] == 1
    names = {row["entity"] for row in tables_of(namespace)["entities"]}
    assert {"tim burton", "pasadena", "paris"} <= names
    assert not {"ed wood", "johnny depp", "burbank"} & names


def test_a_question_leads_to_a_passage_that_shares_no_name_with_it(workspace: Workspace) -> None:
    build(workspace.namespace("lib"))
    with Retriever(workspace, ["lib"]) as retriever:
        found = retriever.retrieve(QUESTION)
    hits = {hit.doc_uid: hit for hit in found.hits}
    assert set(hits) >= {"film", "person"}
    assert hits["film"].scores["graph"] == 1.0 > hits["person"].scores["graph"] > 0
    assert "via Ed Wood, 1 sentence" in explain_hit(hits["film"]).splitlines()
    assert "via Ed Wood – Tim Burton, 1 sentence" in explain_hit(hits["person"]).splitlines()


def test_a_question_that_names_nothing_is_searched_as_without(workspace: Workspace) -> None:
    question = "which trees give shade on roofs"
    found = []
    for is_on in (True, False):
        build(switch(workspace, is_on))
        with Retriever(workspace, ["lib"]) as retriever:
            found.append(
                [(h.chunk_id, h.score, h.explanation) for h in retriever.retrieve(question).hits]
            )
    assert found[0] == found[1] != []


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("who directed ed wood", set()),  # in small letters these are two words
        ("Paris is where?", set()),  # a sentence begins with any word
        ("Who was in Paris?", {"paris"}),
        ("What is a cool roof?", {"cool roof"}),  # a term, since it was quoted
        ("When did TIM BURTON live?", {"tim burton"}),
    ],
)
def test_a_question_names_what_it_writes_as_a_name(
    workspace: Workspace, question: str, named: set[str]
) -> None:
    put(workspace, "evidence/terms.md", "They call it a “cool roof” there.\n")
    build(workspace.namespace("lib"))
    with Retriever(workspace, ["lib"]) as retriever:
        (reader,) = retriever.readers
        assert reader.entity_graph is not None
        assert set(reader.entity_graph.names_in(question)) == named


def test_what_is_more_than_a_step_away_is_told_as_such() -> None:
    told = {"entities": ["Ed Wood", "Burbank"], "sentences": 0}
    assert explain({"entities": told}) == "via Ed Wood – Burbank, by way of others"


def test_listed_names_lead_across_spellings_and_relisting_finds_anew(
    workspace: Workspace,
) -> None:
    put(workspace, "evidence/acid.md", "With formic acid the crystals grew larger near Kyoto.\n")
    question = "甲酸有什么作用？"
    namespace = switch(workspace, is_on=True)
    build(namespace)
    # A spelling more is known to questions, though no passage has it.
    one, more = ["formic acid", "acetic acid"], [["formic acid", "甲酸"], "acetic acid"]
    crystals = [["crystals", "甲酸"]]
    listed = ((one, None), (more, "formic acid"), (crystals, "crystals"), ([], None))
    for names, key in listed:
        text = yaml.safe_dump({**SMALL, "graph": {"enabled": True, "names": names}})
        workspace.namespace_file("lib").write_text(text, encoding="utf-8")
        namespace = workspace.namespace("lib")
        assert build(namespace).computed["entities"] == 4
        assert build(namespace).computed["entities"] == 0
        with Retriever(workspace, ["lib"]) as retriever:
            (reader,) = retriever.readers
            assert reader.entity_graph is not None
            assert set(reader.entity_graph.names_in(question)) == ({key} if key else set())
            # One word in small letters counts where it is listed.
            known = reader.entity_graph.names_in("why are crystals large?")
            assert set(known) == ({"crystals"} if key == "crystals" else set())
            scored = reader.entity_graph.scores(question)
            assert bool(scored) == bool(key)
            assert all(chunk.startswith("acid:") for chunk in scored)


def test_hits_carry_the_score_of_the_walk(workspace: Workspace) -> None:
    build(workspace.namespace("lib"))
    with Retriever(workspace, ["lib"]) as retriever:
        (reader,) = retriever.readers
        graph = reader.entity_graph
        assert graph is not None
        hits = {hit.chunk_id: hit for hit in retriever.retrieve(QUESTION).hits}
        scores = graph.scores(QUESTION)
        assert scores
        for chunk, score in scores.items():
            assert hits[chunk].scores["graph"] == score


def test_filters_hold_for_what_entities_find(workspace: Workspace) -> None:
    put(workspace, "instruction/note.md", "# Note\n\nOur teacher saw Ed Wood with Vincent Price.\n")
    build(workspace.namespace("lib"))
    with Retriever(workspace, ["lib"]) as retriever:
        (reader,) = retriever.readers
        assert reader.entity_graph is not None
        assert any(key.startswith("note:") for key in reader.entity_graph.scores(QUESTION))
        assert {hit.doc_uid for hit in retriever.retrieve(QUESTION, filters=CITABLE).hits} <= {
            "film", "person", "roofs"
        }  # fmt: skip


def test_weights_may_name_the_graph(workspace: Workspace) -> None:
    build(workspace.namespace("lib"))
    retrieve = shipped_settings().retrieve
    fusion = retrieve.fusion.model_copy(update={"weights": {"lexical": 0.0, "graph": 1.0}})
    settings = retrieve.model_copy(update={"fusion": fusion})
    with Retriever(workspace, ["lib"], settings) as retriever:
        assert [hit.doc_uid for hit in retriever.retrieve(QUESTION).hits][:2] == ["film", "person"]


def test_switched_off_there_is_no_asset_no_record_no_table_and_no_import(
    workspace: Workspace,
) -> None:
    namespace = switch(workspace, is_on=False)
    built = build(namespace)
    assert "entities" not in built.computed
    assert not (namespace.records / "entities").exists()
    assert not GRAPH_SCHEMAS.keys() & built.published.counts.keys()  # type: ignore[union-attr]
    names = {asset.key.path[-1] for asset in build_namespace_assets(namespace)}
    assert "entities" not in names
    on = build_namespace_assets(switch(workspace, is_on=True))
    assert "entities" in {asset.key.path[-1] for asset in on}
    switch(workspace, is_on=False)
    program = (
        "import sys; from rag_assets.workspace import Workspace; "
        "from rag_assets.retrieval import Retriever; "
        f"found = Retriever(Workspace.open({str(workspace.root)!r})).__enter__()"
        f".retrieve({QUESTION!r}); assert found.hits; "
        "print([m for m in sys.modules if m in "
        "('rag_assets.publishing.graph.finding', 'rag_assets.publishing.graph.finding', "
        "'rag_assets.retrieval.entities')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout.strip() == "[]"


def test_switched_off_again_the_publication_is_the_one_of_before(workspace: Workspace) -> None:
    off = switch(workspace, is_on=False)
    build(off)
    before = state_of(off)
    on = switch(workspace, is_on=True)
    build(on)
    assert state_of(on)["publication"] != before["publication"]
    off = switch(workspace, is_on=False)
    build(off)
    after = state_of(off)
    assert after == before
    assert "entities" not in read_manifest(
        current_folder(off.publications, off.name)
    )["stages"]  # fmt: skip


def test_only_the_template_of_knowledge_bases_switches_it_on() -> None:
    assert not shipped_settings().graph.enabled
    assert is_on("kb_principles")
    assert not any(map(is_on, ("thesis", "papers", "law")))


def is_on(template: str) -> bool:
    path = Path(__file__).parents[2] / "configs" / "namespaces" / f"{template}.yaml"
    stated = yaml.safe_load(path.read_text(encoding="utf-8"))
    return bool(stated.get("graph", {}).get("enabled", False))


@pytest.mark.parametrize(
    ("names", "place"),
    [([""], "graph.names.0.0"), (["ok", ["a", 5]], "graph.names.1.1"), ([[]], "graph.names.0")],
)
def test_a_name_that_is_none_is_refused_where_it_stands(
    tmp_path: Path, names: list[object], place: str
) -> None:
    made = make_workspace(tmp_path / "library", lib={"graph": {"enabled": True, "names": names}})
    with pytest.raises(ConfigurationError, match=f"'{place}'"):
        made.namespace("lib")
