import pytest

from rag_assets.auditing import CitationVerdict
from rag_assets.model import UsageError

from .world import Shelf, audit_of, make_document

TEXT = "Wages rose by three percent."
SHELF = [
    make_document("smith2020", [TEXT]),
    make_document("reform", [TEXT]),
    make_document("reform", ["Nothing of the kind."], "law"),
    make_document("act-1999", [TEXT], "law"),
    make_document("rubric", [TEXT], citable=False),
    make_document("工资研究", [TEXT]),
    make_document("survey", [TEXT]),
    make_document("survey", [TEXT], "law", citable=False),
]


def only(citation: str, front_matter: str = "") -> CitationVerdict:
    head = f"---\n{front_matter}\n---\n" if front_matter else ""
    audit = audit_of(f"{head}Wages rose by three percent {citation}.", Shelf(SHELF))
    (row,) = audit.rows
    assert bool(audit.errors) == (row.status == "ERROR")
    assert row.status != "ERROR" or (row.score is None and row.passage is None)
    return row


@pytest.mark.parametrize(
    ("citation", "nearest"),
    [
        ("{#smith2002}", "smith2020"),
        ("{#Smith2020}", "smith2020"),
        ("{#smith2002 p. 3}", "smith2020"),
        ("{#act-1998}", "act-1999"),
        ("{#工资 研究}", "工资研究"),
    ],
)
def test_unknown_uid_names_the_nearest(citation: str, nearest: str) -> None:
    row = only(citation)
    assert (row.status, row.reason_code) == ("ERROR", "unknown_uid")
    assert row.nearest_uids[0] == nearest
    assert f"Did you mean {{#{nearest}}}?" in row.reason


@pytest.mark.parametrize(
    ("citation", "uid"),
    [
        ("{#act\u20111999}", "act-1999"),
        ("{#act\u20101999, p. 1}", "act-1999"),
        ("{#act\u20131999}", "act-1999"),
        ("{#act\u22121999}", "act-1999"),
        ("{#act\u00ad-1999}", "act-1999"),
        ("{#act\u00ad1999}", "act-1999"),
        ("{#smith\u00ad2020}", "smith2020"),
        ("{#\u200bsmith2020\ufeff}", "smith2020"),
        ("｛＃ｓｍｉｔｈ２０２０｝", "smith2020"),
        ("｛＃ｌａｗ：ａｃｔ－１９９９｝", "act-1999"),
        ("{#law:act\u20111999}", "act-1999"),
        ("[@act\u20111999]", "act-1999"),
        ("(@act\u20111999)", "act-1999"),
        ("{#工资\u200b研究}", "工资研究"),
    ],
)
def test_hyphens_of_a_word_processor_and_marks_without_width_are_folded(
    citation: str, uid: str
) -> None:
    row = only(citation)
    assert (row.status, row.doc_uid) == ("OK", uid)


def test_name_as_it_is_written_comes_before_its_folded_form() -> None:
    shelf = Shelf(
        [make_document("a-b", [TEXT]), make_document("c", [TEXT])],
        keys={"a\u2010b": ("thesis", "c")},
    )
    rows = audit_of("Wages rose {#a\u2010b}. Wages rose {#a-b}.", shelf).rows
    assert [row.doc_uid for row in rows] == ["c", "a-b"]


def test_what_must_not_be_cited_is_not_offered() -> None:
    assert only("{#rubrik}").nearest_uids == ()
    assert only("{#survay}").nearest_uids == ("survey",)


def test_unknown_uid_that_resembles_nothing_says_so() -> None:
    row = only("{#qqqq}")
    assert (row.reason_code, row.nearest_uids) == ("unknown_uid", ())
    assert "No uid resembles it" in row.reason


def test_empty_anchor_is_an_error() -> None:
    assert only("{#}").reason_code == "unknown_uid"


def test_uid_of_another_namespace_is_offered_with_its_prefix() -> None:
    row = only("{#act-1999}", "namespaces: [thesis]")
    assert row.reason_code == "unknown_uid"
    assert row.nearest_uids[0] == "law:act-1999"
    assert "in the draft's namespace thesis" in row.reason


def test_uid_in_two_namespaces_is_ambiguous() -> None:
    row = only("{#reform}")
    assert (row.status, row.reason_code) == ("ERROR", "ambiguous_uid")
    assert row.nearest_uids == ("law:reform", "thesis:reform")
    assert "{#law:reform} or {#thesis:reform}" in row.reason


def test_the_one_that_may_be_cited_is_meant() -> None:
    row = only("{#survey}")
    assert (row.status, row.namespace) == ("OK", "thesis")


def test_one_that_is_named_is_not_exchanged_for_one_that_may_be_cited() -> None:
    assert only("{#law:survey}").reason_code == "not_citable"


@pytest.mark.parametrize(
    ("citation", "front_matter", "status"),
    [
        ("{#thesis:reform}", "", "OK"),
        ("{#law:reform}", "", "MISSING"),
        ("{#reform}", "namespaces: thesis", "OK"),
        ("{#reform}", "namespaces: [law]", "MISSING"),
        ("{#law:reform}", "namespaces: [thesis]", "MISSING"),
    ],
)
def test_prefix_or_front_matter_settles_ambiguity(
    citation: str, front_matter: str, status: str
) -> None:
    assert only(citation, front_matter).status == status


def test_unknown_prefix_is_an_error_that_names_the_namespaces() -> None:
    row = only("{#lex:act-1999}")
    assert row.reason_code == "unknown_uid"
    assert "published: law, thesis" in row.reason


def test_document_that_may_not_be_cited_is_an_error() -> None:
    row = only("{#rubric}")
    assert (row.status, row.reason_code) == ("ERROR", "not_citable")


def test_withheld_document_says_why() -> None:
    shelf = Shelf(SHELF, withheld={("thesis", "smith2020"): "its uid is pinned twice."})
    (row,) = audit_of("Wages rose {#smith2020}.", shelf).rows
    assert (row.status, row.reason_code) == ("ERROR", "withheld")
    assert "its uid is pinned twice. `rag documents`" in row.reason


def test_faulty_citation_leaves_the_other_of_its_sentence_alone() -> None:
    rows = audit_of(f"{TEXT} {{#nobody; #smith2020}}", Shelf(SHELF)).rows
    assert [row.status for row in rows] == ["ERROR", "OK"]


def test_unpublished_namespace_in_front_matter_stops_with_its_name() -> None:
    with pytest.raises(UsageError, match=r"chapter.md: .*`lex`.*published: law, thesis"):
        only("{#reform}", "namespaces: [lex]")
