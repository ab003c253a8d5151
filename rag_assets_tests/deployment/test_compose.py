"""deploy/compose.yaml: what it starts exists, and is told what a team's dagster.yaml asks for."""

from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from dagster._cli import create_dagster_cli
from dagster._daemon.cli import create_dagster_daemon_cli
from dagster_webserver.cli import dagster_webserver

from rag_assets.cli.setup import init
from rag_assets.workspace import shipped_file

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OURS = [name for name in COMPOSE["services"] if name != "postgres"]


def asked(value: Any) -> set[str]:
    """Return the names of the environment that a file of Dagster's asks for."""
    if not isinstance(value, dict):
        return set()
    own = {value["env"]} if set(value) == {"env"} else set()
    return own.union(*map(asked, value.values()))


@pytest.mark.parametrize("name", OURS)
def test_every_process_is_told_where_the_history_is(name: str) -> None:
    team = yaml.safe_load(shipped_file("dagster-team.yaml").read_text())
    environment = COMPOSE["services"][name]["environment"]
    assert asked(team) <= set(environment)
    assert {"DAGSTER_HOME", "RAG_WORKSPACE"} <= set(environment)
    assert environment["DAGSTER_HOME"] == f"{environment['RAG_WORKSPACE']}/meta/dagster"


@pytest.mark.parametrize("name", OURS)
def test_every_process_is_a_command_with_its_options(name: str) -> None:
    commands: dict[str, click.Command] = {
        "rag": click.Group(commands={"init": init}),
        "dagster": create_dagster_cli(),
        "dagster-daemon": create_dagster_daemon_cli(),
        "dagster-webserver": dagster_webserver,
    }
    program, *rest = COMPOSE["services"][name]["entrypoint"]
    command = commands[program]
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), rest.pop(0))
        assert found is not None
        command = found
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("-")} <= known


def test_the_code_server_that_is_listed_is_the_one_that_is_started() -> None:
    mounted = next(v for v in COMPOSE["services"]["web"]["volumes"] if v.startswith("./"))
    (listed,) = yaml.safe_load((DEPLOY / mounted.split(":")[0]).read_text())["load_from"]
    server = listed["grpc_server"]
    entrypoint = COMPOSE["services"][server["host"]]["entrypoint"]
    assert entrypoint[entrypoint.index("-p") + 1] == str(server["port"])
    assert server["location_name"] == "rag_assets"
