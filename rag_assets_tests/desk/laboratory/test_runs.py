"""One run's pages: recipes with grounds, citations, trace, live steps, replay, export."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.lab.queue import trace_file
from rag_assets.lab.runs import Dropped, Ground, Modifier, Recipe, Run, Support, record_run
from rag_assets.lab.showing import view_run
from rag_assets_tests.desk.laboratory.visits import HOSTILE, PRINTED, Visit, visit_laboratory
from rag_assets_tests.lab.laboratories import AT, put_run, recipe, run_of

CITED = "kb:kb_principles__chunk-0123456789abcdef"
SUPPORTED = Support(verdict="supported", reason="It stands there.", by="reader", score=0.9)
UNSURE = Support(
    verdict="not_supported", reason="The source tells of tungsten.", by="reader", score=0.2,
    citation=CITED, quote="Tungsten gave vacancies.",
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Iterator[tuple[Visit, str]]:
    """A run that rules made; the tests of this module only read it."""
    root = Path(shutil.copytree(library, tmp_path_factory.mktemp("made") / "lab"))
    with visit_laboratory(root) as visited:
        yield visited, visited.ask(recipes_per_run="1")


def model_run(**changes: object) -> Run:
    """A run as a model makes it: certain and uncertain grounds, text that people must not trust."""
    grounds = (
        Ground(statement="Cu couples CO.", basis="evidence", citations=(CITED,), field="M1",
               support=SUPPORTED),
        Ground(statement="Mo takes electrons.", basis="evidence", citations=(CITED,), field="M2",
               support=UNSURE),
        Ground(statement="Equal amounts.", basis="default", field="atomic_ratio"),
        Ground(statement=HOSTILE, basis="reasoning", field="small_molecule_modifier"),
    )  # fmt: skip
    recipes = tuple(
        Recipe(
            M1="Cu", M2="Mo", atomic_ratio="1:1", rank=rank, why_ranked=f"Reason {rank}.",
            small_molecule_modifier=Modifier(name="glycine", smiles="NCC(=O)O"), grounds=grounds,
            dropped=(Dropped(what="CuW", why=HOSTILE, citations=(CITED,)),),
        )
        for rank in (1, 2, 3)
    )  # fmt: skip
    values = {"id": "m1", "kind": "model", "state": "done", "created_at": AT,
              "request": {"text": HOSTILE}, "recipes": recipes}  # fmt: skip
    return Run(**{**values, **changes})


def test_recipes_stand_in_order_with_reasons_and_what_was_left_out(visited: Visit) -> None:
    with visited.lab.store.writing(AT, "program") as writing:
        record_run(writing, model_run())
    answer = visited.get("/lab/runs/m1")
    text = visited.see("/lab/runs/m1")
    places = [text.index(f"{rank}. CuMo-TiO2 / Zr-BTB") for rank in (1, 2, 3)]
    assert places == sorted(places)
    assert "Why here: Reason 2." in text
    assert "Considered and left out CuW" in text
    # What stands in data is text wherever it stands.
    assert HOSTILE in text
    assert "<img" not in answer.text
    assert "49" not in text


def test_each_ground_says_its_basis_and_what_is_not_certain_stands_apart(visited: Visit) -> None:
    with visited.lab.store.writing(AT, "program") as writing:
        record_run(writing, model_run(recipes=model_run().recipes[:1]))
    text = visited.see("/lab/runs/m1")
    table, _, apart = text.partition("Not supported with certainty")
    assert "literature Cu couples CO. [1] (its source says it)" in table
    assert "default, nobody is cited Equal amounts." in table
    assert "reasoning, nobody is cited" in table
    assert "Mo takes electrons." not in table
    assert "nothing that is certain; see below" in table
    assert "Metal M2: literature Mo takes electrons. [1]" in apart
    assert "The source tells of tungsten." in apart
    assert "Tungsten gave vacancies." in apart


def _cited(visited: Visit, run_id: str) -> str:
    """Return a citation of a passage in kb_principles."""
    grounds = visited.run(run_id).recipes[0].grounds
    return next(c for one in grounds for c in one.citations if "kb_principles" in c)


def test_every_citation_opens_what_the_run_read(made: tuple[Visit, str]) -> None:
    visited, run_id = made
    page = visited.get(f"/lab/runs/{run_id}")
    links = sorted(set(re.findall(r'href="(/lab/passages/[^"]+)"', page.text)))
    assert len(links) == 2
    for link in links:
        text = visited.see(link)
        assert "As the run read it" in text
        assert "Its words are the same." in text
        assert "raw/kb_" in text
    cited = _cited(visited, run_id)
    assert "copper and molybdenum" in visited.see(f"/lab/passages/{cited}")


def test_a_printed_passage_opens_with_its_page_and_a_mark_on_it(made: tuple[Visit, str]) -> None:
    visited, run_id = made
    sources = view_run(visited.lab, run_id).sources
    (printed,) = (cited for cited, one in sources.items() if one.name.endswith(".pdf"))
    page = visited.get(f"/lab/passages/{printed}?run={run_id}").text
    (picture,) = re.findall(r'<image href="([^"]+)"', page)
    assert visited.get(picture).headers["content-type"] == "image/jpeg"
    assert page.count('class="evidence"') >= 1
    assert PRINTED in page


def test_a_citation_that_is_gone_opens_as_the_run_read_it_or_says_so(visited: Visit) -> None:
    run_id = visited.ask()
    cited = _cited(visited, run_id)
    shutil.rmtree(visited.lab.workspace.root / "index" / "kb_principles")
    assert "copper and molybdenum" in visited.see(f"/lab/passages/{cited}?run={run_id}")
    visited.get(f"/lab/passages/{cited}", 404)
    visited.get("/lab/passages/kb:nowhere__chunk-1", 404)
    opened = visited.client.get("/lab/passages/mem:nothing")
    assert opened.status_code == 404
    assert "there is no item" in opened.text


def test_the_trace_shows_every_step_whole(made: tuple[Visit, str]) -> None:
    visited, run_id = made
    run = visited.run(run_id)
    events = [
        json.loads(line)
        for line in trace_file(visited.lab.workspace, run).read_text("utf-8").splitlines()
    ]
    tree = visited.get(f"/lab/runs/{run_id}/trace")
    assert len(re.findall(rf"/lab/runs/{run_id}/trace/\d+", tree.text)) == len(events)
    assert '"k_role": 3' in text_in(tree.text)
    (search,) = [e for e in events if e["kind"] == "called"][:1]
    step = visited.see(f"/lab/runs/{run_id}/trace/{search['seq']}")
    source = search["observed"]["sources"][0]
    for shown in (search["arguments"]["query"], source["citation"], source["title"]):
        assert shown in step
    assert '"ranks"' in step
    # The note as it stood then: the constraints, and no candidate yet.
    assert "The linker is fixed: BTB." in step
    assert "Candidates" not in step.partition("Notes of the run after this step")[2]
    visited.get(f"/lab/runs/{run_id}/trace/{len(events) + 1}", 404)


def text_in(page: str) -> str:
    return page.replace("&#34;", '"')


def test_the_live_stream_goes_on_after_the_last_event_that_was_seen(
    made: tuple[Visit, str],
) -> None:
    visited, run_id = made
    path = f"/lab/runs/{run_id}/events"
    whole = visited.get(path).text
    numbers = re.findall(r"^id: (\d+)", whole, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert "The run has begun." in whole
    assert f"/lab/runs/{run_id}" in whole.partition("event: end")[2]
    last = numbers[-2]
    rest = visited.client.get(path, headers={"Last-Event-ID": last}).text
    assert re.findall(r"^id: (\d+)", rest, re.MULTILINE) == numbers[-1:]


def test_a_run_is_made_again_from_its_trace(made: tuple[Visit, str]) -> None:
    visited, run_id = made
    assert "The same, byte for byte." in visited.see(f"/lab/runs/{run_id}/replay")


def test_a_trace_that_was_changed_is_said_and_the_recipes_stay(visited: Visit) -> None:
    run_id = visited.ask()
    path = trace_file(visited.lab.workspace, visited.run(run_id))
    path.write_text(path.read_text("utf-8").replace("copper", "silver"), encoding="utf-8")
    assert "was changed" in visited.get(f"/lab/runs/{run_id}/replay", 400).text
    path.unlink()
    text = visited.see(f"/lab/runs/{run_id}")
    assert "CuMo-TiO2" in text
    assert "the trace of this run is gone" in text


def test_a_run_is_taken_away_as_a_file(made: tuple[Visit, str]) -> None:
    visited, run_id = made
    assert "### 1. CuMo-TiO2" in visited.get(f"/lab/runs/{run_id}/export.md").text


def test_what_is_stored_of_a_run_is_the_same_under_both_languages(root: Path) -> None:
    other = Path(shutil.copytree(root, root.parent / "other"))
    stored = []
    for place, language in ((root, "en"), (other, "zh")):
        with visit_laboratory(place) as visited:
            visited.post("/language", language=language, back="/lab")
            run_id = visited.ask()
            shown = visited.get(f"/lab/runs/{run_id}").text
            assert ("依据" in shown) == (language == "zh")
            assert "CuMo-TiO2 / Zr-BTB" in shown
            visited.give(run_id)
            with visited.lab.store.reading() as reading:
                bodies = [
                    (row["entity"], row["action"], without_ids(row["state"]))
                    for row in reading.rows("changes")
                ]
            trace = trace_file(visited.lab.workspace, visited.run(run_id)).read_bytes()
            exported = visited.get(f"/lab/runs/{run_id}/export.md").content
            stored.append((trace, exported, bodies))
    assert stored[0] == stored[1]


def without_ids(body: object) -> str:
    """Return what was stored, without the ids that are drawn anew each time."""
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
    return re.sub(uuid, "id", json.dumps(body, sort_keys=True))


def test_what_was_made_before_is_told_beside_a_recipe(visited: Visit) -> None:
    for name in ("r1", "r2"):
        put_run(visited.lab, name, recipes=1)
    other = recipe(atomic_ratio="2:1")
    # However it is written.
    with visited.lab.store.writing(AT, "program") as writing:
        same = recipe(atomic_ratio="1.5:1.5", small_molecule_modifier=Modifier(name="甘氨酸"))
        record_run(writing, run_of("r4").model_copy(update={"recipes": (same,)}))
    with visited.lab.store.writing(AT, "program") as writing:
        record_run(writing, run_of("r3").model_copy(update={"recipes": (other,)}))
    visited.give("r1", score="4.5", as_made="more water")
    assert "Made before: r1 (score 4.5, as made: more water)" in visited.see("/lab/runs/r2")
    assert "Made before: r1" in visited.see("/lab/runs/r4")
    for name in ("r1", "r3"):
        assert "Made before" not in visited.see(f"/lab/runs/{name}")


def test_an_imported_experiment_shows_its_cells(visited: Visit) -> None:
    put_run(visited.lab, "before", kind="imported", request={"cells": {"催化剂": HOSTILE}})
    text = visited.see("/lab/runs/before")
    assert "imported experiment" in text
    assert f"催化剂 {HOSTILE}" in text
    assert "Begin again" not in text


def test_a_request_in_chinese_has_all_its_pages(visited: Visit) -> None:
    run_id = visited.ask(text="高选择性乙烯配方")
    for path in ("", "/trace", "/feedback", "/replay", "/events", "/export.md"):
        visited.get(f"/lab/runs/{run_id}{path}")
    saved = visited.get(f"/lab/runs/{run_id}/export.md").headers["content-disposition"]
    assert saved.isascii()
    assert visited.give(run_id).status_code == 200


def test_unknown_runs_are_not_found(visited: Visit) -> None:
    for path in ("", "/trace", "/feedback", "/report", "/events", "/replay"):
        assert "there is no run 'r9'" in visited.see(f"/lab/runs/r9{path}", 404)
