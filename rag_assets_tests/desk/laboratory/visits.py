"""A laboratory behind a desk: visits by requests, forms as the pages send them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import yaml
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import Response

from rag_assets.desk import Desk
from rag_assets.lab.experience import Item, list_items
from rag_assets.lab.laboratory import Laboratory, open_laboratory
from rag_assets.lab.products import add_product, list_products
from rag_assets.lab.runs import Run, read_run
from rag_assets.workspace import Workspace
from rag_assets_tests.desk.served import visit
from rag_assets_tests.lab.bases import make_bases
from rag_assets_tests.lab.laboratories import AT, PRODUCTS
from rag_assets_tests.libraries import build, write_raw
from rag_assets_tests.parsing.made_up_pdfs import make_pdf

HOSTILE = "<img src=x onerror=document.title='taken'>\"'{{ 7*7 }}"
ASKED = "A recipe for ethylene from CO2."
PRINTED = "Ethylene forms where two CO couple on neighbouring sites."
# Bound of a wait, no expectation.
WAIT_SECONDS = 120.0


def make_library(root: Path) -> Path:
    """Return a workspace with both bases, one paper printed, a laboratory and three products."""
    workspace = make_bases(root)
    write_raw(workspace, "kb_principles/printed.pdf", make_pdf([[(72.0, 90.0, PRINTED)]]))
    build(workspace.namespace("kb_principles"))
    lab = open_laboratory(workspace)
    with lab.store.writing(AT, "ana") as writing:
        for name in PRODUCTS:
            add_product(writing, name)
    return root


def name_model(root: Path, answers: list[Any], **more: Any) -> None:
    """Let the settings of a workspace name a scripted model."""
    (root / "script.yaml").write_text(yaml.safe_dump({"answers": answers}), encoding="utf-8")
    path = root / "config.yaml"
    llm = {"llm": {"kind": "scripted", "script": "script.yaml", **more}}
    path.write_text(path.read_text("utf-8") + yaml.safe_dump(llm), encoding="utf-8")


@dataclass(frozen=True)
class Visit:
    """A client of a desk and, beside it, the laboratory that it writes to."""

    client: TestClient
    lab: Laboratory

    @property
    def desk(self) -> Desk:
        return cast("Desk", cast("FastAPI", self.client.app).state.desk)

    def see(self, path: str, status: int = 200) -> str:
        """Return a page as a reader sees it: without its tags."""
        return text_of(self.get(path, status))

    def get(self, path: str, status: int = 200) -> Response:
        return expect(self.client.get(path), status)

    def post(self, path: str, status: int = 200, **values: Any) -> Response:
        return expect(self.client.post(path, data=values), status)

    def wait(self) -> None:
        """Wait for the work behind the pages."""
        for job in self.desk.jobs.running():
            assert job.wait(WAIT_SECONDS)

    def ask(self, **more: str) -> str:
        """Ask for a run by the form, wait for it, and return its id."""
        answer = self.post("/lab/runs/new", **{**request_form(), **more})
        self.wait()
        return urlsplit(str(answer.url)).path.removeprefix("/lab/runs/")

    def run(self, run_id: str) -> Run:
        with self.lab.store.reading() as reading:
            return read_run(reading, run_id)[0]

    def items(self, **equal: str) -> list[Item]:
        with self.lab.store.reading() as reading:
            return list_items(reading, **equal)

    def products(self) -> dict[str, str]:
        with self.lab.store.reading() as reading:
            return {one.name: one.id for one in list_products(reading, deleted=True)}

    def feedback_form(self, **more: Any) -> dict[str, Any]:
        ids = self.products()
        form = {
            "seen": "0", "do": "save", "score": "7.5", "recipe_index": "1", "as_made": "",
            "product": [ids["C2H4"], ids["CO"]], "value": ["6", "2"], "pros": "Copper helps.",
            "cons": "", "other": "", "text": "", "method3": "1", "learn": "1",
        }  # fmt: skip
        return {**form, **more}

    def give(self, run_id: str, **more: Any) -> Response:
        """Give feedback by the form and wait for what comes of it, good or bad."""
        form = self.feedback_form(**more)
        answer = self.client.post(f"/lab/runs/{run_id}/feedback", data=form)
        self.wait()
        return answer


@contextmanager
def visit_laboratory(root: Path) -> Iterator[Visit]:
    """Yield a visit; the work behind the pages has ended when it is over."""
    workspace = Workspace.open(root)
    lab = open_laboratory(workspace)
    with visit(workspace) as client:
        visited = Visit(client, lab)
        yield visited
        visited.wait()


def request_form(**more: str) -> dict[str, str]:
    form = {"text": ASKED, "n": "1", "recipes_per_run": "1", "policy": "collect", "temperature": ""}
    return {**form, **more}


def expect(answer: Response, status: int) -> Response:
    assert answer.status_code == status, text_of(answer)
    return answer


def text_of(answer: Response) -> str:
    """Return the words of a page on one line, the content of `main` alone."""
    main = answer.text.partition("<main")[2] or answer.text
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())


def field_of(answer: Response, name: str) -> str:
    """Return the value of the first input of a page by its name."""
    found = re.search(rf'name="{name}" value="([^"]*)"', answer.text)
    assert found is not None, f"there is no input {name}"
    return unescape(found[1])
