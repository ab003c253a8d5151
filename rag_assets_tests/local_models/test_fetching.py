"""Models come whole or not at all, from wheels, a file or a pinned revision of a hub."""

import hashlib
import json
import os
import subprocess
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest

from rag_assets.llm.local_models import (
    KnownModel,
    ModelPart,
    add_from_hub,
    add_from_path,
    add_from_wheels,
    default_folder,
    fetching,
    find_model,
    known_models,
    list_models,
    remove_model,
    require_model,
)
from rag_assets.model import ConfigurationError, DamagedFileError, DiskFullError, ServiceError

PARTS = [b"GGUF" + b"a" * 100, b"b" * 50, b"c" * 7]
WHOLE = b"".join(PARTS)
NAME = "tiny"
COMMIT = "0123456789" * 4


def silent(_sentence: str) -> None:
    """Say nothing."""


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> KnownModel:
    wheels = [
        ModelPart(
            package=f"tiny-part{n}", version="1.0", member=f"tiny_part{n}/data.bin",
            size=len(part), sha256=sha(part),
        )
        for n, part in enumerate(PARTS, start=1)
    ]  # fmt: skip
    model = KnownModel(
        kind="gguf", file="tiny.gguf", size=len(WHOLE), sha256=sha(WHOLE), licence="Apache-2.0",
        origin="made here", wheels=wheels,
    )  # fmt: skip
    for module in ("fetching", "cache"):
        monkeypatch.setattr(
            f"rag_assets.llm.local_models.{module}.known_models", lambda: {NAME: model}
        )
    return model


def write_wheel(place: Path, number: int, data: bytes) -> Path:
    path = place / f"tiny_part{number}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"tiny_part{number}/data.bin", data)
        archive.writestr(
            f"tiny_part{number}-1.0.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n",
        )
        archive.writestr(
            f"tiny_part{number}-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"tiny_part{number}-1.0.dist-info/RECORD", "")
    return path


class Index:
    """Gives the wheel of each part; counts, and breaks where it is told to."""

    def __init__(self, parts: list[bytes], breaks_at: int | None = None) -> None:
        self.parts, self.breaks_at = parts, breaks_at
        self.asked: list[str] = []

    def __call__(self, part: ModelPart, place: Path) -> Path:
        number = int(part.package.removeprefix("tiny-part"))
        if number == self.breaks_at:
            raise ServiceError("the line is down")
        self.asked.append(part.package)
        return write_wheel(place, number, self.parts[number - 1])


def test_wheels_are_joined_and_the_card_says_what_they_are(
    tmp_path: Path, tiny: KnownModel
) -> None:
    kept = add_from_wheels(tmp_path, NAME, silent, fetch=Index(PARTS))
    assert kept.path.read_bytes() == WHOLE
    assert (kept.licence, kept.origin, kept.sha256) == ("Apache-2.0", "made here", sha(WHOLE))
    assert find_model(tmp_path, NAME) == kept
    assert list_models(tmp_path) == [kept]
    assert require_model(NAME, tmp_path) == kept


def test_a_broken_download_goes_on_where_it_broke_off(tmp_path: Path, tiny: KnownModel) -> None:
    with pytest.raises(ServiceError):
        add_from_wheels(tmp_path, NAME, silent, fetch=Index(PARTS, breaks_at=3))
    assert find_model(tmp_path, NAME) is None
    with (tmp_path / NAME / "tiny.gguf.partial").open("ab") as handle:
        handle.write(b"half a part")
    index = Index(PARTS)
    assert add_from_wheels(tmp_path, NAME, silent, fetch=index).path.read_bytes() == WHOLE
    assert index.asked == ["tiny-part3"]
    assert sorted(path.name for path in (tmp_path / NAME).iterdir()) == ["model.json", "tiny.gguf"]


def test_a_model_that_is_there_is_not_downloaded_again(tmp_path: Path, tiny: KnownModel) -> None:
    kept = add_from_wheels(tmp_path, NAME, silent, fetch=Index(PARTS))
    assert add_from_wheels(tmp_path, NAME, silent, fetch=Index([])) == kept


def test_two_processes_at_once_download_it_once(tmp_path: Path, tiny: KnownModel) -> None:
    from concurrent.futures import ThreadPoolExecutor

    index = Index(PARTS)
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(add_from_wheels, tmp_path, NAME, silent, fetch=index) for _ in "ab"]
        assert len({future.result().path for future in asked}) == 1
    assert len(index.asked) == len(PARTS)


def test_other_bytes_than_pinned_are_refused(tmp_path: Path, tiny: KnownModel) -> None:
    with pytest.raises(DamagedFileError, match="tiny-part2"):
        add_from_wheels(tmp_path, NAME, silent, fetch=Index([PARTS[0], b"x" * 50, PARTS[2]]))
    assert find_model(tmp_path, NAME) is None
    assert add_from_wheels(tmp_path, NAME, silent, fetch=Index(PARTS)).path.read_bytes() == WHOLE


def test_a_full_disk_is_said_before_anything_is_downloaded(
    tmp_path: Path, tiny: KnownModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda _place: usage(10, 10, 0))
    with pytest.raises(DiskFullError, match="free"):
        add_from_wheels(tmp_path, NAME, silent, fetch=Index([]))


def test_pip_downloads_what_is_pinned(
    tmp_path: Path, tiny: KnownModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for number, part in enumerate(PARTS, start=1):
        write_wheel(wheels, number, part)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    assert add_from_wheels(tmp_path / "cache", NAME, silent).path.read_bytes() == WHOLE


def test_what_pip_does_not_find_is_said_with_the_next_step(
    tmp_path: Path, tiny: KnownModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(ServiceError, match=r"tiny-part1==1\.0.*--from FILE"):
        add_from_wheels(tmp_path / "cache", NAME, silent)


def test_a_file_of_ones_own_is_copied(tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(WHOLE)
    kept = add_from_path(tmp_path / "cache", "mine", mine, silent, licence="MIT", origin="me")
    assert (kept.path.read_bytes(), kept.kind, kept.licence) == (WHOLE, "gguf", "MIT")


def test_a_file_under_a_known_name_must_have_its_bytes(tmp_path: Path, tiny: KnownModel) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF other")
    with pytest.raises(DamagedFileError, match="SHA-256"):
        add_from_path(tmp_path / "cache", NAME, other, silent)
    other.write_bytes(WHOLE)
    assert add_from_path(tmp_path / "cache", NAME, other, silent).licence == "Apache-2.0"


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no model", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="GGUF"):
        add_from_path(tmp_path / "cache", "mine", text, silent)
    with pytest.raises(ConfigurationError, match="GGUF"):
        add_from_path(tmp_path / "cache", "mine", tmp_path, silent)


def test_a_folder_that_an_earlier_version_added_is_listed_and_removed(tmp_path: Path) -> None:
    card = {
        "name": "old", "kind": "folder", "path": "encoder", "size": 1, "sha256": "0" * 64,
        "licence": "MIT", "origin": "me", "source": "here",
    }  # fmt: skip
    (tmp_path / "old" / "encoder").mkdir(parents=True)
    (tmp_path / "old" / "model.json").write_text(json.dumps(card), encoding="utf-8")
    assert [model.name for model in list_models(tmp_path)] == ["old"]
    assert remove_model(tmp_path, "old", silent)
    assert list_models(tmp_path) == []


def test_a_pinned_revision_of_a_hub_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(repository: str, file: str, *, revision: str, local_dir: str) -> str:
        assert (repository, revision) == ("maker/model", COMMIT)
        path = Path(local_dir) / file
        path.write_bytes(WHOLE)
        return str(path)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    kept = add_from_hub(tmp_path, "m", "maker/model", COMMIT, "m.gguf", silent, sha256=sha(WHOLE))
    assert kept.path.read_bytes() == WHOLE
    assert kept.source == f"hub maker/model@{COMMIT}/m.gguf"


def test_a_branch_of_a_hub_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="40 digits"):
        add_from_hub(tmp_path, "m", "maker/model", "main", "m.gguf", silent)


def test_a_removed_model_is_gone_and_the_message_says_how_to_add_it(
    tmp_path: Path, tiny: KnownModel
) -> None:
    add_from_wheels(tmp_path, NAME, silent, fetch=Index(PARTS))
    assert remove_model(tmp_path, NAME, silent)
    assert not remove_model(tmp_path, NAME, silent)
    with pytest.raises(ConfigurationError, match="rag models add tiny"):
        require_model(NAME, tmp_path)


def test_a_shortened_file_is_damaged(tmp_path: Path, tiny: KnownModel) -> None:
    kept = add_from_wheels(tmp_path, NAME, silent, fetch=Index(PARTS))
    kept.path.write_bytes(WHOLE[:-1])
    with pytest.raises(DamagedFileError, match="rag models remove tiny"):
        find_model(tmp_path, NAME)


def test_the_cache_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_MODELS", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("RAG_MODELS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_folder() == tmp_path / "xdg" / "rag-assets" / "models"


def test_the_parts_of_every_known_model_are_all_its_bytes() -> None:
    for model in known_models().values():
        assert sum(part.size for part in model.wheels) == model.size
        assert len({part.package for part in model.wheels}) == len(model.wheels)


def test_what_a_killed_download_left_is_removed_by_the_next(
    tiny: KnownModel, tmp_path: Path
) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = tmp_path / NAME / f".tmp-{dead.pid}-0a0b0c0d"
    left.mkdir(parents=True)
    (left / "part1.whl").write_bytes(b"x" * 1000)
    other = tmp_path / NAME / f".tmp-{os.getpid()}-0a0b0c0d"
    other.mkdir()
    add_from_wheels(tmp_path, NAME, silent, fetch=Index(PARTS))
    assert (left.exists(), other.exists()) == (False, True)
