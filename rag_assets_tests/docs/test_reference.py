"""docs/reference.md is complete and says what the product does."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from click.testing import CliRunner

from rag_assets.auditing.record import ReasonCode
from rag_assets.cli.main import COMMANDS, build_cli
from rag_assets.workspace.configuration import default_layer
from rag_assets_tests.docs.reference import (
    EXIT_CODES,
    PUBLICATION_REASONS,
    REFERENCE,
    ROOT,
    SCAN_REASONS,
    VERDICT_REASONS,
    list_commands,
    list_keys,
    make_reference,
)
from rag_assets_tests.libraries import make_workspace

ALL = list(list_commands())


def test_reference_is_what_the_commands_say_now() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == make_reference(), "run `make reference`"


def test_walk_finds_every_command() -> None:
    assert {path[1] for path, _ in ALL if len(path) == 2} == set(COMMANDS)


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_command_and_each_of_its_options_is_explained(
    path: tuple[str, ...], command: click.Command
) -> None:
    assert command.help, f"{' '.join(path)} has no help"
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{' '.join(path)} {option.opts[0]} has no help"
            assert option.opts[0] in REFERENCE.read_text(encoding="utf-8")


# First words of help, each an order to the program.
ORDERS = re.compile(
    "Add|Answer|Apply|Build|Cancel|Check|Copy|Declare|Draw|Edit|Evaluate|Find|Get|Give|Import|List|"
    "Make|Measure|Name|Open|Override|Print|Publish|Query|Queue|Record|Remove|Scan|Serve|Set|Show|"
    "Suggest|Trace|Turn|Work|Write"
)
# They serve until they are ended.
SERVERS = frozenset({"desk", "mcp", "ui", "watch"})


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_help_begins_with_an_order_and_what_prints_has_json(
    path: tuple[str, ...], command: click.Command
) -> None:
    listed = COMMANDS[path[1]][1] if len(path) == 2 else command.get_short_help_str(100)
    for said in (command.help or "", listed):
        assert ORDERS.fullmatch(re.split(r"\W", said)[0]), f"{' '.join(path)}: {said}"
        assert re.search(r"[.:] |[.)…]$", said), f"{' '.join(path)}: {said}"
    if not isinstance(command, click.Group) and path[-1] not in SERVERS:
        assert any("--json" in option.opts for option in command.params), " ".join(path)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "namespace list"), (0, "documents --json"), (0, "--version"),
        (1, "status"), (1, "health"), (1, "models remove absent"),
        (2, "statsu"), (2, "status --jsno"), (2, "query"), (2, "--workspace absent status"),
        (2, "check absent.md"), (2, "status --namespace broken"),
        (3, "query heat"), (3, "status --namespace absent"), (3, "check draft.md"),
        (3, "settings no.such.key"), (3, "meta set absent title=A --reason so"),
    ],
)  # fmt: skip
def test_exit_codes_are_as_documented(
    code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = make_workspace(tmp_path, {})
    if "broken" in words:
        workspace.namespace_file("broken").write_text("embed: {kind: nothing}\n", "utf-8")
    (tmp_path / "draft.md").write_text("Trees cool {#lee}.\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_WORKSPACE", str(tmp_path))
    ran = CliRunner().invoke(build_cli(), words.split())
    assert ran.exit_code == code, ran.output
    assert f"{code} " in (build_cli().help or "")
    assert code in EXIT_CODES


def test_every_setting_has_a_comment_and_stands_in_the_reference() -> None:
    listed = list_keys()
    assert [key for key, _, comment in listed if not comment.strip("- ")] == []
    names = {key for key, _, _ in listed}
    assert {key for key in _dotted(default_layer().values) if key not in names} == set()


def _dotted(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict) and value and key != "places":
            yield from (f"{key}.{below}" for below in _dotted(value))
        else:
            yield key


def test_codes_of_a_scan_are_all_documented() -> None:
    walked = _codes("workspace/scanning.py", {"refuse"})
    assert walked | _codes("workspace/scanning.py", {"refuse", "_refused"}) == set(SCAN_REASONS)


def test_codes_of_verdicts_are_all_documented() -> None:
    assert set(get_args(ReasonCode)) == set(VERDICT_REASONS)


def test_codes_of_publication_are_all_documented() -> None:
    source = (ROOT / "rag_assets/publishing/facts.py").read_text(encoding="utf-8")
    pairs = {
        (status.value, code.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Tuple) and len(node.elts) == 3
        for status, code in [node.elts[:2]]
        if isinstance(status, ast.Constant) and isinstance(code, ast.Constant) and code.value
    }
    documented = {(s, c) for c, (s, _) in PUBLICATION_REASONS.items() if c != "removed"}
    assert pairs == documented


def _codes(module: str, functions: set[str]) -> set[str]:
    source = (ROOT / "rag_assets" / module).read_text(encoding="utf-8")
    return {
        argument.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in functions
        for argument in node.args
        if isinstance(argument, ast.Constant) and re.fullmatch(r"[a-z]+[a-z0-9_]*", argument.value)
    }
