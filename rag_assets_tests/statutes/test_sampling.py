"""`rag law sample`: balanced by folder and size, the same by seed, whatever the order."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.model import UsageError
from rag_assets.retrieval.vaults import draw_files
from rag_assets.workspace import SourceFile, take_inventory
from rag_assets_tests.libraries import HASHING, make_workspace


def made(folder: str, count: int) -> list[SourceFile]:
    return [
        SourceFile(f"raw/{folder}/{n}.md", f"/{folder}/{n}", "ok", "evidence", "", True, size=n)
        for n in range(count)
    ]


FILES = [*made("a", 300), *made("b", 30), *made("b/c", 9), *made("d", 2)]


def test_every_folder_and_size_gets_its_turn() -> None:
    drawn = draw_files(FILES, 50, 7)
    assert len({one.source_uri for one in drawn}) == 50
    by_folder = Counter(one.source_uri.rpartition("/")[0] for one in drawn)
    assert (by_folder["raw/b/c"], by_folder["raw/d"]) == (9, 2)
    assert {by_folder["raw/a"], by_folder["raw/b"]} == {19, 20}
    thirds = Counter(one.size // 100 for one in drawn if one.source_uri.startswith("raw/a"))
    assert max(thirds.values()) - min(thirds.values()) <= 1


def test_the_seed_alone_decides() -> None:
    shuffled = random.Random(1).sample(FILES, len(FILES))
    assert draw_files(FILES, 50, 7) == draw_files(shuffled, 50, 7)
    seven, eight = (
        {one.source_uri for one in draw_files(FILES, 40, seed) if "/a/" in one.source_uri}
        for seed in (7, 8)
    )
    assert len(seven & eight) < len(seven) // 2


def test_no_more_than_there_are() -> None:
    assert len(draw_files(FILES, len(FILES), 1)) == len(FILES)
    with pytest.raises(UsageError, match="341 files"):
        draw_files(FILES, len(FILES) + 1, 1)


def test_the_command_copies_them_with_their_sidecars(tmp_path: Path) -> None:
    files = {f"evidence/{folder}/{n}.md": f"# {n}\n" for folder in "甲乙" for n in range(5)}
    files |= {f"{name}.meta.yaml": "title: T\n" for name in list(files)}
    settings = {**HASHING, "chunk": {"mode": "law"}}
    workspace = make_workspace(tmp_path / "library", files, settings)
    take_inventory(workspace.namespace("thesis"), notify=print)

    def asked(*arguments: str) -> Result:
        command = ["--workspace", str(workspace.root), "law", "sample", *arguments]
        return CliRunner().invoke(build_cli(), command)

    listed = json.loads(asked("4", "--seed", "3", "--json").stdout)
    assert [one["file"].split("/")[2] for one in listed] == ["乙", "乙", "甲", "甲"]
    target = tmp_path / "vault"
    ran = asked("4", "--seed", "3", "--to", str(target))
    assert (ran.exit_code, ran.stdout) == (0, f"4 files in {target}\n")
    copied = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    names = {one["file"].removeprefix("raw/") for one in listed}
    assert copied == names | {f"{name}.meta.yaml" for name in names}
    again = asked("4", "--seed", "3", "--to", str(target))
    assert again.exit_code == 3
    assert "is there already" in again.stderr
    assert asked("4", "--to", str(workspace.root / "raw")).exit_code == 3
    assert "fewer than 99" in asked("99").stderr
