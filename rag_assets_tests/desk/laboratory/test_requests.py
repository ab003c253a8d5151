"""Requests, the queue and its worker, as the pages show them."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_assets.lab import queue as working
from rag_assets.lab.laboratory import init_laboratory, open_laboratory
from rag_assets.lab.queue import parse_request, submit_request, worker_lock
from rag_assets.lab.runs import Run, record_run
from rag_assets.lab.showing import read_queue
from rag_assets.storage import hold_lock
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.laboratory.visits import (
    ASKED,
    HOSTILE,
    Visit,
    name_model,
    request_form,
    visit_laboratory,
)
from rag_assets_tests.desk.served import visit
from rag_assets_tests.lab.laboratories import AT
from rag_assets_tests.lab.scripted_runs import SEARCH, ListModel, finish, propose
from rag_assets_tests.libraries import make_workspace


@contextmanager
def another_worker(visited: Visit) -> Iterator[None]:
    """Hold the queue as another process does."""
    lock = worker_lock(visited.lab.workspace)
    with hold_lock(lock, "the queue", lambda _: None, seconds=0.0):
        yield


def runs_of(visited: Visit) -> list[Run]:
    return list(read_queue(visited.lab).runs)


def test_a_request_becomes_runs_that_the_desk_works_on(visited: Visit) -> None:
    answer = visited.post("/lab/runs/new", **request_form(n="3"))
    assert str(answer.url).endswith("/lab")
    visited.wait()
    text = visited.see("/lab")
    assert "Nothing waits." in text
    assert text.count("done") == 3
    one = visited.ask(text="Another one.")
    run = visited.run(one)
    assert (run.state, run.request["n"], run.request["recipes_per_run"]) == ("done", 1, 1)
    assert run.request["text"] == "Another one."
    assert "CuMo-TiO2 / Zr-BTB" in visited.see("/lab/runs")


def test_what_collecting_is_is_said_before_a_run_begins(visited: Visit) -> None:
    text = visited.see("/lab/runs/new")
    assert "No language model is named in config.yaml" in text
    assert "Words decide which is which" in text
    assert "All runs of one request give the same." in text


def test_a_request_that_cannot_be_taken_stands_there_as_it_was_typed(visited: Visit) -> None:
    for changes, said in (
        ({"text": " ? "}, "has words"),
        ({"n": "6"}, "less than or equal to 5"),
        ({"recipes_per_run": "4"}, "less than or equal to 3"),
        ({"temperature": "3,5"}, "a point before decimals"),
    ):
        answer = visited.post("/lab/runs/new", 400, **request_form(**{"text": HOSTILE, **changes}))
        assert said in answer.text
        if "text" not in changes:
            assert "&lt;img src=x onerror" in answer.text
            assert HOSTILE not in answer.text
    assert "There are no runs yet." in visited.see("/lab")


def test_a_missing_base_is_said_where_recipes_are_asked_for(visited: Visit) -> None:
    shutil.rmtree(visited.lab.workspace.root / "index" / "kb_modulation")
    assert "kb_modulation" in visited.see("/lab/runs/new")
    assert "The knowledge base kb_modulation is not there" in visited.see("/lab")


def test_a_run_that_waits_is_canceled_and_begun_again(visited: Visit) -> None:
    with another_worker(visited):
        run_id = visited.ask()
        assert visited.run(run_id).state == "queued"
        text = visited.see("/lab")
        assert "Another process works on the queue" in text
        assert "waiting" in text
        assert "waits in the queue" in visited.see(f"/lab/runs/{run_id}")
        visited.post(f"/lab/runs/{run_id}/cancel")
    assert visited.run(run_id).state == "canceled"
    assert "canceled by Ada before it began" in visited.see(f"/lab/runs/{run_id}")
    visited.post("/lab/work")
    visited.wait()
    assert visited.run(run_id).state == "canceled"
    visited.post(f"/lab/runs/{run_id}/again")
    visited.wait()
    assert visited.run(run_id).state == "done"
    refused = visited.post(f"/lab/runs/{run_id}/cancel", 400)
    assert "there is nothing to cancel" in refused.text


def test_a_run_that_works_is_canceled_before_its_next_call(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def answer(_: object) -> object:
        asked.set()
        assert go_on.wait(60)
        return SEARCH

    model = ListModel(answer, propose("C1"), finish("R1"))
    roles = ("orchestrator", "mof_expert", "tio2_expert")
    monkeypatch.setattr(working, "_models", lambda lab, run: dict.fromkeys(roles, model))
    name_model(root, ["unused"])
    with visit_laboratory(root) as visited:
        visited.post("/lab/runs/new", **request_form(policy="model", n="2"))
        assert asked.wait(60)
        first, second = (run.id for run in runs_of(visited))
        assert "working" in visited.see(f"/lab/runs/{first}")
        visited.post(f"/lab/runs/{first}/cancel")
        visited.post(f"/lab/runs/{second}/cancel")
        go_on.set()
        visited.wait()
        assert [run.state for run in runs_of(visited)] == ["canceled", "canceled"]
        assert "while it worked" in visited.see(f"/lab/runs/{first}")
    assert len(model.requests) == 1


def test_a_run_whose_process_died_is_marked_and_the_queue_goes_on(root: Path) -> None:
    lab = open_laboratory(Workspace.open(root))
    dead, waits = submit_request(lab, parse_request({"text": ASKED, "n": 2}), at=AT, by="ana")
    with lab.store.writing(AT, "program") as writing:
        record_run(writing, dead.model_copy(update={"state": "running"}))
    # The desk goes on with what waits as soon as it opens.
    with visit_laboratory(root) as visited:
        opening = visited.see("/lab")
        visited.post("/lab/work")
        visited.wait()
        assert dead.id in opening
        assert "ended unexpectedly" in visited.see(f"/lab/runs/{dead.id}")
        assert "Begin again" in visited.see(f"/lab/runs/{dead.id}")
        assert visited.run(waits.id).state == "done"
        assert visited.run(dead.id).state == "failed"


def test_a_workspace_without_a_laboratory_imports_nothing_of_it(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library", {})
    code = (
        "import sys; from pathlib import Path; from rag_assets.workspace import Workspace; "
        "from rag_assets_tests.desk.served import visit; "
        "\nwith visit(Workspace.open(Path(sys.argv[1]))) as client:"
        "\n    print(client.get('/').status_code, client.get('/lab').status_code, "
        "'=\"/lab' in client.get('/').text, "
        "[n for n in sys.modules if n.startswith(('rag_assets.lab', 'rag_assets.desk.lab'))])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(workspace.root)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "200 404 False []"


def test_a_workspace_that_becomes_a_laboratory_has_its_pages_at_once(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library", {})
    with visit(workspace) as client:
        assert client.get("/lab").status_code == 404
        init_laboratory(Workspace.open(workspace.root))
        assert "There are no runs yet." in client.get("/lab").text
        assert client.get("/lab/settings").status_code == 200
        assert 'href="/lab"' in client.get("/").text


def test_settings_that_were_edited_hold_at_the_next_look(root: Path, visited: Visit) -> None:
    assert "No language model is named" in visited.see("/lab/runs/new")
    name_model(root, ["unused"])
    assert "No language model is named" not in visited.see("/lab/runs/new")
    visited.client.post("/lab/runs/new", data=request_form())
    visited.wait()
    assert runs_of(visited)[0].state == "done"
