"""A retracted source is never OK in silence."""

import pytest

from .world import audit_of, make_document

SAID = "The lamps of the eastern house were replaced in the autumn."


@pytest.mark.parametrize(
    ("title", "status", "word"),
    [
        ("RETRACTED: Red lamps", "WEAK", "retracted"),
        ("EXPRESSION OF CONCERN: Red lamps", "OK", "concern"),
        ("CORRECTED: Red lamps", "OK", "corrected"),
        ("Why papers on lamps are retracted", "OK", None),
    ],
)
def test_what_a_publisher_says_of_a_source_is_in_its_verdicts(
    title: str, status: str, word: str | None
) -> None:
    source = make_document("lamps", [SAID], title=title)
    audit = audit_of(f"“{SAID}” {{#lamps}}", [source])
    (row,) = audit.rows
    assert row.status == status
    note = row.scoring_note or ""
    assert word in note if word else "marked" not in note
    assert (status == "OK") != ("marked as retracted" in row.reason)
    assert any("Row 1" in warning for warning in audit.warnings) == bool(word)
