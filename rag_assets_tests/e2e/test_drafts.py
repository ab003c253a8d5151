"""`rag draft` through its front door, and what a kill leaves of a draft."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from rag_assets.chunking.editing.journal import read_history
from rag_assets.workspace import Namespace
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    open_namespace,
    outside_environment,
    published_state,
    start_build,
    whole_publication,
)
from rag_assets_tests.editing.drafting import open_editor
from rag_assets_tests.libraries import build, make_workspace

Rag = Callable[..., Result]


@pytest.fixture
def namespace(tmp_path: Path, parse_in_process: None) -> Namespace:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    build(workspace.namespace("thesis"))
    return workspace.namespace("thesis")


def test_a_draft_from_its_begin_to_an_answer(namespace: Namespace, rag: Rag) -> None:
    root = namespace.workspace.root

    def draft(*arguments: str) -> Result:
        return rag("--workspace", root, "draft", *arguments)

    shown = json.loads(draft("show", "evidence/roofs.md", "--json").stdout)
    key = shown["chunks"][0]["key"]
    edited = draft(
        "edit", "roofs", "edit_text", key, "--text", "Zebras keep cool.", "--by", "ann",
        "--revision", "0", "--reason", "a scan",
    )  # fmt: skip
    assert edited.exit_code == 0, edited.output
    first, changed = edited.stdout.splitlines()
    assert first.startswith("edit_text is in the draft of 'roofs'; revision 2")
    assert changed.endswith("[edited]  Zebras keep cool.")
    late = draft("edit", "roofs", "disable", "0", "--by", "bob", "--revision", "1")
    assert late.exit_code == 3
    assert "you have seen 1" in late.stderr
    assert draft("edit", "roofs", "split_at", "0").exit_code == 3
    assert draft("edit", "roofs", "undo", "first").exit_code == 3
    listed = draft("show", "roofs", "--history", "--whole").stdout
    assert "[edited]" in listed
    assert "ann  edit_text (a scan)" in listed

    published = draft("publish", "roofs", "--by", "ann")
    assert published.exit_code == 0, published.output
    assert "thesis/chunk_edits: edits applied: 1" in published.stdout
    asked = rag("--workspace", root, "query", "Do zebras keep cool?", "--json")
    told = rag("--workspace", root, "query", "Do zebras keep cool?")
    assert "edited; searches read “Zebras keep cool.”" in told.stdout
    items = json.loads(asked.stdout)["items"]
    assert [item["edited"] for item in items if "edited" in item] == ["Zebras keep cool."]
    status = json.loads(rag("--workspace", root, "status", "--json").stdout)
    assert status[0]["stale"] == []

    given = root / "new text.txt"
    given.write_text("Zebras keep cooler.\n", encoding="utf-8")
    read = draft("edit", "roofs", "edit_text", "0", "--text-file", str(given))
    assert read.exit_code == 0, read.output
    assert json.loads(draft("show", "roofs", "--json").stdout)["chunks"][0]["text"] == (
        "Zebras keep cooler."
    )
    assert draft("edit", "roofs", "undo").exit_code == 0
    assert draft("edit", "roofs", "discard").exit_code == 0
    assert "no draft; as published" in draft("show", "roofs").stdout


def edit_until(namespace: Namespace, point: str, *endings: str) -> int:
    """Run `rag_assets_tests.e2e.drafting`; returns how it ended."""
    root = str(namespace.workspace.root)
    module = [sys.executable, "-m", "rag_assets_tests.e2e.drafting"]
    return subprocess.run(
        [*module, root, "thesis", "roofs", point, *endings],
        env=outside_environment(),
        cwd=Path(__file__).parents[2],
        check=False,
    ).returncode


@pytest.mark.parametrize(
    ("point", "revision"),
    [
        ("rename:meta/journal/edits/*/*:1", 1),
        ("renamed:meta/journal/edits/*/*:1", 2),
        ("rename:meta/journal/edits/*/*:2", 2),
        ("renamed:meta/journal/edits/*/*:2", 3),
    ],
)
def test_a_kill_leaves_an_operation_and_a_publish_whole_or_undone(
    namespace: Namespace, point: str, revision: int
) -> None:
    open_editor(namespace, "roofs").create()
    assert edit_until(namespace, point) == -signal.SIGKILL, f"{point} was never reached"
    history = read_history(namespace, "roofs")
    assert history.revision == revision
    assert history.is_open == (revision < 3)
    editor = open_editor(namespace, "roofs", by="bob")
    assert [chunk.text for chunk in editor.draft().chunks][:1] == (
        ["Zebras keep cool."] if revision > 1 else [editor.draft().chunks[0].printed]
    )


@pytest.mark.parametrize(
    "point", ["rename:data/*/chunk_edits/*:1", "rename:index/*/current.json:1"]
)
def test_a_kill_of_the_build_of_a_published_draft_is_mended_by_the_same_command(
    namespace: Namespace, rag: Rag, point: str
) -> None:
    editor = open_editor(namespace, "roofs")
    editor.create()
    editor.edit_text(0, "Zebras keep cool.")
    editor.publish()
    before = whole_publication(namespace)
    process = start_build(namespace, "kill", point)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, f"{point} was never reached"
    assert whole_publication(namespace) == before
    again = rag(
        "--workspace", namespace.workspace.root, "draft", "publish", "roofs", "--by", "ann",
        "--revision", "2",
    )  # fmt: skip
    assert again.exit_code == 0, again.stderr
    assert whole_publication(namespace) != before
    assert read_history(namespace, "roofs").revision == 3
    assert published_state(open_namespace(namespace.workspace.root))["counts"]["chunk_edits"] == 1


@pytest.fixture
def drafted(namespace: Namespace) -> Namespace:
    editor = open_editor(namespace, "roofs")
    editor.create()
    editor.edit_text(0, "Zebras keep cool.")
    return namespace


def test_a_discard_that_was_killed_is_finished_by_the_same_command(
    drafted: Namespace, rag: Rag
) -> None:
    point = "renamed:meta/journal/edits/*/*:1"
    assert edit_until(drafted, point, "discard") == -signal.SIGKILL
    again = ("edit", "roofs", "discard", "--by", "ann", "--revision", "2")
    ran = rag("--workspace", drafted.workspace.root, "draft", *again)
    assert ran.exit_code == 0, ran.stderr
    assert read_history(drafted, "roofs").revision == 3


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["publish", "discard"])
@pytest.mark.parametrize("moment", ["rename", "renamed"])
def test_a_draft_whose_end_is_killed_at_any_write_is_finished_by_the_same_again(
    drafted: Namespace, tmp_path: Path, ending: str, moment: str
) -> None:
    def copy(name: str) -> Namespace:
        shutil.copytree(drafted.workspace.root, tmp_path / name)
        return open_namespace(tmp_path / name)

    def finish(namespace: Namespace) -> tuple[dict[str, Any], int]:
        getattr(open_editor(namespace, "roofs"), ending)()
        build(namespace)
        return published_state(namespace), read_history(namespace, "roofs").revision

    expected = finish(copy("undisturbed"))
    for number in count(1):
        namespace = copy(f"killed {number}")
        code = edit_until(namespace, f"{moment}:*:{number}", ending)
        assert finish(namespace) == expected, f"{moment} {number}"
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert number > (5 if ending == "publish" else 1)
