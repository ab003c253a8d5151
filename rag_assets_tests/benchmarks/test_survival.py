"""`evaluate_survival` and the commands, on small files made here."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.survival import FileFate, _report, evaluate_survival, survival
from rag_assets.model import ParseReport, UsageError
from rag_assets.workspace import Settings, shipped_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    over = tmp_path / "config.yaml"
    over.write_text("parse: {workers: 1, seconds_per_document: 60.0}\n")
    return shipped_settings(over)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "files"
    (root / "deep").mkdir(parents=True)
    (root / "a.md").write_text("# Hens\n\nThey lay.")
    (root / "a.txt").write_text("# Hens\n\nThey lay.")
    (root / "deep/again.md").write_text("# Hens\n\nThey lay.")
    (root / "deep/broken.pdf").write_bytes(b"%PDF-1.7\nno more")
    (root / "deep/empty.md").write_bytes(b"")
    rows = [
        {"path": "deep/broken.pdf", "kind": "unopenable"},
        {"path": "again.md", "kind": "plain"},
        {"path": "nowhere.md", "kind": "plain"},
        {"path": "empty.md"},
    ]
    (root / "deep/manifest.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return root


def test_every_file_has_one_fate_and_the_manifest_is_none(folder: Path, settings: Settings) -> None:
    report = evaluate_survival(folder, settings)
    fates = {row["path"]: row for row in report.details["files"]}
    assert set(fates) == {"a.md", "a.txt", "deep/again.md", "deep/broken.pdf", "deep/empty.md"}
    assert {path for path, row in fates.items() if row["status"] == "ok"} == {
        "a.md", "a.txt", "deep/again.md"
    }  # fmt: skip
    assert fates["a.md"]["media_type"] == "text/markdown"
    assert fates["a.txt"]["media_type"] == "text/plain"
    assert report.counts == {"files": 5, "ok": 3, "failed": 2, "lost": 0}
    assert report.details["by_reason"]["empty_file"] == 1
    assert report.metrics["crashes"] == 0
    assert report.failures == ()


def test_kinds_are_those_of_the_manifest(folder: Path, settings: Settings) -> None:
    kinds = evaluate_survival(folder, settings).details["by_kind"]
    assert kinds["plain"]["files"] == 1
    assert kinds["plain"]["ok_share"] == 1
    assert kinds["unopenable"]["ok_share"] == 0
    assert kinds["unopenable"]["says_so_share"] == 1


def test_password_of_the_manifest_is_given_only_when_asked(
    tmp_path: Path, settings: Settings
) -> None:
    import pymupdf

    root = tmp_path / "locked"
    root.mkdir()
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "Hens lay more eggs under lamps.")
    document.save(root / "x.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="hen")
    row = {"path": "x.pdf", "kind": "password", "password": "hen"}
    (root / "manifest.jsonl").write_text(json.dumps(row))
    shut = evaluate_survival(root, settings)
    assert shut.details["by_reason"] == {"password_required": 1}
    assert shut.metrics["says_so_share"] == 1
    opened = evaluate_survival(root, settings, use_passwords=True)
    assert opened.metrics["ok_share"] == 1


def fate(path: str, reason: str | None, **fields: object) -> FileFate:
    status = "failed" if reason else "ok"
    report = ParseReport(content_hash="0", status=status, parser="p", parser_version="1",
                         media_type="x/y", doc_id="0", reason_code=reason, **fields)  # fmt: skip
    return FileFate(path, "corrupt", report)


def test_crash_and_lost_file_fail_the_evaluation_and_a_time_out_does_not(
    settings: Settings,
) -> None:
    fates = [
        fate("crash.pdf", "parser_crashed"),
        fate("slow.pdf", "time_limit", seconds=9.0),
        fate("odd.pdf", "made_up_reason"),
        FileFate("lost.pdf", None, None),
    ]
    report = _report(fates, settings, 1.0)
    assert [sentence.split(":")[0] for sentence in report.failures] == ["crash.pdf", "lost.pdf"]
    assert (report.metrics["crashes"], report.metrics["lost"]) == (1, 1)
    assert report.metrics["time_outs"] == 1
    assert report.details["timed_out"] == ["slow.pdf"]
    assert report.details["slowest"][0]["path"] == "slow.pdf"
    # A lost file and a reason that is not documented are both unknown.
    assert report.metrics["unknown_reason_share"] == 0.5


def test_file_that_is_read_after_all_says_so_by_a_warning() -> None:
    assert fate("a", None, warnings=("Repaired.",)).says_so
    assert not fate("a", None).says_so
    assert not fate("a", "time_limit").says_so
    assert fate("a", "damaged_file").says_so


def test_troubled_file_read_without_a_word_is_named(settings: Settings) -> None:
    fates = [
        fate("whole.docx", None),
        fate("told.docx", None, warnings=("Repaired.",)),
        fate("broken.docx", "damaged_file"),
        FileFate("plain.docx", "plain", fate("plain.docx", None).report),
    ]
    assert _report(fates, settings, 1.0).details["silent"] == ["whole.docx"]


def test_folder_without_files_is_refused(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(UsageError, match="no files"):
        evaluate_survival(tmp_path / "none", settings)


@pytest.mark.slow
def test_command_writes_json_and_prints_tables(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    arguments = [str(folder), "--json", str(out),
                 "--config", str(tmp_path / "config.yaml")]  # fmt: skip
    (tmp_path / "config.yaml").write_text("parse: {workers: 1}\n")
    result = CliRunner().invoke(survival, arguments)
    assert result.exit_code == 0, result.output
    assert "Kinds, as the manifests say" in result.output
    assert json.loads(out.read_text())["counts"]["files"] == 5
