"""What stands around a citation and only says where to look."""

import pytest

from rag_assets.auditing import parse_draft

from .world import audit_of, make_document, make_passage

CLAIM = "Each row range is called a tablet"
Found = list[tuple[str, str | None]]


def read(text: str) -> list[tuple[str, Found, tuple[str, ...]]]:
    return [
        (s.claim, [(c.doc_uid, c.hint.text if c.hint else None) for c in s.citations], s.quotations)
        for s in parse_draft("chapter.md", text.encode()).sentences
    ]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (" (Chang et al., 2006, {#u})", [("u", None)]),
        (" (Chang et al., 2006; {#u})", [("u", None)]),
        (" (see {#u}, p. 2)", [("u", "p. 2")]),
        (" ({#u}, p. 9)", [("u", "p. 9")]),
        (" {#u}, p. 9", [("u", "p. 9")]),
        ("（{#u}，第9页）", [("u", "第9页")]),
        (" (@u, p. 2)", [("u", "p. 2")]),
        (" ({#u}; see also {#m})", [("u", None), ("m", None)]),
        (" (as shown in {#u})", [("u", None)]),
        (" (Smith & Jones 2006: 12, {#u})", [("u", "12")]),
        (" (Smith & Jones, 2006:12–15 {#u})", [("u", "12–15")]),
        (" (Smith 2006a: 12, 15; {#u})", [("u", "12, 15")]),
        (" (Lee 2006, p. 12, {#u}; Lee 2007: 3, {#m})", [("u", "p. 12"), ("m", "3")]),
        (" (Smith 2006: 12) {#u}", [("u", "12")]),
        (" (Smith et al., 2006, p. 12) [@u]", [("u", "p. 12")]),
        ("（张三，2006：12，{#u}）", [("u", "12")]),
        ("^[See [@u, p. 2].]", [("u", "p. 2")]),
        (r"\footnote{See \cite[2]{u}.}", [("u", "2")]),
        (r" \cite[p.~9]{u}", [("u", "p. 9")]),
        (r" \autocite[pp.~2--3]{u}", [("u", "pp. 2--3")]),
    ],
)
def test_references_around_a_citation_are_no_claim(written: str, found: Found) -> None:
    assert read(f"{CLAIM}{written}.") == [(f"{CLAIM}.", found, ())]


@pytest.mark.parametrize(
    "text",
    [
        "Wages rose (prices fell {#a}).",
        "Wages rose {#a}, Table 2 says.",
        "As (2006) {#a} goes on.",
        "Wages rose (in 2006: 12 percent) {#a}.",
        "Wages rose (Table 2) {#a}.",
        "Wages rose (Smith 2006) {#a}.",
    ],
)
def test_words_in_brackets_stay(text: str) -> None:
    (claim, _, _), = read(text)  # fmt: skip
    assert claim == text.replace(" {#a}", "")


@pytest.mark.parametrize(
    ("note", "found"),
    [
        ("Cf. {#u, p. 2}; for details {#m}.", [("u", "p. 2"), ("m", None)]),
        ("Cf. {#u}, pp. 2–3; but see {#m}.", [("u", "pp. 2–3"), ("m", None)]),
        ("See {#u}, p. 2, and {#m}, p. 3.", [("u", "p. 2"), ("m", "p. 3")]),
        ("Ibid. {#u}, 2.", [("u", "2")]),
        ("Chang et al., Bigtable (2006), p. 2 {#u}.", [("u", "p. 2")]),
        ("For an overview, see {#u}.", [("u", None)]),
    ],
)
def test_a_note_that_points_belongs_to_its_sentence(note: str, found: Found) -> None:
    assert read(f"{CLAIM}.[^n]\n\n[^n]: {note}\n") == [(f"{CLAIM}.", found, ())]


@pytest.mark.parametrize(
    "note", ["Chang et al. found that wages rose in 2006 {#u}.", "Prices fell, see {#u}."]
)
def test_a_note_that_says_something_is_judged(note: str) -> None:
    ((claim, _, _),) = read(f"{CLAIM}.[^n]\n\n[^n]: {note}\n")
    assert claim != f"{CLAIM}."


@pytest.mark.parametrize(
    ("behind", "hint"),
    [
        (" (Chang et al. 2006, p. 1). {#u}", "p. 1"),
        (". ({#u}, p. 1)", "p. 1"),
        (". (Chang et al., 2006, {#u})", None),
        (".\n\n— {#u}, p. 1", "p. 1"),
        (".\n\n({#u}, p. 1)", "p. 1"),
        (".\n>\n> — Chang et al. {#u}", None),
        (".\n> — Chang et al. {#u}, p. 1", "p. 1"),
        (". — {#u}", None),
    ],
)
def test_a_reference_behind_a_block_quotation_is_not_quoted(behind: str, hint: str | None) -> None:
    assert read(f"> {CLAIM}{behind}\n") == [(f"{CLAIM}.", [("u", hint)], (f"{CLAIM}.",))]


def test_an_altered_quotation_is_compared_whatever_names_its_source() -> None:
    source = make_document("u", [f"{CLAIM}, and it is the unit of distribution. Tablets move."])
    for behind in ("\n\n— {#u}, p. 1", "\n>\n> — Chang et al. {#u}", " — {#u}"):
        exact, altered = (
            audit_of(f"> {text}, and it is the unit of distribution.{behind}\n", [source]).rows[0]
            for text in (CLAIM, CLAIM.replace("Each", "A"))
        )
        assert exact.status == "OK"
        assert altered.reason_code == "misquoted"


def test_a_wrong_page_outside_the_braces_is_told() -> None:
    pages = [make_passage("u", 0, "Rents held.", page=1), make_passage("u", 1, CLAIM, page=2)]
    (row,) = audit_of(f"{CLAIM} ({{#u}}, p. 1).", [make_document("u", pages)]).rows
    assert (row.status, row.reason_code) == ("WEAK", "wrong_page")


def test_entries_below_one_another_stay_apart() -> None:
    assert len(read("- {#u} Chang et al. (2006)\n- {#m} Dean et al. (2004)\n")) == 2
