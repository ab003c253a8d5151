import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from rag_assets.model import hash_bytes
from rag_assets.model.settings import MineruSettings
from rag_assets.parsing import mineru_service
from rag_assets.parsing.mineru import read_answer
from rag_assets.parsing.mineru_service import Conversion, convert_documents
from rag_assets.parsing.stage import read_reports, refresh_parse_reports
from rag_assets.workspace import require_inventory, shipped_settings, take_inventory
from rag_assets_tests.libraries import make_workspace
from rag_assets_tests.parsing.mineru_server import KEY, FakeMineru, serve_mineru


@pytest.fixture
def mineru() -> Iterator[FakeMineru]:
    with serve_mineru() as state:
        yield state


def settings_for(state: FakeMineru, **changes: object) -> MineruSettings:
    quick = {"url": state.url, "backoff_seconds": 0.0, "poll_seconds": 0.001, "wait_seconds": 0.02}
    return shipped_settings().parse.mineru.model_copy(update={**quick, **changes})


def make_pdf(path: Path, pages: int, name: str = "doc") -> Path:
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            document.new_page().insert_text((72, 72), f"{name} {number}")
        document.save(path)
    return path


def convert(
    tmp_path: Path, settings: MineruSettings, *pdfs: Path, key: str = KEY
) -> list[Conversion]:
    conversions = [
        Conversion(hash_bytes(pdf.read_bytes()), pdf, tmp_path / "answers" / pdf.stem)
        for pdf in pdfs
    ]
    convert_documents(conversions, settings, key, sleep=lambda seconds: None)
    return conversions


def test_a_document_comes_back_with_structure(tmp_path: Path, mineru: FakeMineru) -> None:
    (done,) = convert(tmp_path, settings_for(mineru), make_pdf(tmp_path / "a.pdf", 2))
    assert done.failure is None
    document = read_answer(done.folder)
    kinds = [block.kind for block in document.blocks]
    assert kinds == ["title", "paragraph", "heading", "paragraph", "caption", "table", "figure",
                     "caption", "formula"]  # fmt: skip
    assert [page.number for page in document.pages] == [1, 2]
    assert "| a | b |" in document.text
    assert document.removed_templates == ("Journal of Tests",)
    table, figure = document.attachments
    assert (table.kind, figure.kind, figure.content) == ("table", "figure", b"\x89PNG not really")
    assert f"(attachment:{figure.attachment_id})" in document.text


def test_boxes_are_in_points(tmp_path: Path, mineru: FakeMineru) -> None:
    (done,) = convert(tmp_path, settings_for(mineru), make_pdf(tmp_path / "a.pdf", 1))
    box = read_answer(done.folder).blocks[1].bbox
    assert box == pytest.approx((59.5, 168.4, 535.5, 252.6), abs=0.2)


def test_a_long_document_is_sent_in_parts_and_read_as_one(
    tmp_path: Path, mineru: FakeMineru
) -> None:
    settings = settings_for(mineru, max_pages=4, part_pages=3)
    pdf = make_pdf(tmp_path / "a.pdf", 7)
    (done,) = convert(tmp_path, settings, pdf)
    manifest = json.loads((done.folder / "split_manifest.json").read_text())
    assert manifest["content_hash"] == hash_bytes(pdf.read_bytes())
    assert [(p["first_page"], p["last_page"]) for p in manifest["parts"]] == [
        (1, 3),
        (4, 6),
        (7, 7),
    ]
    document = read_answer(done.folder)
    assert len(document.pages) == 7
    last = next(
        block for block in document.blocks if "doc 7" in document.text[block.start : block.end]
    )
    assert last.page == 7


def test_a_part_that_is_too_large_is_halved(tmp_path: Path, mineru: FakeMineru) -> None:
    pdf = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        for number in range(4):
            noise = random.Random(number).randbytes(420 * 420 * 3)
            noisy = pymupdf.Pixmap(pymupdf.csRGB, 420, 420, noise, False)
            document.new_page().insert_image((0, 0, 400, 400), stream=noisy.tobytes("png"))
        document.save(pdf)
    settings = settings_for(mineru, max_megabytes=1, part_pages=4)
    (done,) = convert(tmp_path, settings, pdf)
    manifest = json.loads((done.folder / "split_manifest.json").read_text())
    assert len(manifest["parts"]) > 1
    assert all(len(data) <= 1_000_000 for data in mineru.uploads.values())
    assert manifest["parts"][-1]["last_page"] == 4


def test_uploads_go_in_batches_of_the_allowed_size(tmp_path: Path, mineru: FakeMineru) -> None:
    pdfs = [make_pdf(tmp_path / f"{n}.pdf", 1, f"doc{n}") for n in range(5)]
    convert(tmp_path, settings_for(mineru, batch_files=2), *pdfs)
    assert [len(ids) for ids in mineru.batches.values()] == [2, 2, 1]


def test_uploads_carry_no_content_type(tmp_path: Path, mineru: FakeMineru) -> None:
    convert(tmp_path, settings_for(mineru), make_pdf(tmp_path / "a.pdf", 1))
    assert all("Content-Type" not in headers for headers in mineru.upload_headers)


@pytest.mark.parametrize(
    "place",
    [("POST", "file-urls"), ("PUT", "upload"), ("GET", "extract-results"), ("GET", "zip")],
    ids=" ".join,
)
@pytest.mark.parametrize("status", [429, 500])
def test_passing_trouble_is_tried_again(
    tmp_path: Path, mineru: FakeMineru, place: tuple[str, str], status: int
) -> None:
    mineru.faults[place] = [status, status]
    (done,) = convert(tmp_path, settings_for(mineru), make_pdf(tmp_path / "a.pdf", 1))
    assert done.failure is None
    assert mineru.faults[place] == []


def test_lasting_trouble_ends_that_document_after_the_allowed_tries(
    tmp_path: Path, mineru: FakeMineru
) -> None:
    mineru.faults["POST", "file-urls"] = [500] * 99
    (done,) = convert(tmp_path, settings_for(mineru, attempts=3), make_pdf(tmp_path / "a.pdf", 1))
    assert done.failure is not None
    assert (done.failure.reason_code, done.failure.kind) == ("provider_failed", "resource")
    assert mineru.calls["POST file-urls"] == 3


def test_a_truncated_answer_is_fetched_again(tmp_path: Path, mineru: FakeMineru) -> None:
    mineru.faults["GET", "zip"] = ["truncated"]
    (done,) = convert(tmp_path, settings_for(mineru), make_pdf(tmp_path / "a.pdf", 1))
    assert done.failure is None
    assert mineru.calls["GET zip"] == 2
    with zipfile.ZipFile(done.folder / "part-001.zip") as archive:
        assert archive.testzip() is None


@pytest.mark.parametrize(
    ("limit", "most", "why"),
    [("_ANSWER_SECONDS", 0.0, "not done after"), ("_LARGEST_ANSWER_BYTES", 100, "more than 100")],
)
def test_an_answer_ends_at_its_time_and_size(
    tmp_path: Path,
    mineru: FakeMineru,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    most: float,
    why: str,
) -> None:
    monkeypatch.setattr(mineru_service, limit, most)
    (done,) = convert(tmp_path, settings_for(mineru, attempts=2), make_pdf(tmp_path / "a.pdf", 1))
    assert done.failure is not None
    assert why in done.failure.message
    assert list(done.folder.glob("*.zip")) == []


def test_a_slow_batch_is_waited_for(tmp_path: Path, mineru: FakeMineru) -> None:
    mineru.polls_until_done = 6
    (done,) = convert(tmp_path, settings_for(mineru), make_pdf(tmp_path / "a.pdf", 1))
    assert done.failure is None
    assert mineru.polls["batch-1"] == 6


def test_a_batch_that_never_ends_is_given_up(tmp_path: Path, mineru: FakeMineru) -> None:
    mineru.polls_until_done = 10_000
    (done,) = convert(tmp_path, settings_for(mineru), make_pdf(tmp_path / "a.pdf", 1))
    assert done.failure is not None
    assert done.failure.reason_code == "provider_timeout"


def test_a_document_that_the_service_refuses_harms_no_other(
    tmp_path: Path, mineru: FakeMineru
) -> None:
    mineru.failing["002"] = "file is broken"
    settings = settings_for(mineru, max_pages=1, part_pages=1)
    two_parts, fine = make_pdf(tmp_path / "a.pdf", 2), make_pdf(tmp_path / "b.pdf", 1, "b")
    bad, good = convert(tmp_path, settings, two_parts, fine)
    assert good.failure is None
    assert bad.failure is not None
    assert "file is broken" in bad.failure.message


def test_a_wrong_key_is_said(tmp_path: Path, mineru: FakeMineru) -> None:
    pdf = make_pdf(tmp_path / "a.pdf", 1)
    (done,) = convert(tmp_path, settings_for(mineru), pdf, key="wrong")
    assert done.failure is not None
    assert done.failure.reason_code == "provider_refused"
    assert "MINERU_API_KEY" in done.failure.message
    assert "wrong" not in done.failure.message
    assert mineru.calls["POST file-urls"] == 1


def test_an_answer_that_is_there_is_not_asked_for_again(tmp_path: Path, mineru: FakeMineru) -> None:
    pdf = make_pdf(tmp_path / "a.pdf", 1)
    convert(tmp_path, settings_for(mineru), pdf)
    before = dict(mineru.calls)
    convert(tmp_path, settings_for(mineru), pdf)
    assert dict(mineru.calls) == before


def test_nothing_of_an_answer_is_unpacked(tmp_path: Path, mineru: FakeMineru) -> None:
    (done,) = convert(tmp_path, settings_for(mineru), make_pdf(tmp_path / "a.pdf", 1))
    read_answer(done.folder)
    assert not list(tmp_path.rglob("escape.txt"))
    assert sorted(path.name for path in done.folder.iterdir()) == [
        "part-001.zip",
        "split_manifest.json",
    ]


def build_with_mineru(
    tmp_path: Path, state: FakeMineru, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> list[dict[str, object]]:
    quick = settings_for(state, wait_seconds=5.0).model_dump()
    config = {"embed": {"kind": "hashing", "model": "words"},
              "parse": {"parser": "mineru", "workers": 1, "mineru": quick}}  # fmt: skip
    pdf = make_pdf(tmp_path / "x.pdf", 1).read_bytes()
    workspace = make_workspace(
        tmp_path / "w", {"evidence/x.pdf": pdf, "evidence/y.md": "# Y\n\nText."}, config
    )
    if key is None:
        monkeypatch.delenv("MINERU_API_KEY", raising=False)
    else:
        monkeypatch.setenv("MINERU_API_KEY", key)
    namespace = workspace.namespace("thesis")
    take_inventory(namespace, notify=print)
    inventory = require_inventory(namespace)
    refresh_parse_reports(namespace, inventory, namespace.partition_keys, print)
    rows = [
        row
        for partition in namespace.partition_keys
        for row in read_reports(namespace, partition, inventory.partition(namespace, partition))
    ]
    return sorted(rows, key=lambda row: row["media_type"])


def test_a_build_sends_pdfs_and_reads_the_rest_here(
    tmp_path: Path, mineru: FakeMineru, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf, markdown = build_with_mineru(tmp_path, mineru, monkeypatch, KEY)
    assert (pdf["parser"], pdf["status"], pdf["tables"]) == ("mineru", "ok", 1)
    assert (markdown["parser"], markdown["status"]) == ("markdown", "ok")
    assert len(mineru.uploads) == 1


def test_without_a_key_the_report_says_which_variable_and_where_to_get_one(
    tmp_path: Path, mineru: FakeMineru, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf, markdown = build_with_mineru(tmp_path, mineru, monkeypatch, None)
    assert pdf["reason_code"] == "missing_key"
    assert "MINERU_API_KEY" in str(pdf["message"])
    assert "https://mineru.net/apiManage/token" in str(pdf["message"])
    assert markdown["status"] == "ok"
    assert not mineru.calls
