"""Whatever a command writes where the user says, it does not write among raw files (law 1)."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rag_assets.cli.main import build_cli
from rag_assets.cli.options import OutputPath, write_output
from rag_assets.evaluation.workspaces import CACHE_VARIABLE
from rag_assets.model import ConfigurationError, UsageError
from rag_assets.publishing.export import export_chunks, export_parsed
from rag_assets.workspace import Workspace, create_workspace, require_free_place

# Options and arguments that are read, or that only declare where raw files are. Whoever adds one
# that is written to gives it the type `OutputPath` instead of an entry here.
READ = {
    ("rag", "workspace"),
    ("rag namespace add", "raw"),
    ("rag query", "project"),
    ("rag replay", "pack"),
    ("rag export-used-sources", "file"),
    *((f"rag draft {each}", "document") for each in ("show", "edit", "publish")),
}
# Makes a workspace: its place is checked by `create_workspace` itself.
MADE = {("rag init", "folder")}
_PLACES = {"DIR", "FILE", "FOLDER", "OUT", "PATH", "NAME=FILE"}


def commands() -> Iterator[tuple[str, click.Command]]:
    def below(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for each in command.list_commands(context):
                found = command.get_command(context, each)
                assert found is not None
                yield from below(found, f"{name} {each}")

    return below(build_cli(), "rag")


def written() -> list[tuple[str, click.Parameter]]:
    return [
        (name, each)
        for name, command in commands()
        for each in command.params
        if isinstance(each.type, OutputPath)
    ]


def test_every_path_of_every_command_is_read_or_guarded() -> None:
    unguarded = []
    for name, command in commands():
        for each in command.params:
            kind = each.type
            is_path = isinstance(kind, click.Path | click.File)
            if not is_path and (each.metavar or "").strip("[].") not in _PLACES:
                continue
            is_read = isinstance(kind, click.Path) and kind.exists
            if not (is_read or isinstance(kind, OutputPath)):
                unguarded.append((name, str(each.name)))
    assert set(unguarded) == READ | MADE


@pytest.fixture
def library(tmp_path: Path) -> Workspace:
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    (workspace.root / "raw/evidence/paper.md").write_text("# Paper\n", encoding="utf-8")
    far = tmp_path / "far/papers"
    far.mkdir(parents=True)
    (far / "far.md").write_text("# Far\n", encoding="utf-8")
    (workspace.root / "namespaces/far.yaml").write_text(f"raw: [{far}]\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("# Notes\n", encoding="utf-8")
    return workspace


def forms(workspace: Workspace) -> list[str]:
    """Return one raw file, and places beside it, by every name that leads there."""
    root, beside = workspace.root, workspace.root.parent
    (beside / "link").symlink_to(root / "raw")
    (beside / "file-link").symlink_to(root / "raw/evidence/paper.md")
    (beside / "dangling").symlink_to(root / "raw/evidence/not-there-yet.md")
    return [
        str(root / "raw/evidence/paper.md"),
        str(root / "raw/evidence/new.html"),
        str(root / "raw/new/folder/new.html"),
        str(root / "outputs/../raw/evidence/new.html"),
        "library/raw/evidence/new.html",
        "./library/./raw/new.html",
        "link/evidence/new.html",
        "link/../raw/new.html",
        "file-link",
        "dangling",
        str(beside / "far/papers/new.html"),
    ]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def values(command: click.Command, name: str, target: str, given: Path) -> list[str]:
    """Return a command line with one parameter on `target` and all others that it requires."""
    line = []
    for each in command.params:
        if isinstance(each, click.Argument):
            if each.name == name:
                line.append(target)
            elif each.required:
                file_okay = getattr(each.type, "file_okay", True)
                line.append(str(given if file_okay else given.parent))
        elif each.name == name:
            line += [each.opts[0], target]
        elif each.required and each.name == "queries":
            line += [each.opts[0], str(given.parent)]
        elif each.required:
            raise AssertionError(f"{each.name}: say how it is given")
    return line


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, str(each.name)) for name, each in written()]
)
def test_no_command_writes_among_raw_files(
    library: Workspace, monkeypatch: pytest.MonkeyPatch, name: str, parameter: str
) -> None:
    monkeypatch.chdir(library.root.parent)
    command = dict(commands())[name]
    targets = forms(library)
    before = snapshot(library.root.parent)
    for target in targets:
        line = values(command, parameter, target, library.root.parent / "notes.md")
        done = CliRunner().invoke(
            build_cli(), ["--workspace", str(library.root), *name.split()[1:], *line]
        )
        assert done.exit_code in {2, 3}, (target, done.output)
        assert "raw files of namespace" in done.output, (target, done.output)
        assert "outputs" in done.output, target
    assert snapshot(library.root.parent) == before


def test_a_workspace_is_not_made_among_raw_files_of_another(library: Workspace) -> None:
    before = snapshot(library.root)
    with pytest.raises(UsageError, match="raw files of namespace"):
        create_workspace(library.root / "raw/evidence/another", "thesis")
    assert snapshot(library.root) == before
    create_workspace(library.root, "thesis")  # itself again is no harm


def test_functions_of_the_library_refuse_it_too(library: Workspace) -> None:
    namespace = library.namespace("thesis")
    for export in (export_parsed, export_chunks):
        with pytest.raises(UsageError, match="raw files of namespace 'thesis'"):
            export(namespace, library.root / "raw/evidence/export")


def test_cache_that_the_environment_names_is_refused_too(
    library: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(library.root / "raw/cache"))
    given = library.root.parent / "set.json"
    given.write_text('{"documents": {"a": "b"}, "queries": []}', encoding="utf-8")
    done = CliRunner().invoke(build_cli(), ["eval", "evalset", str(given)])
    assert done.exit_code != 0
    assert not (library.root / "raw/cache").exists()


@pytest.mark.parametrize(
    "name",
    ["meta/journal/thesis.jsonl", "meta/new.json", "data/x", "index/x", "namespaces/x.yaml",
     "config.yaml", ".env"],
)  # fmt: skip
def test_what_the_workspace_keeps_is_not_written_over(library: Workspace, name: str) -> None:
    with pytest.raises(UsageError, match="the workspace's own"):
        require_free_place(library.root / name)


def test_an_output_is_not_written_over_and_another_place_is_free(library: Workspace) -> None:
    pack = library.outputs / "evidence_pack_v001.json"
    pack.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="outputs are never changed"):
        require_free_place(pack)
    for free in ("outputs/page.html", "parsed", "drafts/picture.png", "../elsewhere/page.html"):
        require_free_place(library.root / free)


def test_a_namespace_that_cannot_be_read_leaves_no_place_free(library: Workspace) -> None:
    library.namespace_file("far").write_text("raw: 3\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"far\.yaml"):
        require_free_place(library.root / "outputs/page.html")


def test_a_second_name_of_a_raw_file_is_replaced_and_the_file_kept(library: Workspace) -> None:
    raw = library.root / "raw/evidence/paper.md"
    second = library.root.parent / "second.md"
    os.link(raw, second)
    write_output(second, b"new")
    assert raw.read_text(encoding="utf-8") == "# Paper\n"
    assert second.read_bytes() == b"new"
