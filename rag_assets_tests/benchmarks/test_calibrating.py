"""From scores on sentences of known truth to a curve, thresholds and figures."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.calibrate import (
    Label,
    LabelledScore,
    auc,
    calibration_error,
    fit_curve,
    fit_reader,
    folds,
    hold_back,
    shares_from,
)
from rag_assets.judging.readers import ReaderFit, find_fit, keep_fit, own_fits
from rag_assets.model import ConfigurationError


def rows_of(supported: float, unsupported: float, count: int = 60) -> list[LabelledScore]:
    """Rows about ten sources; every fifth has the score of the other kind."""
    made = []
    for place in range(count):
        is_supported = place % 2 == 0
        is_odd = place % 5 == 0
        logit = supported if is_supported != is_odd else unsupported
        label: Label = "SUPPORTED" if is_supported else "NOT"
        made.append(LabelledScore(logit + place / 1000, label, f"source {place // 2 % 10}"))
    return made


def fitted(rows: list[LabelledScore], wrong: float = 0.25) -> ReaderFit:
    return fit_reader(rows, fingerprint="f" * 64, model="m", data="made up", most_wrong=wrong)


def test_the_threshold_lets_no_more_unsupported_sentences_pass_than_was_asked_for() -> None:
    rows = rows_of(2.0, -2.0)
    fit = fitted(rows)
    said = hold_back(rows)
    assert shares_from(said, fit.ok) == pytest.approx(
        (fit.ok_supported, fit.ok_unsupported), abs=1e-3
    )
    assert fit.ok_unsupported <= 0.25 < shares_from(said, fit.ok - 0.01)[1]
    assert fit.ok_supported > fit.ok_unsupported


def test_what_is_missing_is_unsupported_often_enough() -> None:
    rows = rows_of(2.0, -2.0)
    assert fitted(rows).weak == 0.0  # one in five of the low scores is supported
    sure = [row for row in rows if (row.logit > 0) == (row.label == "SUPPORTED")]
    fit = fitted(sure)
    below = [row for row in hold_back(sure) if row.probability < fit.weak]
    assert 0 < fit.weak <= fit.ok
    assert below
    assert all(row.label == "NOT" for row in below)


def test_a_larger_share_gives_a_threshold_that_is_no_higher() -> None:
    rows = rows_of(2.0, -2.0)
    assert fitted(rows, 0.5).ok <= fitted(rows, 0.3).ok


def test_probabilities_of_a_fit_are_nearer_to_shares_than_bare_scores() -> None:
    rows = rows_of(0.2, -0.1, count=200)
    assert fitted(rows).calibration_error < calibration_error(rows)


LABELS: tuple[Label, ...] = ("SUPPORTED", "PARTLY", "NOT")
SCORES = st.builds(
    LabelledScore, st.floats(-5, 5), st.sampled_from(LABELS), st.sampled_from("abcdefghij")
)


@given(st.lists(SCORES, min_size=1, max_size=60))
def test_no_source_is_fitted_on_and_held_back(rows: list[LabelledScore]) -> None:
    held_back = []
    for seen, held in folds(rows):
        assert {row.source for row in seen}.isdisjoint(row.source for row in held)
        assert len(seen) + len(held) == len(rows)
        held_back += held
    assert sorted(map(repr, held_back)) == sorted(map(repr, rows))


def test_auc_counts_equal_scores_half_and_leaves_partly_out() -> None:
    rows = [
        LabelledScore(1.0, "SUPPORTED", "a"), LabelledScore(0.0, "SUPPORTED", "a"),
        LabelledScore(0.0, "NOT", "a"), LabelledScore(9.0, "PARTLY", "a"),
    ]  # fmt: skip
    assert auc(rows) == 0.75


def test_scores_that_are_upside_down_give_no_fit() -> None:
    with pytest.raises(ConfigurationError, match="no threshold can be chosen"):
        fitted(rows_of(-2.0, 2.0))


def test_too_few_sentences_or_sources_give_no_fit() -> None:
    with pytest.raises(ConfigurationError, match="too few"):
        fitted(rows_of(2.0, -2.0, count=30))
    of_one = [LabelledScore(row.logit, row.label, "one") for row in rows_of(2.0, -2.0)]
    with pytest.raises(ConfigurationError, match="about 1 sources"):
        fitted(of_one)


def test_what_was_measured_here_comes_first_and_replaces_what_was_measured_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_MODELS", str(tmp_path))
    fit = fitted(rows_of(2.0, -2.0))
    assert find_fit(fit.fingerprint) is None
    keep_fit(fit)
    again = fit.model_copy(update={"ok": 0.9})
    keep_fit(again)
    assert find_fit(fit.fingerprint) == again


def test_a_damaged_file_of_own_measurements_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_MODELS", str(tmp_path))
    own_fits().write_text("{", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="calibrate the reader again"):
        find_fit("f" * 64)


def test_a_row_of_weight_three_counts_as_three_rows() -> None:
    rows = rows_of(2.0, -2.0)
    weighed = [replace(row, weight=3.0 if row.label == "NOT" else 1.0) for row in rows]
    repeated = [row for row in rows for _ in range(3 if row.label == "NOT" else 1)]
    assert fit_curve(weighed) == pytest.approx(fit_curve(repeated), abs=1e-4)
    assert shares_from(weighed, 0.5) == shares_from(repeated, 0.5)
