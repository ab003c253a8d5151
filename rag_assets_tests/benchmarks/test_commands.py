"""Each evaluation in benchmarks/ is a command with help and error messages like those of `rag`."""

import importlib
from importlib.util import find_spec

import click
import pytest
from click.testing import CliRunner

from rag_assets.cli.options import OutputPath

EVALUATIONS = (
    "chunking",
    "eval_agent",
    "eval_claims",
    "eval_law",
    "headings",
    "locate",
    "qasper",
    "survival",
)


def command_of(name: str) -> click.Command:
    """Return what `python -m benchmarks.NAME` runs."""
    spec = find_spec(f"benchmarks.{name}")
    assert spec is not None
    is_folder = spec.submodule_search_locations is not None
    module = importlib.import_module(f"benchmarks.{name}{'.__main__' if is_folder else ''}")
    command: click.Command = getattr(module, name)
    return command


@pytest.mark.parametrize("name", EVALUATIONS)
def test_command_and_each_of_its_options_is_explained(name: str) -> None:
    command = command_of(name)
    assert CliRunner().invoke(command, ["--help"]).exit_code == 0
    assert command.help
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert [each.opts[0] for each in options if not each.help] == []
    (out,) = [each for each in options if each.opts == ["--json"]]
    assert isinstance(out.type, OutputPath), "what is written is not written among raw files"


@pytest.mark.parametrize("name", EVALUATIONS)
def test_what_is_missing_is_told_without_a_traceback(name: str) -> None:
    ran = CliRunner().invoke(command_of(name), ["nowhere"])
    assert ran.exit_code == 2
    assert "nowhere" in ran.stderr
