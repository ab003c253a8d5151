import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag_assets.auditing import (
    CitationAudit,
    audit_from_json,
    audit_schema,
    audit_to_json,
    render_markdown,
)
from rag_assets.auditing.record import ReasonCode, Status
from rag_assets.model import UsageError, shorten

from .world import SETTINGS, Shelf, WordEncoder, audit_of, make_document, make_passage

DOCUMENTS = [
    make_document("wages", ["Intro. Wages rose by three percent | after the reform.\n\nMore."]),
    make_document("工资", [make_passage("工资", 0, "工资上涨。", page=None, start=7)]),
]
TEXT = (
    "Wages rose by three percent | after the reform {#wages}.\n\n"
    "*Penguins* breed on <ice> {#wages}.\n\n工资上涨{#工资}。\n\nUnknown {#wags}.\n"
)


def made() -> CitationAudit:
    return audit_of(TEXT, DOCUMENTS)


def table_rows(markdown: str) -> list[list[str]]:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    rows: list[list[str]] = []
    for position, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in {"td_open", "th_open"}:
            children = tokens[position + 1].children or []
            rows[-1].append("".join(child.content for child in children))
    return rows


def test_counts_name_all_four_verdicts() -> None:
    assert made().counts == {"OK": 2, "WEAK": 0, "MISSING": 1, "ERROR": 1}


def test_table_survives_pipes_marks_and_tags() -> None:
    head, *rows = table_rows(render_markdown(made()))
    assert head == ["#", "sentence", "cites", "verdict", "score", "where", "passage", "reason",
                    "suggested query"]  # fmt: skip
    # What needs eyes first; numbers stay those of the draft's order.
    assert [row[0] for row in rows] == ["2", "4", "1", "3"]
    rows.sort(key=lambda row: row[0])
    assert rows[0][1] == "Wages rose by three percent | after the reform."
    assert rows[0][6] == "“Wages rose by three percent | after the reform.”"
    assert rows[1][1] == "Penguins breed on <ice>."
    assert [row[3] for row in rows] == ["OK", "MISSING", "OK", "ERROR"]
    assert rows[2][4] == "1.00"
    assert rows[2][5] == "characters 7–12"


def test_only_rows_to_mend_have_details_with_the_whole_passage() -> None:
    markdown = render_markdown(made())
    details = markdown.split("## To fix")[1].split("## Sources used")[0]
    assert [line[:6] for line in details.splitlines() if line.startswith("### ")] == [
        "### 2.",
        "### 4.",
    ]
    assert "> Intro. Wages rose by three percent \\| after the reform.\n>\n> More." in details


def test_head_shows_counts_thresholds_and_their_origin() -> None:
    head = render_markdown(made()).split("## All citations")[0]
    assert "**4 citations in 4 sentences: 2 OK · 1 MISSING · 1 ERROR**" in head
    assert "OK from 0.55 (spec 000 default)" in head
    assert "WEAK from 0.40 (default)" in head


def test_page_names_draft_audit_publication_model_and_sources() -> None:
    audit = made()
    markdown = render_markdown(audit)
    for part in (audit.draft_digest, audit.audit_id, "thesis-1", "hashed-words-256"):
        assert f"`{part}`" in markdown
    assert audit.sources_used == ("thesis:wages", "thesis:工资")
    assert "- `thesis:工资`" in markdown


def test_draft_without_citations_gives_a_short_page_with_the_warning() -> None:
    audit = audit_of("Wages rose.", DOCUMENTS)
    assert audit.rows == ()
    # Nothing checked is no success.
    assert audit.errors == audit.warnings[:1]
    markdown = render_markdown(audit)
    assert "No citations were found" in markdown
    assert "Looked for were" in markdown


def test_json_gives_the_same_audit_again() -> None:
    audit = made()
    assert audit_from_json(CitationAudit, json.loads(json.dumps(audit_to_json(audit)))) == audit


def test_json_shape_is_as_documented() -> None:
    data = audit_to_json(made())
    assert data["schema"] == "rag-assets/citation-audit/7"
    assert data["publications"] == {"thesis": "thesis-1"}
    assert data["counts"]["ERROR"] == 1
    assert data["rows"][3]["nearest_uids"] == ["wages"]
    json.dumps(data, allow_nan=False)


SCHEMA_FILE = Path(__file__).parents[2] / "docs/schemas/citation_audit.schema.json"


def test_json_follows_the_published_schema() -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    text = TEXT + "\nIt says “wages rose by nine percent after the reform” {#wages, p. 1}.\n"
    data = json.loads(json.dumps(audit_to_json(audit_of(text, DOCUMENTS))))
    jsonschema.validate(data, schema)
    del data["rows"][0]["text_digest"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema)


def test_published_schema_is_that_of_the_types() -> None:
    """docs/schemas/citation_audit.schema.json is made of the types."""
    assert json.loads(SCHEMA_FILE.read_text(encoding="utf-8")) == audit_schema(CitationAudit)


@pytest.mark.parametrize("change", [{"schema": "other/1"}, {"rows": []}, {"surprise": 1}])
def test_json_that_was_tampered_with_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="rag verify-citations"):
        audit_from_json(CitationAudit, {**audit_to_json(made()), **change})


def test_json_row_without_a_field_is_refused() -> None:
    data = audit_to_json(made())
    del data["rows"][0]["score"]
    with pytest.raises(UsageError, match=r"row 1 .*score"):
        audit_from_json(CitationAudit, data)


def test_audit_id_knows_draft_and_verdicts_and_nothing_else() -> None:
    class OtherEncoder(WordEncoder):
        fingerprint = "other"

    first = made().audit_id
    assert first == made().audit_id
    renamed = Shelf(DOCUMENTS, publications={"thesis": "thesis-2"})
    assert audit_of(TEXT, renamed).audit_id == first
    others = {
        audit_of(TEXT + " ", DOCUMENTS).audit_id,
        audit_of(TEXT, DOCUMENTS, OtherEncoder()).audit_id,
        audit_of(TEXT, DOCUMENTS, settings=SETTINGS.model_copy(update={"k": 3})).audit_id,
    }
    assert len(others | {first}) == 4


def test_namespaces_that_a_draft_does_not_name_leave_its_id_alone() -> None:
    text = "---\nnamespaces: thesis\n---\n" + TEXT
    alone = audit_of(text, Shelf(DOCUMENTS, publications={"thesis": "t"}))
    beside = audit_of(text, Shelf(DOCUMENTS, publications={"thesis": "t", "law": "l"}))
    assert alone.audit_id == beside.audit_id
    assert beside.publications == {"thesis": "t"}


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("Wages rose by three percent", 40, "Wages rose by three percent"),
        ("Wages rose by three percent", 18, "Wages rose by…"),
        ("Wages  rose\nby", 40, "Wages rose by"),
        ("工资上涨百分之三", 10, "工资上涨…"),
        ("Donaudampfschifffahrtsgesellschaft", 10, "Donaudamp…"),
    ],
)
def test_sentences_are_shortened_between_words(text: str, width: int, short: str) -> None:
    assert shorten(text, width) == short


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_keeps_the_tables_shape(sentence: str, quote: str) -> None:
    audit = made()
    rows = (replace(audit.rows[0], claim=sentence or "x", quote=quote, passage=quote),)
    (_, row) = table_rows(render_markdown(replace(audit, rows=rows)))
    assert len(row) == 9
    assert row[0] == "1"


def test_what_needs_eyes_first_stands_first() -> None:
    row = made().rows[0]
    verdicts: tuple[tuple[Status, ReasonCode], ...] = (
        ("OK", "supported"), ("WEAK", "unread"), ("WEAK", "weakly_supported"),
        ("MISSING", "not_found"), ("MISSING", "misquoted"), ("MISSING", "contradicted"),
    )  # fmt: skip
    given = [
        replace(row, number=number, reason_code=code, status=status)
        for number, (status, code) in enumerate(verdicts, start=1)
    ]
    audit = replace(made(), rows=tuple(given))
    assert [one.number for one in audit.by_urgency] == [6, 5, 4, 3, 2, 1]
    page = render_markdown(audit)
    assert [cells[0] for cells in table_rows(page)[1:]] == ["6", "5", "4", "3", "2", "1"]
    assert [one["number"] for one in audit_to_json(audit)["rows"]] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(("scorer", "shown"), [("similarity", 7), ("facts", 3)])
def test_head_tells_how_many_passages_the_scorer_saw(scorer: str, shown: int) -> None:
    audit = audit_of(
        TEXT, DOCUMENTS, settings=SETTINGS.model_copy(update={"scorer": scorer, "k": 7})
    )
    assert f"the best {shown} passages of each cited document" in render_markdown(audit)
