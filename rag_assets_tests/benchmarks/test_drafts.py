"""Figures of an audit on drafts with known truth."""

import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.evaluating import drafts
from benchmarks.evaluating.drafts import (
    DraftRow,
    Judged,
    auc,
    evaluate_drafts,
    figures,
    group_of,
    is_draft_file,
    is_located,
    kind_table,
    read_draft_rows,
)
from rag_assets.model import UsageError
from rag_assets.workspace import shipped_settings

TRUE = "Green roofs were 7 degrees cooler than bitumen at noon."
ROOFS = f"# Roofs\n\n{TRUE}\n\nSedum flowers in May.\n"


def row(number: int, label: str, paper: str = "roofs.md", **fields: object) -> DraftRow:
    given = {
        "id": f"r-{number}", "paper": paper, "language": "en", "sentence": f"Sentence {number}.",
        "label": label, "kind": "near", "evidence": ["Sedum flowers in May."], **fields,
    }  # fmt: skip
    return DraftRow.model_validate(given)


def judged(*cells: tuple[str, float, str]) -> Sequence[Judged]:
    return [
        Judged(row(n, label, f"paper-{n}.md"), status, score, ("Sedum flowers in May.",))
        for n, (label, score, status) in enumerate(cells)
    ]


def test_figures_are_counted_as_the_guide_of_the_drafts_says() -> None:
    found = figures(
        judged(
            ("SUPPORTED", 0.9, "OK"), ("SUPPORTED", 0.4, "WEAK"), ("PARTLY", 0.5, "OK"),
            ("NOT", 0.6, "OK"), ("NOT", 0.1, "MISSING"),
        )
    )  # fmt: skip
    # Of four pairs one is the wrong way round: 0.4 below 0.6. PARTLY is in neither class.
    assert found["auc_all"] == pytest.approx(3 / 4)
    assert found["ok_supported_all"] == pytest.approx(1 / 2)
    assert found["ok_unsupported_all"] == pytest.approx(1 / 2)
    assert found["ok_partly_all"] == 1
    assert found["located_all"] == 1
    assert found["auc_en"] == found["auc_all"]
    assert "auc_law" not in found


def test_equal_scores_count_half_and_no_pairs_are_no_figure() -> None:
    assert auc([0.5], [0.5]) == pytest.approx(0.5)
    assert auc([], [0.5]) is None


@pytest.mark.parametrize(
    ("paper", "language", "group"),
    [
        ("law/劳动法.md", "en", "law"), ("wages.pdf", "en", "en"), ("wages.pdf", "zh", "cross"),
        ("工资.pdf", "zh", "zh"), ("工资.pdf", "en", "cross"),
    ],
)  # fmt: skip
def test_groups_are_by_language_of_sentence_and_source(
    paper: str, language: str, group: str
) -> None:
    assert group_of(paper, language) == group


def test_a_quotation_is_found_without_white_space_and_punctuation() -> None:
    assert is_located(["Sedum  flowers, in May"], "… Sedum flow ers in May. …")
    assert not is_located(
        ["Sedum flowers in May", "Roofs leak in autumn."], "Sedum flowers in May."
    )


def test_kinds_stand_by_label() -> None:
    rows = [
        Judged(row(1, "NOT", kind="number"), "OK", 0.8),
        Judged(row(2, "NOT", kind="number"), "WEAK", 0.4),
        Judged(row(3, "SUPPORTED"), "OK", 0.9),
    ]
    first, second = kind_table(rows).rows
    assert first[:4] == ("SUPPORTED", "near", 1, 1)
    assert second[:6] == ("NOT", "number", 2, 1, 1, 0)


@pytest.fixture
def drafted(tmp_path: Path) -> Path:
    (tmp_path / "roofs.md").write_text(ROOFS, encoding="utf-8")
    rows = [
        row(1, "SUPPORTED", sentence="Sedum flowers in May."),
        row(2, "NOT", kind="number", sentence=TRUE.replace("7", "9"), evidence=[TRUE]),
    ]
    file = tmp_path / "dev.jsonl"
    file.write_text("\n".join(each.model_dump_json() for each in rows), encoding="utf-8")
    return file


def test_rows_are_judged_by_the_audit_itself(drafted: Path) -> None:
    report = evaluate_drafts([drafted], shipped_settings(None), "facts")
    kinds = report.tables[1]
    assert kinds.rows[0][:6] == ("SUPPORTED", "near", 1, 1, 0, 0)  # word for word
    assert kinds.rows[1][:6] == ("NOT", "number", 1, 0, 1, 0)
    assert report.metrics["auc_all"] == 1
    assert report.metrics["located_first_all"] == 1
    assert report.counts == {"files": 1, "rows": 2, "sources": 1}


def test_a_run_that_was_stopped_goes_on(
    drafted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, cache = shipped_settings(None), tmp_path / "cache"
    first = evaluate_drafts([drafted], settings, "facts", cache=cache)

    class Silent:
        def __init__(self, scorer: object) -> None:
            self._scorer = scorer

        def __getattr__(self, name: str) -> object:
            return getattr(self._scorer, name)

        def judge(self, claims: Sequence[object]) -> list[object]:
            raise AssertionError(f"asked again about {claims}")

    opened = drafts.open_scorer
    monkeypatch.setattr(drafts, "open_scorer", lambda given: Silent(opened(given)))
    monkeypatch.setattr("benchmarks.evaluating.drafts.PreviewSource", None)
    again = evaluate_drafts([drafted], settings, "facts", cache=cache)
    assert again == first


def test_sources_are_found_in_an_archive(drafted: Path, tmp_path: Path) -> None:
    archive = tmp_path / "vault.tar.xz"
    with tarfile.open(archive, "w:xz") as vault:
        vault.add(tmp_path / "roofs.md", "roofs.md")
    (tmp_path / "roofs.md").unlink()
    report = evaluate_drafts([drafted], shipped_settings(None), "facts", sources=[archive])
    assert report.counts["sources"] == 1


def test_a_source_that_is_not_there_is_named(drafted: Path) -> None:
    (drafted.parent / "roofs.md").unlink()
    with pytest.raises(UsageError, match=r"roofs\.md .*--sources"):
        evaluate_drafts([drafted], shipped_settings(None), "facts")


def test_a_line_that_is_no_row_is_named(drafted: Path) -> None:
    assert is_draft_file(drafted)
    with drafted.open("a", encoding="utf-8") as lines:
        lines.write('\n{"sentence": "No paper."}\n')
    with pytest.raises(UsageError, match="line 3"):
        read_draft_rows(drafted)


def test_the_command_takes_drafts_and_claims(drafted: Path, tmp_path: Path) -> None:
    from benchmarks.eval_claims import eval_claims

    claims, out = tmp_path / "claims.jsonl", tmp_path / "out.json"
    claims.write_text('{"claim": "Cats sleep", "evidence": ["Cats sleep."], "label": "SUPPORT"}\n')
    assert not is_draft_file(claims)
    run = CliRunner().invoke(
        eval_claims,
        [str(drafted), str(claims), "--scorer", "facts", "--json", str(out),
         "--cache", str(tmp_path / "cache")],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    for title in ("By language", "By kind", "By set"):
        assert title in run.output
    stored = json.loads(out.read_text(encoding="utf-8"))
    assert {"auc_all", "ok_supported_en", "located_all", "macro_f1"} <= stored.keys()
