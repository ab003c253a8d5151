from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st

from rag_assets.model import (
    Block,
    Columns,
    DamagedFileError,
    PageSpan,
    ParsedDocument,
    ParseReport,
    SourceLine,
)
from rag_assets.parsing import parsed_digest, read_parsed, stored, write_parsed
from rag_assets.parsing.stored import read_beginning, read_print

DOCUMENT = ParsedDocument(
    text="Light 光\n\nYield",
    media_type="application/pdf",
    pages=(PageSpan(1, 0, 9), PageSpan(2, 9, 14)),
    blocks=(
        Block("paragraph", 0, 7, 1, (1.0, 2.5, 3.0, 4.1)),
        Block("heading", 9, 14, 2, None, 1),
    ),
    title=None,
    language="en",
    metadata={"author": "甲", "subject": "x"},
    removed_templates=("#",),
    warnings=("Look.",),
)
REPORT = ParseReport(
    content_hash="ab" * 32,
    status="ok",
    parser="pdf",
    parser_version="1",
    media_type="application/pdf",
    doc_id="cd" * 32,
    parsed_digest=parsed_digest(DOCUMENT),
    warnings=("Look.",),
)


def test_a_parse_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "p" / "parse.parquet"
    write_parsed(path, DOCUMENT, REPORT)
    assert read_parsed(path) == (DOCUMENT, REPORT)
    assert [item.name for item in path.parent.iterdir()] == ["parse.parquet"]


def test_print_of_a_parse_is_its_text_with_pages_blocks_and_lines(tmp_path: Path) -> None:
    path = tmp_path / "parse.parquet"
    printed = replace(DOCUMENT, lines=(SourceLine(0, 7, 1, (1.0, 2.5, 3.0, 4.1), "Light\u00a0光"),))
    write_parsed(path, printed, REPORT)
    assert read_print(path) == replace(
        printed, language=None, metadata={}, removed_templates=(), warnings=()
    )


def test_a_long_parse_is_stored_in_rows_and_read_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole.parquet"
    write_parsed(whole, DOCUMENT, REPORT)
    monkeypatch.setattr(stored, "_TEXT_OF_ROW", 4)
    monkeypatch.setattr(stored, "_ITEMS_OF_ROW", 1)
    path = tmp_path / "parse.parquet"
    write_parsed(path, DOCUMENT, REPORT)
    rows = pq.read_metadata(path)
    assert (rows.num_rows, rows.num_row_groups, pq.read_metadata(whole).num_rows) == (4, 4, 1)
    assert read_parsed(path) == read_parsed(whole) == (DOCUMENT, REPORT)
    assert read_print(path) == read_print(whole)
    assert read_beginning(path, 3) == (None, "Lig")


def test_many_blocks_without_pages_are_read_into_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "_MANY_BLOCKS", 2)
    rows = tuple(Block("row", 2 * n, 2 * n + 1) for n in range(4))
    document = ParsedDocument("a\nb\nc\nd", "text/csv", blocks=rows)
    report = replace(REPORT, parsed_digest=parsed_digest(document))
    path = tmp_path / "parse.parquet"
    write_parsed(path, document, report)
    found, _ = read_parsed(path)
    assert isinstance(found.blocks, Columns)
    assert found == document
    assert parsed_digest(found) == parsed_digest(document)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_print_of_a_truncated_file_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "parse.parquet"
    write_parsed(path, DOCUMENT, REPORT)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DamagedFileError, match=str(path)):
        read_print(path)


@given(st.data())
@rules(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_altered_file_is_never_taken_for_another_parse(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "parse.parquet"
    write_parsed(path, DOCUMENT, REPORT)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        assert read_parsed(path) == (DOCUMENT, REPORT)  # a byte that nothing refers to
    except DamagedFileError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_file_is_named(tmp_path: Path, share: float) -> None:
    path = tmp_path / "parse.parquet"
    write_parsed(path, DOCUMENT, REPORT)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DamagedFileError, match=str(path)):
        read_parsed(path)


def test_content_that_does_not_fit_its_report_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "parse.parquet"
    write_parsed(path, replace(DOCUMENT, title="Another"), REPORT)
    with pytest.raises(DamagedFileError, match="digest"):
        read_parsed(path)


@pytest.mark.parametrize(
    "changes",
    [{"text": "Light 光\n\nyield"}, {"title": "T"}, {"blocks": ()}, {"metadata": {}}],
    ids=lambda changes: next(iter(changes)),
)
def test_the_digest_covers_the_content(changes: dict[str, object]) -> None:
    assert parsed_digest(replace(DOCUMENT, **changes)) != parsed_digest(DOCUMENT)  # type: ignore[arg-type]
