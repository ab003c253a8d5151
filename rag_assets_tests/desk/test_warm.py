"""Commands and a desk: `rag query` and `rag ask` say the same with one and without."""

import urllib.request
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from rag_assets import __version__
from rag_assets.cli.main import build_cli
from rag_assets.desk.client import DeskClient
from rag_assets.model import ConfigurationError, StorageError
from rag_assets.workspace import Workspace
from rag_assets.workspace.desk_address import (
    DeskAddress,
    desk_token,
    forget_desk,
    note_desk,
    prove,
)
from rag_assets_tests.desk.served import Served, serve_desk, stranger
from rag_assets_tests.libraries import build, make_workspace

NOTE = "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"
QUESTION = "How much cooler was a green roof?"
COMMANDS = (
    ("query", QUESTION),
    ("query", QUESTION, "--mode", "papers", "--json"),
    ("query", QUESTION, "--filter", "language=en", "--top-k", "1", "--html", "--explain"),
    ("query", QUESTION, "--filter", "colour=red"),
    ("query", QUESTION, "--namespace", "nowhere"),
    ("ask", QUESTION),
    ("ask", QUESTION, "--doc", "nobody"),
    ("ask", "?", "--json"),
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("warm") / "library", {"evidence/roofs.md": NOTE})
    build(made.namespace("thesis"))
    return made


@pytest.fixture
def served(workspace: Workspace) -> Iterator[Served]:
    with serve_desk(workspace) as served:
        note_desk(workspace, served.address.url, served.address.pid)
        yield served
        forget_desk(workspace, served.address.pid)


def run(workspace: Workspace, *arguments: str) -> Result:
    return CliRunner().invoke(build_cli(), ["--workspace", str(workspace.root), *arguments])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_says_the_same_with_a_desk(
    workspace: Workspace, served: Served, command: tuple[str, ...]
) -> None:
    run(workspace, *command)  # what is the first of its kind says so
    before = served.server.server_state.total_requests
    beside = run(workspace, *command)
    requests = served.server.server_state.total_requests
    forget_desk(workspace, served.address.pid)
    alone = run(workspace, *command)
    assert (beside.exit_code, beside.stdout) == (alone.exit_code, alone.stdout)
    assert beside.stderr == alone.stderr
    # It proves itself to who looks for it, and to who asks; and the question.
    assert requests - before == (1 if "nowhere" in command else 3)
    assert served.server.server_state.total_requests == requests


def test_a_desk_that_died_is_not_asked(workspace: Workspace) -> None:
    with serve_desk(workspace) as served:
        dead = served.address.url
    note_desk(workspace, dead, 0)
    assert DeskClient.find(workspace) is None
    assert run(workspace, "query", QUESTION).exit_code == 0
    forget_desk(workspace, 0)


def test_a_desk_of_another_version_is_not_asked(
    workspace: Workspace, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DeskClient.find(workspace) is not None
    monkeypatch.setattr("rag_assets.desk.home.prove", lambda *said: prove(*said)[::-1])
    assert DeskClient.find(workspace) is None


@pytest.mark.parametrize("said", ['{"version": "VERSION"}', "0" * 64, "x" * 100_000, "é", ""])
def test_who_took_the_port_gets_neither_token_nor_question(workspace: Workspace, said: str) -> None:
    with stranger(lambda _: said.replace("VERSION", __version__)) as (address, received):
        note_desk(workspace, address, 0)
        asked = run(workspace, "query", QUESTION)
        shown = run(workspace, "desk", "--address")
        forget_desk(workspace, 0)
    assert asked.exit_code == 0, asked.output
    assert (shown.exit_code, "no desk serves" in shown.stderr) == (3, True)
    assert received
    assert not [each for each in received if desk_token(workspace) in each or "green" in each]


def test_who_passes_the_challenge_on_proves_nothing(workspace: Workspace, served: Served) -> None:
    def passed_on(path: str) -> str:
        with urllib.request.urlopen(f"{served.address.url}{path}") as answer:  # noqa: S310 - of ours
            return str(answer.read(), "ascii")

    with stranger(passed_on) as (address, received):
        note_desk(workspace, address, 0)
        assert DeskClient.find(workspace) is None
        forget_desk(workspace, 0)
    assert "challenge" in received[0]


STORED = {
    "json_file": "outputs/a.json", "markdown": "outputs/a.md", "html": None, "is_new": True,
    "key": "a", "seconds": 1.0, "said": [], "told": [],
}  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        {"json_file": "../elsewhere.json"}, {"json_file": "/etc/passwd"}, {"json_file": ".env"},
        {"key": "../../../elsewhere"}, {"key": ""},
    ],
    ids=str,
)  # fmt: skip
def test_what_comes_back_is_checked(
    workspace: Workspace, changed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = DeskClient(workspace, DeskAddress("http://127.0.0.1:1", 1, "token"))
    monkeypatch.setattr(client, "_request", lambda *_: STORED | changed)
    with pytest.raises(StorageError, match="not an output of this workspace"):
        client.query(lambda _: None, question=QUESTION)


def test_a_desk_follows_the_settings(workspace: Workspace, served: Served) -> None:
    client = DeskClient.find(workspace)
    assert client is not None
    before = (workspace.root / "config.yaml").read_text()
    try:
        (workspace.root / "config.yaml").write_text(f"{before}\nretrieve: {{top_k: 1}}\n")
        pack = client.query(lambda _: None, question=QUESTION).pack
        assert pack.settings["top_k"] == 1
        (workspace.root / "config.yaml").write_text(f"{before}\nretrieve: {{top_q: 1}}\n")
        with pytest.raises(ConfigurationError, match="top_q"):
            client.query(lambda _: None, question=QUESTION)
    finally:
        (workspace.root / "config.yaml").write_text(before)
