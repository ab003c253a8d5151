from dataclasses import replace

import pytest

from rag_assets.auditing import Citation, Draft, parse_draft
from rag_assets.auditing.citation_forms import find_hint, read_hint
from rag_assets.auditing.deciding import Judged, _with_article
from rag_assets.auditing.library import NamedArticle, find_article

from .world import Shelf, audit_of, make_document, make_passage


def read(text: str) -> Draft:
    return parse_draft("chapter.md", text.encode())


def cited(text: str) -> list[Citation]:
    return [citation for sentence in read(text).sentences for citation in sentence.citations]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Wages rose [@a].", [("a", "pandoc", None)]),
        ("Wages rose [@a, p. 33; @b].", [("a", "pandoc", "p. 33"), ("b", "pandoc", None)]),
        ("Wages rose [see @a, 33-35, and passim].", [("a", "pandoc", "33-35")]),
        ("Wages rose [-@a; cf. @b, chap. 2].", [("a", "pandoc", None), ("b", "pandoc", "chap. 2")]),
        ("Wages rose [@{odd key}].", [("odd key", "pandoc", None)]),
        ("Wages rose [see @a;\n@b].", [("a", "pandoc", None), ("b", "pandoc", None)]),
        ("As @a [p. 3] says, wages rose.", [("a", "mention", "p. 3")]),
        ("@a found that wages rose.", [("a", "mention", None)]),
        ("工资上涨[@工资研究, 第3页]。", [("工资研究", "pandoc", "第3页")]),
        ("据@zhang2020报道，工资上涨。", [("zhang2020", "mention", None)]),
        (r"Wages rose \cite{a}.", [("a", "latex", None)]),
        (r"Wages rose \citep[see][p. 3]{a,b}.", [("a", "latex", None), ("b", "latex", "p. 3")]),
        (r"\textcite[12--14]{a} found rising wages.", [("a", "latex", "12--14")]),
        (r"Wages rose~\autocite*{a}.", [("a", "latex", None)]),
        ("Wages rose {#a p. 3}.", [("a", "anchor", "p. 3")]),
        ("Wages rose {#a, p. 3-5; #b}.", [("a", "anchor", "p. 3-5"), ("b", "anchor", None)]),
        ("Wages rose {#a, pp. 3, 7}.", [("a", "anchor", "pp. 3, 7")]),
        ("工资上涨{#甲，第3-5页}。", [("甲", "anchor", "第3-5页")]),
        ("工资上涨{#甲，第20条第1款}。", [("甲", "anchor", "第20条第1款")]),
        ("工资上涨{#甲，第三十九条第（二）项}。", [("甲", "anchor", "第三十九条第（二）项")]),
        ("工资上涨{#甲，第二百七十六条之一}。", [("甲", "anchor", "第二百七十六条之一")]),
    ],
)
def test_every_form_of_citation_is_read(
    text: str, found: list[tuple[str, str, str | None]]
) -> None:
    read_forms = [(c.doc_uid, c.form, c.hint.text if c.hint else None) for c in cited(text)]
    assert read_forms == found


@pytest.mark.parametrize(
    "text",
    [
        "Write to me@example.org about wages.",
        "See https://example.org/@user for more.",
        "The decorator `@cached` keeps wages.",
        "```\n@a [@b] \\cite{c}\n```",
        r"Our handle is \@wages.",
        r"Also \nocite{a} this.",
        "See [the page](https://example.org/@x).",
        "As @fig:wages and [@sec-results] show, wages rose.",
        "Wages <!-- [@a] --> rose.",
    ],
)
def test_addresses_code_and_cross_references_are_no_citations(text: str) -> None:
    assert cited(text) == []


def test_cross_references_are_named_in_a_warning() -> None:
    (said, *_) = [w for w in read("As @fig:wages shows {#a}.").warnings if "references" in w]
    assert "line 1" in said


def test_mention_belongs_to_the_sentence_that_it_begins() -> None:
    (sentence,) = read("Prices fell. @a found that wages rose.").sentences
    assert sentence.claim == "The cited work found that wages rose."


def test_every_form_knows_its_place() -> None:
    draft = read(r"One [see @a, p. 3; -@b] two \citep[x]{c,d} three @e.")
    places = [draft.text[c.start : c.end] for s in draft.sentences for c in s.citations]
    assert places == ["@a", "-@b", "c", "d", "@e"]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("p. 3", ((3, 3),)),
        ("pp. 3–5", ((3, 5),)),
        ("pp. 134-9", ((134, 139),)),
        ("pp. 3, 7 and 9", ((3, 3), (7, 7), (9, 9))),
        ("p. 3 ff.", ((3, 6),)),
        ("第３页", ((3, 3),)),
        ("第3至5页", ((3, 5),)),
        ("S. 12", ((12, 12),)),
        ("ch. 4", ()),
        ("§ 12", ()),
        ("Art. 4(1)(b)", ()),
        ("第三条", ()),
    ],
)
def test_places_are_read(text: str, pages: tuple[tuple[int, int], ...]) -> None:
    hint = read_hint(text, bare=False)
    assert hint is not None
    assert hint.pages == pages


def test_words_name_no_place() -> None:
    assert read_hint("and passim", bare=True) is None
    assert find_hint(", emphasis added") is None
    assert read_hint("33", bare=False) is None


TWO = [
    make_document("wages", ["Wages rose by three percent.", "Rents held. Nothing changed."]),
    make_document("prices", ["Prices fell at once in every town.", "Wages rose by three percent."]),
]


def test_each_citation_judges_the_clause_that_it_follows() -> None:
    text = (
        "Wages rose by three percent {#wages}, while prices fell at once in every town {#prices}."
    )
    rows = audit_of(text, TWO).rows
    assert [(row.claim, row.status) for row in rows] == [
        ("Wages rose by three percent", "OK"),
        ("prices fell at once in every town.", "OK"),
    ]
    assert rows[0].sentence == rows[1].sentence == text


@pytest.mark.parametrize(
    "text",
    [
        "Wages rose by three percent {#wages} and prices {#prices}.",
        "Wages {#wages} rose by three percent after the long reform {#prices}.",
        "Wages rose by three percent {#wages} after the long reform of all towns {#prices}.",
        "Wages rose by three percent, and prices fell at once {#wages}{#prices}.",
        "Wages rose by three percent {#wages}, while prices fell at once in every town.",
    ],
)
def test_where_clauses_are_not_clear_the_sentence_is_judged(text: str) -> None:
    (sentence,) = read(text).sentences
    assert {row.claim for row in audit_of(text, TWO).rows} == {sentence.claim}


def test_key_of_the_bibliography_finds_its_document() -> None:
    shelf = Shelf(TWO, keys={"Smith:2020": ("thesis", "wages")})
    (row,) = audit_of("Wages rose by three percent [@Smith:2020].", shelf).rows
    assert (row.status, row.doc_uid, row.cites) == ("OK", "wages", "Smith:2020")


def test_uid_comes_before_a_key_of_the_same_name() -> None:
    shelf = Shelf(TWO, keys={"prices": ("thesis", "wages")})
    (row,) = audit_of("Prices fell at once in every town [@prices].", shelf).rows
    assert row.doc_uid == "prices"


def test_unknown_key_names_the_nearest_in_its_own_form() -> None:
    shelf = Shelf(TWO, keys={"Smith2020": ("thesis", "wages")})
    (row,) = audit_of(r"Wages rose \cite{Smith2002}.", shelf).rows
    assert (row.status, row.reason_code) == ("ERROR", "unknown_uid")
    assert r"Did you mean \cite{Smith2020}?" in row.reason


def test_mention_that_cites_nothing_is_told_how_to_be_written() -> None:
    (row,) = audit_of("As @qqqq says, wages rose.", TWO).rows
    assert row.status == "ERROR"
    assert r"\@" in row.reason


PAGED = make_document(
    "paged",
    [
        make_passage("paged", 0, "Rents held in most towns.", page=1, start=0),
        make_passage("paged", 1, "Wages rose by three percent.", page=2, start=40),
        make_passage("paged", 2, "Wages rose by three percent.", page=3, start=80),
    ],
)


def test_page_that_is_named_is_looked_at_first() -> None:
    (row,) = audit_of("Wages rose by three percent {#paged, p. 3}.", [PAGED]).rows
    assert (row.status, row.locator, row.hint) == ("OK", "p. 3", "p. 3")


PRINTED = replace(PAGED, page_labels=("xii", "457", "458"))


@pytest.mark.parametrize(
    ("place", "locator"),
    [
        ("p. 458", "p. 458 (sheet 3)"),
        ("pp. 458–460", "p. 458 (sheet 3)"),
        ("p. 3", "p. 458 (sheet 3)"),  # no page is printed 3
        ("p. 2", "p. 457 (sheet 2)"),
    ],
)
def test_page_that_is_named_is_the_printed_one(place: str, locator: str) -> None:
    (row,) = audit_of(f"Wages rose by three percent {{#paged, {place}}}.", [PRINTED]).rows
    assert (row.status, row.locator) == ("OK", locator)


def test_page_of_front_matter_is_found_by_its_roman_number() -> None:
    (row,) = audit_of("Rents held in most towns {#paged, p. xii}.", [PRINTED]).rows
    assert (row.status, row.locator) == ("OK", "p. xii (sheet 1)")
    hint = read_hint("sec. xii", bare=False)
    assert hint is not None
    assert not hint.names_page(1, 1, PRINTED.page_labels)


def test_sheet_of_that_number_is_not_meant_where_a_page_is_printed_so() -> None:
    document = replace(PAGED, page_labels=("1", "3", "4"))
    (row,) = audit_of("Wages rose by three percent {#paged, p. 3}.", [document]).rows
    assert (row.status, row.locator) == ("OK", "p. 3 (sheet 2)")
    (row,) = audit_of("Wages rose by three percent {#paged, p. 1}.", [document]).rows
    assert "Supported on p. 3 (sheet 2), but not where the citation says (p. 1)" in row.reason


def test_support_on_another_page_is_weak_and_says_where() -> None:
    (row,) = audit_of("Wages rose by three percent {#paged, p. 1}.", [PAGED]).rows
    assert (row.status, row.reason_code) == ("WEAK", "wrong_page")
    assert "Supported on p. 2, but not where the citation says (p. 1)" in row.reason


def test_what_comes_nearest_on_another_page_is_told_too() -> None:
    (row,) = audit_of("Wages rose by ten euros a week {#paged, p. 1}.", [PAGED]).rows
    assert (row.status, row.reason_code) == ("WEAK", "weakly_supported")
    assert row.reason.startswith("What comes nearest is on p. 2, not where the citation says")


@pytest.mark.parametrize("hint", ["p. 1234", "ch. 4"])
def test_place_that_cannot_be_checked_is_said_and_changes_nothing(hint: str) -> None:
    (row,) = audit_of(f"Wages rose by three percent {{#paged, {hint}}}.", [PAGED]).rows
    assert row.status == "OK"
    assert hint in (row.scoring_note or "")


# The second passage goes on with the article before it.
STATUTE = make_document(
    "wages",
    [
        make_passage(
            "wages", 0, "第十九条 试用期不得超过六个月。\n\n第二十条 试用期工资不得低于百分之八十。"
        ),
        make_passage("wages", 1, "试用期工资按月以货币支付。\n\n第二十一条 解除合同应当说明理由。"),
        make_passage("wages", 2, "第二十二条 培训费用由单位承担。"),
    ],
    title="中华人民共和国劳动合同法",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "试用期工资不得低于百分之八十{#wages, 第二十条}。",
        "《劳动合同法》第二十条规定，试用期工资不得低于百分之八十{#wages}。",
        "试用期工资按月以货币支付{#wages, 第20条}。",
    ],
)
def test_an_article_that_is_named_is_looked_at_and_told(sentence: str) -> None:
    (row,) = audit_of(sentence, [STATUTE]).rows
    assert row.status == "OK"
    assert row.locator is not None
    assert row.locator.startswith("第二十条第")


@pytest.mark.parametrize(
    "sentence",
    [
        "试用期工资不得低于百分之八十{#wages, 第十九条}。",
        "《劳动合同法》第二十一条规定，试用期工资不得低于百分之八十{#wages}。",
        "试用期工资不得低于百分之八十{#wages, 第九十九条}。",
    ],
)
def test_support_by_another_article_is_weak_and_says_which(sentence: str) -> None:
    (row,) = audit_of(sentence, [STATUTE]).rows
    assert (row.status, row.reason_code) == ("WEAK", "wrong_article")
    assert row.reason.startswith("Supported by 第二十条第一款, but the citation says 第")


def test_the_article_of_another_law_is_not_sought_in_this_one() -> None:
    sentence = "与《民法典》第十九条不同，试用期工资不得低于百分之八十{#wages}。"
    (row,) = audit_of(sentence, [STATUTE]).rows
    assert row.reason_code != "wrong_article"


def test_an_article_that_says_more_beside_its_neighbours_is_the_one_that_is_named() -> None:
    named, other = find_article("第20条"), find_article("第十九条")
    assert named is not None
    assert other is not None
    found = judged_at(STATUTE.passages[0].text.index("第二十条"))
    assert _with_article(STATUTE, found, named)[1] == "supported"
    assert _with_article(STATUTE, found, other)[1] == "wrong_article"


def judged_at(start: int) -> Judged:
    return Judged(0.9, "OK", "supported", "", 0, start, start + 5, place="elsewhere")


def test_of_several_articles_none_is_the_one_that_is_named() -> None:
    assert find_article("《劳动合同法》第三十九条和第四十条规定") is None
    assert find_article("《劳动合同法》第三十九条规定") == NamedArticle("39", "第三十九条")


@pytest.mark.parametrize(
    "text",
    [
        "Chicks need vitamin C {#a}. Wages rose by three percent.",
        "The signal is sent to O [@a]. Wages rose by three percent.",
        "The price was low {#a}. wages rose by three percent.",
        r"The scale is that of Fig. 3 \cite{a}. Wages rose by three percent.",
    ],
)
def test_full_stop_behind_a_citation_ends_the_sentence(text: str) -> None:
    first, second = [sentence.claim for sentence in read(text).all_sentences]
    assert first.endswith((" C.", " O.", " low.", " 3."))
    assert second.lower() == "wages rose by three percent."


@pytest.mark.parametrize(
    "text",
    [
        "Wages rose {#a}, p. 3, and fell {#b}.",
        "As Lee {#a} vs. Kim {#b} shows, wages rose.",
        "Wages rose by {#a} 3.5 percent.",
    ],
)
def test_other_stops_near_a_citation_do_not(text: str) -> None:
    assert len([sentence.claim for sentence in read(text).all_sentences]) == 1
