"""Entries below “References” are sources: they are used, not judged."""

import pytest

from rag_assets.auditing import CitationAudit, audit_from_json, audit_to_json, parse_draft
from rag_assets.auditing.claims import find_claims

from .world import Shelf, audit_of, make_document

SHELF = Shelf(
    [
        make_document("wages", ["Wages rose by three percent."], title="On wages"),
        make_document("rents", ["Rents held in all the towns."]),
        make_document("rubric", ["Wages rose."], citable=False),
    ]
)
CLAIM = "Wages rose by three percent {#wages}.\n\n"


def audit(text: str) -> CitationAudit:
    return audit_of(text, SHELF)


@pytest.mark.parametrize(
    "heading", ["## References", "# 7. Bibliography", "**Works Cited**", "## 参考文献", "参考文献"]
)
def test_entries_of_the_list_are_used_and_not_judged(heading: str) -> None:
    entries = "- Lee (2019). Rents. {#rents}\n- [@wages] Smith (2020). Wages fell everywhere.\n"
    made = audit(f"# Wages\n\n{CLAIM}{heading}\n\n{entries}")
    assert [(row.line, row.status) for row in made.rows] == [(3, "OK")]
    assert [(one.line, one.doc_uid) for one in made.listed] == [(7, "rents"), (8, "wages")]
    assert made.sources_used == ("thesis:rents", "thesis:wages")
    assert any(w.startswith("chapter.md, lines 7, 8: entries of the list") for w in made.warnings)
    assert audit_from_json(CitationAudit, audit_to_json(made)) == made


@pytest.mark.parametrize(("uid", "code"), [("rnets", "unknown_uid"), ("rubric", "not_citable")])
def test_wrong_uid_of_an_entry_is_an_error(uid: str, code: str) -> None:
    made = audit(f"{CLAIM}## References\n\n- Lee (2019). Rents. {{#{uid}}}\n")
    assert [(row.status, row.reason_code) for row in made.rows] == [
        ("OK", "supported"), ("ERROR", code),
    ]  # fmt: skip
    assert made.errors
    assert made.listed == ()


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("## References\n\n### Printed\n\n- {#rents}\n\n### Spoken\n\n- {#rents}\n", 0),
        ("## References\n\n- {#rents}\n\n## Appendix\n\nRents held in all the towns {#rents}.", 1),
        # A footnote stands where its writer put it, often at the end.
        ("Rents held.[^1]\n\n## References\n\n[^1]: Rents held in all the towns {#rents}.", 1),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nSources: {#wages}.\n\nRents held {#rents}.", 1),
        ("Sources\n\nRents held {#rents}.", 1),
        ("## References to Wages\n\nRents held {#rents}.", 1),
    ],
)
def test_the_list_ends_with_its_section(text: str, judged: int) -> None:
    rows = audit(f"# Towns\n\n{text}").rows
    assert sum(row.doc_uid == "rents" for row in rows) == judged


def test_what_is_listed_is_part_of_the_audit() -> None:
    text = f"{CLAIM}## References\n\n- {{#thesis:rents}}\n"
    moved = Shelf(
        [
            make_document("wages", ["Wages rose by three percent."], title="On wages"),
            make_document("rents", ["Rents held in all the towns."], title="On rents"),
        ]
    )
    assert audit(text).audit_id != audit_of(text, moved).audit_id


def test_no_entry_is_an_assertion() -> None:
    text = f"{CLAIM}## References\n\nHill (2020). Roofs reduce the load of offices. {{#rents}}\n"
    found = find_claims(parse_draft("chapter.md", text.encode())).assertions
    assert [one.sentence.line for one in found if "Roofs" in one.sentence.claim] == []
