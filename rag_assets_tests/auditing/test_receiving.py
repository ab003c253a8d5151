"""Drafts that are dropped on the desk land in drafts/ and nowhere else."""

import io
import zipfile
from pathlib import Path

import pytest

from rag_assets.auditing.receiving import add_drafts
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace, create_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return create_workspace(tmp_path / "library", "thesis")[0]


def zipped(**files: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def below(workspace: Workspace) -> set[str]:
    root = workspace.root.parent
    return {
        path.relative_to(workspace.drafts).as_posix()
        if path.is_relative_to(workspace.drafts)
        else f"outside: {path.relative_to(root)}"
        for path in root.rglob("*.md")
    }


@pytest.mark.parametrize("name", ["chapter.md", "../../chapter.md", "C:\\papers\\chapter.md"])
def test_a_file_lands_in_drafts(workspace: Workspace, name: str) -> None:
    before = below(workspace)
    assert add_drafts(workspace, name, b"Text.") == ("chapter.md",)
    assert below(workspace) - before == {"chapter.md"}


def test_a_former_version_is_kept(workspace: Workspace) -> None:
    add_drafts(workspace, "chapter.md", b"First.")
    assert add_drafts(workspace, "chapter.md", b"Second.") == ("chapter.md",)
    (kept,) = (workspace.drafts / ".replaced").iterdir()
    assert kept.read_bytes() == b"First."


def test_a_zip_becomes_a_folder_without_what_is_no_text(workspace: Workspace) -> None:
    data = zipped(**{
        "main.md": "Text.", "chapters/one.md": "One.", "refs.bib": "@book{a, year=2000}",
        "../evil.md": "Out.", "/etc/evil.md": "Out.", ".git/evil.md": "Out.", "figure.png": "x",
    })  # fmt: skip
    assert add_drafts(workspace, "thesis.zip", data) == ("thesis/chapters/one.md", "thesis/main.md")
    assert (workspace.drafts / "thesis/refs.bib").is_file()
    assert not [name for name in below(workspace) if "evil" in name]
    assert not list(workspace.drafts.rglob("*.png"))


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("paper.pdf", b"%PDF", "not a draft"),
        ("broken.zip", b"PK\x03\x04no zip", "cannot be read"),
        ("large.zip", zipped(**{f"{n}.md": "" for n in range(2_001)}), "2001 files"),
    ],
)
def test_what_is_no_draft_is_refused(
    workspace: Workspace, name: str, data: bytes, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        add_drafts(workspace, name, data)
