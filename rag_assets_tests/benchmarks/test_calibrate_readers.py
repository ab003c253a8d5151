"""`benchmarks.calibrate`: a reader is asked about labelled sentences and its fit is kept."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from benchmarks import calibrate
from rag_assets.cli.main import build_cli
from rag_assets.judging import PassageText
from rag_assets.judging.readers import find_fit
from rag_assets.model import AnswerError, ConfigurationError, UsageError, hash_bytes

Run = Callable[..., str]
FINGERPRINT = hash_bytes(b"a reader")


class Stand:
    """A reader that finds a sentence supported where its evidence has the same last word."""

    reader, name = SimpleNamespace(name="stand-in", fingerprint=FINGERPRINT), "llm"

    def __init__(self) -> None:
        self.shown: list[str] = []

    def log_odds(self, claim: str, passages: Sequence[PassageText]) -> float:
        text = " ".join(passage.text for passage in passages)
        self.shown.append(text)
        if "nonsense" in claim:
            raise AnswerError("no answer", "")
        return 2.0 if claim.rsplit(maxsplit=1)[-1].strip(".") in text else -2.0


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stand:
    stand = Stand()
    monkeypatch.setattr(calibrate, "open_scorer", lambda _settings: stand)
    monkeypatch.setenv("RAG_MODELS", str(tmp_path / "models"))
    return stand


def drafts(folder: Path, count: int = 60) -> Path:
    lines = []
    for place in range(count):
        grown, paper = ("wheat", "barley")[place % 2], f"note-{place % 6}.md"
        # Every seventh label is wrong, as a reader is sometimes.
        is_supported = (place % 2 == 0) != (place % 7 == 0)
        lines.append({
            "sentence": f"In plot {place} they grew {grown}.", "paper": paper,
            "label": "SUPPORTED" if is_supported else "NOT", "kind": "near",
            "id": f"row-{place}", "language": "en",
            "evidence": [f"In plot {place} wheat was grown."],
        })  # fmt: skip
        (folder / paper).write_text("# Plots\n\nIn every plot wheat was grown.\n", encoding="utf-8")
    file = folder / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return file


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> str:
        monkeypatch.setattr("sys.argv", ["calibrate", *map(str, arguments)])
        calibrate.main()
        return capsys.readouterr().out

    return run


def test_thresholds_are_kept_for_this_machine(reader: Stand, run: Run, tmp_path: Path) -> None:
    said = run(drafts(tmp_path), "--scorer", "llm", "--wrong", "0.5")
    fit = find_fit(FINGERPRINT)
    assert fit is not None
    assert fit.ok_supported >= 0.5
    assert "60 sentences of rows.jsonl with their true evidence" in fit.data
    assert "kept: " in said and "OK from" in said


def test_a_dry_run_keeps_nothing(reader: Stand, run: Run, tmp_path: Path) -> None:
    assert "kept" not in run(drafts(tmp_path), "--dry-run", "--wrong", "0.5")
    assert find_fit(FINGERPRINT) is None


def test_with_sources_the_reader_sees_what_is_found_in_them(
    reader: Stand, run: Run, tmp_path: Path
) -> None:
    run(drafts(tmp_path), "--sources", tmp_path, "--wrong", "0.5")
    assert set(reader.shown) == {"In every plot wheat was grown."}
    fit = find_fit(FINGERPRINT)
    assert fit is not None and "what was found of them" in fit.data


def test_what_a_reader_does_not_answer_is_counted(reader: Stand, run: Run, tmp_path: Path) -> None:
    file = drafts(tmp_path)
    with file.open("a", encoding="utf-8") as more:
        row = {
            "id": "last", "language": "en", "kind": "near", "sentence": "nonsense",
            "label": "NOT", "paper": "a.md", "evidence": ["b"],
        }  # fmt: skip
        more.write("\n" + json.dumps(row))
    assert "not answered" in run(file, "--dry-run", "--wrong", "0.5")


@pytest.mark.parametrize(
    ("line", "why"),
    [("[", "line 61"), ('{"sentence": "a", "label": "MAYBE", "paper": "b"}', "line 61")],
)
def test_a_line_that_is_no_row_is_named(
    reader: Stand, run: Run, tmp_path: Path, line: str, why: str
) -> None:
    file = drafts(tmp_path)
    file.write_text(file.read_text(encoding="utf-8") + "\n" + line, encoding="utf-8")
    with pytest.raises(UsageError, match=why):
        run(file)


def test_a_scorer_that_compares_has_nothing_to_calibrate(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_MODELS", str(tmp_path))
    config = tmp_path / "config.yaml"
    config.write_text("verify: {scorer: similarity}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="nothing to calibrate"):
        run(drafts(tmp_path), "--config", config)


def test_the_command_of_earlier_versions_names_its_replacement() -> None:
    found = CliRunner().invoke(build_cli(), ["calibrate", "rows.jsonl"])
    assert found.exit_code == 2
    assert "python -m benchmarks.calibrate" in found.output
