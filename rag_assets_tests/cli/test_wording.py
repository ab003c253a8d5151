"""What the command line says: numbers with their nouns, and advice that can be followed."""

import errno
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli import building
from rag_assets.cli.main import COMMANDS, GROUPS, build_cli
from rag_assets.publishing import gc
from rag_assets.storage import TEMPORARY_PREFIX, describe_trouble
from rag_assets_tests.libraries import build, make_workspace


@pytest.mark.parametrize(
    ("value", "name", "shown"),
    [
        (1, "documents", "1 document"),
        (2, "textless_pages", "2 textless pages"),
        (1, "computed", "1 computed"),
        (1.0, "seconds", "1.0 seconds"),
        ("p-1", "publication", "p-1 publication"),
    ],
)
def test_a_figure_agrees_with_its_noun(value: float | str, name: str, shown: str) -> None:
    assert building._figure(value, name) == shown


def test_gc_on_a_full_disk_does_not_advise_gc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a.md": "# A\n\nRoofs are cool.\n"})
    build(workspace.namespace("thesis"))
    full = describe_trouble(errno.ENOSPC, "record.parquet", "written")
    assert full is not None
    assert "`rag gc` removes" in str(full)

    def refuse(*_: object) -> int:
        raise full

    monkeypatch.setattr(gc, "prune_record", refuse)
    ran = CliRunner().invoke(build_cli(), ["--workspace", str(tmp_path), "gc"])
    assert ran.exit_code == 1
    assert "record.parquet: the disk is full." in ran.stderr
    assert "`rag gc` removes" not in ran.stderr
    assert "The disk is full even so" in ran.stderr


def test_gc_passes_by_a_namespace_that_was_never_built(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a.md": "# A\n\nRoofs are cool.\n"})
    build(workspace.namespace("thesis"))
    left = workspace.outputs / f"{TEMPORARY_PREFIX}999999999-0a1b2c3d.md"
    left.parent.mkdir(exist_ok=True)
    left.write_text("half", "utf-8")

    def rag(*arguments: str) -> Result:
        return CliRunner().invoke(build_cli(), ["--workspace", str(tmp_path), *arguments])

    assert rag("namespace", "add", "another").exit_code == 0
    ran = rag("gc")
    assert ran.exit_code == 0, ran.output
    assert "another: nothing is built yet" in ran.stderr
    assert "thesis: " in ran.stdout
    assert "another" not in ran.stdout
    assert not left.exists()


def test_help_lists_commands_by_what_one_does_with_them() -> None:
    shown = CliRunner().invoke(build_cli(), ["--help"]).output
    places = [shown.index(f"\n{title}:") for title in GROUPS]
    assert places == sorted(places)
    for (title, commands), end in zip(GROUPS.items(), [*places[1:], len(shown)], strict=True):
        part = shown[shown.index(f"\n{title}:") : end]
        assert [name for name in COMMANDS if f"\n  {name} " in part] == list(commands)
    assert len(COMMANDS) == sum(map(len, GROUPS.values())), "a command stands in one group"
