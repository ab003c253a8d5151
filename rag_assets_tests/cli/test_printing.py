"""What a command prints cannot act on the terminal, whoever prints it."""

import sys

import click
import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.options import ExplainedErrors
from rag_assets.model import UsageError


def run(*arguments: str) -> Result:
    class Commands(ExplainedErrors, click.Group):
        pass

    group = Commands("rag")

    @group.command()
    def printing() -> None:
        click.echo("title \x1b]0;owned\x07\x1b[31mred\u202e")
        click.echo("a\x1b[2Jb", err=True)
        sys.stdout.write("by a library \x9b31m\x08\n")

    @group.command()
    def failing() -> None:
        raise UsageError("raw/a\x1b[31m\nerror: fake: is missing.")

    @group.command()
    @click.argument("file", type=click.Path(exists=True))
    def opening(file: str) -> None:
        click.echo(file)

    return CliRunner().invoke(group, arguments)


def test_sequences_are_not_printed() -> None:
    ran = run("printing")
    assert ran.stdout == "title red\nby a library \n"
    assert ran.stderr == "ab\n"


def test_an_error_with_a_name_is_one_error() -> None:
    ran = run("failing")
    assert (ran.exit_code, ran.stderr) == (3, "error: raw/a\n  error: fake: is missing.\n")


def test_a_name_that_is_not_there_is_one_error() -> None:
    ran = run("opening", "no\x1b[31m\nerror: fake")
    assert ran.exit_code == 2
    assert "\x1b" not in ran.stderr
    assert not any(line.startswith("error: fake") for line in ran.stderr.splitlines())


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_streams_are_as_before_afterwards(name: str) -> None:
    before = getattr(sys, name)
    run("printing")
    assert getattr(sys, name) is before
