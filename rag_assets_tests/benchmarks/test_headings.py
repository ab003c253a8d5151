"""`evaluate_headings` on documents made here, whose structure is known."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from benchmarks.headings.measuring import describe_misses, evaluate_headings
from benchmarks.headings.rows import (
    FoundHeading,
    HeadingRow,
    KnownHeading,
    Reading,
    read_heading_rows,
)
from benchmarks.headings.scores import score_document, summarise
from rag_assets.model import UsageError
from rag_assets.workspace import shipped_settings


def row(*headings: tuple[int, str], optional: tuple[str, ...] = (), **fields: Any) -> HeadingRow:
    known = tuple(KnownHeading(level=level, title=title) for level, title in headings)
    return HeadingRow(pdf="x.pdf", headings=known, optional=optional, **fields)


def reading(*headings: tuple[int, str], **fields: Any) -> Reading:
    return Reading(tuple(FoundHeading(level, title, 1) for level, title in headings), **fields)


def test_matched_missed_and_false_headings_are_counted() -> None:
    score = score_document(
        row((1, "Introduction"), (1, "Methods"), (2, "Data")),
        reading((1, "1 Introduction"), (1, "Figure 1"), (2, "2.1 Data")),
    )
    assert [pair.known.title for pair in score.pairs] == ["Introduction", "Data"]
    assert [heading.title for heading in score.missed] == ["Methods"]
    assert [heading.title for heading in score.false] == ["Figure 1"]
    assert score.f1 == pytest.approx(2 / 3)


def test_optional_headings_and_the_title_count_neither_way() -> None:
    score = score_document(
        row((1, "Introduction"), optional=("References",), title="On Hens"),
        reading((1, "On Hens"), (1, "Introduction"), (1, "REFERENCES")),
    )
    assert score.f1 == 1
    assert [heading.title for heading in score.neutral] == ["On Hens", "REFERENCES"]


def test_title_that_is_also_optional_is_matched_once_and_free_the_second_time() -> None:
    score = score_document(
        row((1, "References"), optional=("References",)),
        reading((1, "References"), (1, "References")),
    )
    assert len(score.pairs) == len(score.neutral) == 1
    assert score.f1 == 1


def test_levels_are_relative_to_the_shallowest() -> None:
    known = row((1, "A thing"), (2, "B thing"), (2, "C thing"))
    shifted = score_document(known, reading((2, "A thing"), (3, "B thing"), (4, "C thing")))
    assert shifted.right_levels == 2


def test_title_as_root_of_the_bookmarks_does_not_shift_the_levels() -> None:
    known = row((1, "A thing"), (2, "B thing"), title="On Hens")
    score = score_document(known, reading((1, "On Hens"), (2, "A thing"), (3, "B thing")))
    assert score.right_levels == 2


@pytest.mark.parametrize(
    ("counted", "is_right"), [(95, True), (105, True), (94, False), (106, False)]
)
def test_reference_count_is_right_within_five_percent(counted: int, is_right: bool) -> None:
    score = score_document(row(n_references=100), reading(references=counted))
    assert score.is_reference_count_right is is_right


def test_field_that_is_null_is_not_scored() -> None:
    score = score_document(row(), reading(title="On Hens", references=4))
    assert score.is_title_right is None
    assert score.abstract_f1 is None
    assert score.is_reference_count_right is None
    figures = summarise([score_document(HeadingRow(pdf="x.pdf"), reading((1, "Made up")))])
    assert figures["heading_f1"] is None
    assert figures["heading_precision"] is None


def test_title_and_abstract_that_are_not_found_count_as_wrong() -> None:
    score = score_document(row(title="On Hens", abstract="Hens lay."), reading())
    assert score.is_title_right is False
    assert score.abstract_f1 == 0


def test_headings_are_pooled_and_the_macro_is_the_mean_of_documents() -> None:
    good = score_document(row((1, "Aa"), (1, "Bb"), (1, "Cc")),
                          reading((1, "Aa"), (1, "Bb"), (1, "Cc")))  # fmt: skip
    bad = score_document(row((1, "Dd")), reading())
    figures = summarise([good, bad])
    assert figures["heading_precision"] == 1
    assert figures["heading_recall"] == 0.75
    assert figures["heading_f1"] == pytest.approx(6 / 7)
    assert figures["heading_f1_macro"] == 0.5


def test_speed_is_pages_over_processor_seconds() -> None:
    scores = [
        score_document(row(), reading(pages=3, cpu_seconds=0.5, wall_seconds=1.0)),
        score_document(row(), reading(pages=1, cpu_seconds=0.5, wall_seconds=3.0)),
    ]
    assert summarise(scores)["pages_per_second"] == 4
    assert summarise(scores)["pages_per_second_wall"] == 1


@pytest.fixture
def papers(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: dict[str, Any]) -> Path:
        for number, fields in enumerate(rows):
            fields["pdf"] = f"pdf/{number}.pdf"
            (tmp_path / "pdf").mkdir(exist_ok=True)
            titles = [heading["title"] for heading in fields["headings"]]
            (tmp_path / fields["pdf"]).write_bytes(make_pdf(titles))
        file = tmp_path / "rows.headings.jsonl"
        file.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
        return file

    return write


def make_pdf(titles: list[str]) -> bytes:
    """Return a page a title, each with a bookmark."""
    document = pymupdf.open()
    for title in titles or ["Nothing"]:
        page = document.new_page()
        page.insert_text((72, 72), title, fontsize=16, fontname="hebo")
        for line in range(12):
            page.insert_text(
                (72, 110 + 14 * line), "Hens lay more eggs where the light is kept on."
            )
    document.set_toc([[1, title, page + 1] for page, title in enumerate(titles)])
    return bytes(document.tobytes())


def test_documents_and_pages_are_counted(papers: Callable[..., Path]) -> None:
    file = papers({"headings": [{"level": 1, "title": "Hens"}, {"level": 1, "title": "Eggs"}]})
    outcome = evaluate_headings([file], shipped_settings())
    assert outcome.report.counts["documents"] == 1
    assert outcome.report.counts["pages"] == 2
    assert outcome.report.failures == ()


def test_json_has_the_figures_at_its_top_with_version_digest_and_counts(
    papers: Callable[..., Path],
) -> None:
    file = papers({"headings": [{"level": 1, "title": "Hens"}], "title": "Hens"})
    written = evaluate_headings([file], shipped_settings()).report.to_json()
    assert {
        "heading_precision", "heading_recall", "heading_f1", "level_accuracy", "title_accuracy",
        "abstract_f1", "reference_count_accuracy", "pages_per_second", "version",
        "settings_digest", "counts",
    } <= written.keys()  # fmt: skip
    assert written["abstract_f1"] is None
    json.dumps(written)


def test_document_that_cannot_be_read_is_named_and_fails_the_evaluation(
    papers: Callable[..., Path],
) -> None:
    headings = [{"level": 1, "title": "Hens"}]
    file = papers({"headings": headings}, {"headings": headings})
    (file.parent / "pdf/1.pdf").write_bytes(b"%PDF-1.4 nothing more")
    outcome = evaluate_headings([file], shipped_settings())
    assert [sentence.split(":")[0] for sentence in outcome.report.failures] == ["1.pdf"]
    assert [heading.title for heading in outcome.scores[1].missed] == ["Hens"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1"),
        ('{"pdf": "x.pdf", "headings": [{"title": "no level"}]}', "level"),
        ('{"pdf": "nowhere.pdf"}', "nowhere.pdf"),
        ("", "no rows"),
    ],
)
def test_row_that_cannot_be_used_is_named(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "x.pdf").write_bytes(b"")
    file = tmp_path / "rows.jsonl"
    file.write_text(line)
    with pytest.raises(UsageError, match=said):
        read_heading_rows([file])


def test_misses_say_where_a_heading_stands() -> None:
    score = score_document(
        row((1, "Hens"), (1, "Eggs and light"), (1, "Feed"), title="On Hens"),
        reading(
            (2, "Figure 1"),
            blocks=(
                ("paragraph", 2, "Eggs and light"),
                ("paragraph", 3, "Hens lay eggs."),
            ),
            title="On hens, again",
        ),
    )
    text = describe_misses(score)
    assert "missed  1 Hens   [begins a paragraph, page 3]" in text
    assert "missed  1 Eggs and light   [is a paragraph, page 2]" in text
    assert "missed  1 Feed   [not in the text]" in text
    assert "false   2 Figure 1   [page 1]" in text
    assert "found: On hens, again" in text
