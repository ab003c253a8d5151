"""Every ground of a recipe leads to the bytes of a file, or says where and why it ends before."""

import hashlib
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from rag_assets.cli.main import build_cli
from rag_assets.lab.experience import list_items
from rag_assets.lab.feedback import Strategy
from rag_assets.lab.laboratory import Laboratory, open_laboratory
from rag_assets.lab.products import add_product
from rag_assets.lab.queue import parse_request, submit_request, trace_file, work
from rag_assets.lab.runs import Ground, Run, list_runs, record_run
from rag_assets.lab.teaching import give_feedback, withdraw_feedback
from rag_assets.model import UsageError
from rag_assets.tracing import Chain, Step, open_sql, render_chain, render_overview, trace
from rag_assets.workspace import Workspace
from rag_assets_tests.lab.bases import BASES, make_bases
from rag_assets_tests.lab.laboratories import AT, form, recipe
from rag_assets_tests.libraries import build


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = make_bases(tmp_path_factory.mktemp("made") / "实验室")
    lab = open_laboratory(workspace)
    submit_request(lab, parse_request({"text": "Ethylene from CO2."}), at=AT, by="ana")
    work(lab, now=lambda: AT, clock=lambda: 0.0)
    return workspace.root


@pytest.fixture
def lab(made: Path, tmp_path: Path) -> Laboratory:
    return open_laboratory(Workspace.open(shutil.copytree(made, tmp_path / "实验室")))


def the_run(lab: Laboratory) -> Run:
    with lab.store.reading() as reading:
        return list_runs(reading)[0][0]


def step(chain: Chain, kind: str) -> Step:
    return next(each for each in chain.steps if each.kind == kind)


def test_every_ground_of_a_recipe_leads_to_the_bytes(lab: Laboratory) -> None:
    run = the_run(lab)
    root = lab.workspace.root
    chains = trace(lab.workspace, run.id)
    grounds = run.recipes[0].grounds
    cited = [citation for ground in grounds for citation in ground.citations]
    assert [step(chain, "ground").facts["cites"] for chain in chains] == cited
    assert {step(chain, "ground").facts["field"] for chain in chains} >= {
        "M1", "M2", "atomic_ratio", "small_molecule_modifier",
    }  # fmt: skip
    for number, chain in enumerate(chains, start=1):
        assert chain.name == f"{run.id}#1.{number}"
        assert [each.kind for each in chain.steps] == [
            "recipe", "run", "ground", "publication", "passage", "parent", "parse", "file",
        ]  # fmt: skip
        assert (chain.end, chain.holds) == ("file", True), chain.sentence
        file = step(chain, "file")
        assert file.facts["sha256"] == hashlib.sha256((root / file.name).read_bytes()).hexdigest()
        assert step(chain, "passage").name == step(chain, "ground").facts["cites"]
        assert "word for word" in step(chain, "ground").finding
    (one,) = trace(lab.workspace, f"{run.id}#1.2")
    assert one.name == f"{run.id}#1.2"
    shown = render_chain(one)
    assert "CuMo-TiO2 / Zr-BTB" in shown
    assert "has these bytes now" in shown
    assert "small_molecule_modifier holds" in render_overview(chains)


def test_the_command_prints_it_and_the_page_of_a_run_leads_there(lab: Laboratory) -> None:
    run = the_run(lab)

    def rag(*arguments: str) -> str:
        given = ["--workspace", str(lab.workspace.root), *arguments]
        ran = CliRunner().invoke(build_cli(), given)
        assert ran.exit_code == 0, ran.output
        return ran.stdout

    assert f"`rag trace {run.id}`" in rag("lab", "show", run.id)
    printed = rag("trace", f"{run.id}#1")
    assert "raw/kb_modulation/acids.md" in printed
    assert f"rag trace '{run.id}#1.1'" in printed
    assert "└ file  raw/" in rag("trace", f"{run.id}#1.1")


def test_a_changed_file_a_changed_trace_and_a_passage_that_is_gone_are_seen(
    lab: Laboratory,
) -> None:
    run = the_run(lab)
    raw = lab.workspace.root / "raw/kb_modulation/acids.md"
    old = raw.read_text("utf-8")
    raw.write_text("# Acids\n\nZr nodes were left as they are.\n", encoding="utf-8")
    broken = [each for each in trace(lab.workspace, run.id) if not each.holds]
    assert {step(each, "file").name for each in broken} == {"raw/kb_modulation/acids.md"}
    build(lab.workspace.namespace(BASES[1]))
    gone = [each for each in trace(lab.workspace, run.id) if not each.holds]
    assert len(gone) == len(broken)
    assert {(each.end, step(each, "ground").holds) for each in gone} == {("ground", False)}
    assert f"`rag lab show {run.id}`" in gone[0].sentence
    raw.write_text(old, encoding="utf-8")
    build(lab.workspace.namespace(BASES[1]))
    assert all(each.holds for each in trace(lab.workspace, run.id))
    path = trace_file(lab.workspace, run)
    path.write_text(path.read_text("utf-8").replace("molybdenum", "tungsten"), encoding="utf-8")
    for chain in trace(lab.workspace, run.id):
        assert not chain.holds
        assert "was changed since it was written" in chain.sentence


def test_experience_and_what_cites_nothing_end_where_they_end(lab: Laboratory) -> None:
    run = the_run(lab)
    with lab.store.writing(AT, "ana") as writing:
        for name in ("C2H4", "CO"):
            add_product(writing, name)
    given = form(lab, pros="Glycine helped.")
    give_feedback(lab, run.id, given, Strategy(), at=AT, by="ana")
    with lab.store.writing(AT, "program") as writing:
        (item,) = list_items(writing)
        grounds = (
            Ground(statement="It helped.", basis="experience", citations=(f"mem:{item.id}",)),
            Ground(statement="Nobody knows.", basis="default", field="atomic_ratio"),
        )
        changes = {"id": "r2", "trace": None, "recipes": (recipe(grounds=grounds),)}
        record_run(writing, run.model_copy(update=changes))
    learned, default = trace(lab.workspace, "r2")
    assert (learned.end, learned.holds) == ("experience", True)
    assert step(learned, "experience").facts == {
        "says": "Glycine helped.", "learned from": run.id,
    }  # fmt: skip
    assert (default.end, default.holds) == ("ground", True)
    assert "cites nothing" in default.sentence
    withdraw_feedback(lab, run.id, at=AT, by="ana")
    learned, _ = trace(lab.workspace, "r2#1")
    assert not learned.holds
    assert "taken back" in step(learned, "experience").finding
    with pytest.raises(UsageError, match="has no ground 'r2#2'; it has 1 recipe"):
        trace(lab.workspace, "r2#2")
    with pytest.raises(UsageError, match="nothing is called 'r3'"):
        trace(lab.workspace, "r3")


def test_sql_reads_runs_feedback_and_experience(lab: Laboratory) -> None:
    run = the_run(lab)
    with lab.store.writing(AT, "ana") as writing:
        for name in ("C2H4", "CO"):
            add_product(writing, name)
    given = form(lab, C2H4=6.0, CO=2.0, pros="Glycine helped.")
    give_feedback(lab, run.id, given, Strategy(), at=AT, by="ana", learn=True)
    with open_sql(lab.workspace) as connection:

        def ask(query: str) -> list[tuple[object, ...]]:
            return connection.execute(query).fetchall()

        assert ask(
            "SELECT r.M1, r.M2, r.atomic_ratio, r.modifier, p.name, m.value, m.fraction, f.score "
            "FROM lab_recipes r JOIN lab_feedback f USING (run_id) "
            "JOIN lab_feedback_products m USING (run_id) JOIN lab_products p ON p.id = product_id "
            "WHERE r.rank = f.recipe_index ORDER BY p.name"
        ) == [
            ("Cu", "Mo", "2:1", "4-aminobenzoic acid", "C2H4", 6.0, 0.75, 7.0),
            ("Cu", "Mo", "2:1", "4-aminobenzoic acid", "CO", 2.0, 0.25, 7.0),
        ]
        assert ask("SELECT content, lesson->>'run_id' FROM lab_items i JOIN lab_lessons l "
                   "ON l.item_id = i.id") == [("Glycine helped.", run.id)]  # fmt: skip
        assert ask("SELECT learn FROM lab_feedback") == [(True,)]
        assert ask("SELECT count(*) FROM lab_presets") == [(0,)]
        # A ground's passage is found among the published ones.
        cited = ask(
            "SELECT DISTINCT c.doc_uid FROM lab_recipes, "
            'unnest(from_json(grounds, \'[{"citations": ["VARCHAR"]}]\')) AS g(ground), '
            "unnest(ground.citations) AS k(citation) JOIN chunks c ON c.citation_id = citation "
            "ORDER BY 1"
        )
        assert [uid for (uid,) in cited] == ["acids", "coupling"]
