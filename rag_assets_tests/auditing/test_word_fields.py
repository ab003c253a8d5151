"""Citations that reference managers keep in the fields of Word documents."""

import base64
import json
from html import escape
from typing import Any

import pytest

from rag_assets.auditing.draft import parse_draft
from rag_assets.auditing.references import DraftSource
from rag_assets.auditing.word import read_word
from rag_assets_tests.parsing.made_up_office import (
    in_paragraph,
    make_docx,
    word_cell,
    word_paragraph,
    word_row,
    word_run,
    word_table,
    word_text,
)

LEE = {
    "id": 1, "type": "article-journal", "title": "Rents of Hill Towns", "DOI": "10.1000/RENTS",
    "author": [{"family": "Lee", "given": "Ann"}], "issued": {"date-parts": [["2021", 3]]},
}  # fmt: skip
KIM = {
    "id": 2, "type": "book", "title": "Wages", "issued": {"date-parts": [[2019]]},
    "author": [{"family": "Kim", "given": "Bo"}, {"family": "Oh", "given": "Su"}],
}  # fmt: skip
# Word cuts a field where it likes.
_CUT = 97


def csl(*items: dict[str, Any]) -> str:
    return json.dumps({"citationID": "x", "properties": {"noteIndex": 0}, "citationItems": items})


def cites(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    uri = f"http://zotero.org/users/local/a/items/{item['id']}"
    return {"id": item["id"], "uris": [uri], "itemData": item, **more}


def char(kind: str, data: str = "") -> str:
    inside = f'<w:fldData xml:space="preserve">{data}</w:fldData>' if data else ""
    return word_run(f'<w:fldChar w:fldCharType="{kind}">{inside}</w:fldChar>')


def code(text: str) -> str:
    return "".join(
        word_run(f'<w:instrText xml:space="preserve">{escape(text[at : at + _CUT])}</w:instrText>')
        for at in range(0, len(text), _CUT)
    )


def complex_field(instruction: str, shown: str, data: str = "", inner: str = "") -> str:
    begin = char("begin", data) + code(instruction) + inner
    return begin + char("separate") + (shown if "<" in shown else word_text(shown)) + char("end")


def control(tag: str, content: str) -> str:
    return (
        f'<w:sdt><w:sdtPr><w:tag w:val="{tag}"/></w:sdtPr>'
        f"<w:sdtContent>{content}</w:sdtContent></w:sdt>"
    )


def zotero(shown: str, *items: dict[str, Any]) -> str:
    return complex_field(f" ADDIN ZOTERO_ITEM CSL_CITATION {csl(*items)} RNDabc ", shown)


ENDNOTE = """<EndNote><Cite ExcludeAuth="1"><Author>Lee</Author><Year>2021</Year>
<RecNum>7</RecNum><Pages>12</Pages><record><rec-number>7</rec-number><foreign-keys>
<key app="EN" db-id="zz">7</key></foreign-keys><contributors><authors><author>
<style face="normal">Lee, Ann</style></author></authors></contributors><titles>
<title><style face="normal">Rents of Hill Towns</style></title></titles><dates>
<year>2021</year></dates><electronic-resource-num>10.1000/RENTS</electronic-resource-num></record>
</Cite><Cite Hidden="1"><Author>Kim</Author></Cite></EndNote>"""
CITAVI = {
    "Entries": [
        {"ReferenceId": "r-1", "PageRange": {"OriginalString": "12"}, "Reference": {
            "Title": "Rents of Hill Towns", "Year": "2021", "Doi": "10.1000/RENTS",
            "Authors": [{"FirstName": "Ann", "LastName": "Lee"}],
        }},
    ],
}  # fmt: skip
SOURCES = """<?xml version="1.0"?><b:Sources
xmlns:b="http://schemas.openxmlformats.org/officeDocument/2006/bibliography"><b:Source>
<b:Tag>Lee21</b:Tag><b:Author><b:Author><b:NameList><b:Person><b:Last>Lee</b:Last>
<b:First>Ann</b:First></b:Person></b:NameList></b:Author></b:Author>
<b:Title>Rents of Hill Towns</b:Title><b:Year>2021</b:Year><b:DOI>10.1000/rents</b:DOI>
</b:Source></b:Sources>"""
PAGE = cites(LEE, locator="12", label="page")


def packed(data: str) -> str:
    return base64.b64encode(data.encode()).decode()


FIELDS = {
    "Zotero": zotero("(Lee 2021, 12)", PAGE),
    "Zotero, a simple field": f'<w:fldSimple w:instr="{escape(f"ADDIN ZOTERO_ITEM {csl(PAGE)}")}">'
    f"{word_text('(Lee 2021, 12)')}</w:fldSimple>",
    "Mendeley Desktop": complex_field(f"ADDIN CSL_CITATION {csl(PAGE)}", "(Lee 2021, 12)"),
    "Mendeley Cite": control(
        f"MENDELEY_CITATION_v3_{packed(csl(PAGE)).rstrip('=')}", word_text("(Lee 2021, 12)")
    ),
    "EndNote": complex_field(f" ADDIN EN.CITE {ENDNOTE}", "(Lee 2021, 12)"),
    "EndNote, long": complex_field(
        " ADDIN EN.CITE ", "(Lee 2021, 12)",
        inner=char("begin", packed(ENDNOTE)) + code(" ADDIN EN.CITE.DATA ") + char("end"),
    ),
    "Citavi": control(
        "CitaviPlaceholder#1",
        complex_field(
            f"ADDIN CitaviPlaceholder{{{packed(json.dumps(CITAVI))}}}", "(Lee 2021, 12)"
        ),
    ),
    "Word": complex_field(r" CITATION Lee21 \p 12 \l 1033 ", "(Lee 2021, 12)"),
}  # fmt: skip


def read(*content: str, **parts: str) -> DraftSource:
    return read_word("thesis.docx", make_docx("".join(content), parts))


def shown(source: DraftSource) -> list[tuple[str, list[str], list[str | None]]]:
    """Return the words of every citation, of each of its sources, and the places that they name."""
    return [
        (
            source.text[one.start : one.end],
            [source.entries[c.entries[0]].title for c in one.citations],
            [c.hint.text if c.hint else None for c in one.citations],
        )
        for one in source.written
    ]


@pytest.mark.parametrize("manager", FIELDS)
def test_a_field_cites_the_source_that_it_stores(manager: str) -> None:
    data = make_docx(
        in_paragraph(word_text("Rents rose "), FIELDS[manager], word_text(" in 2020.")),
        {"customXml/item1.xml": SOURCES},
        {"sources": ("customXml", "../customXml/item1.xml")},
    )
    source = read_word("thesis.docx", data)
    assert source.text == "Rents rose (Lee 2021, 12) in 2020.\n"
    (one,) = source.written
    (citation,) = one.citations
    assert source.text[one.start : one.end] == "(Lee 2021, 12)"
    assert (citation.doc_uid, citation.hint and citation.hint.pages) == (
        "Lee 2021, 12",
        ((12, 12),),
    )
    (entry,) = source.entries
    assert (entry.authors, entry.year, entry.title, entry.doi) == (
        ("Lee",), "2021", "Rents of Hill Towns", "10.1000/rents",
    )  # fmt: skip
    assert not one.is_word
    assert source.warnings == ()


def test_zotero_keeps_bookmarks_in_properties() -> None:
    value = f"ZOTERO_ITEM CSL_CITATION {csl(PAGE)}"
    pieces = [value[at : at + 255] for at in range(0, len(value), 255)]
    properties = "".join(
        f'<property name="ZOTERO_BREF_abc_{n}"><v:lpwstr>{escape(piece)}</v:lpwstr></property>'
        for n, piece in enumerate(pieces, 1)
    )
    marked = (
        '<w:bookmarkStart w:id="4" w:name="ZOTERO_BREF_abc"/>'
        f'{word_text("(Lee 2021, 12)")}<w:bookmarkEnd w:id="4"/>'
    )
    parts = {
        "docProps/custom.xml": f'<Properties xmlns:v="urn:v">{properties}</Properties>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        'relationships"><Relationship Id="a" Type="x/officeDocument" Target="word/document.xml"/>'
        '<Relationship Id="b" Type="x/custom-properties" Target="docProps/custom.xml"/>'
        "</Relationships>",
    }
    source = read_word("a.docx", make_docx(in_paragraph(word_text("Rents "), marked), parts))
    assert shown(source) == [("(Lee 2021, 12)", ["Rents of Hill Towns"], ["12"])]


def test_sources_of_one_bracket_are_parted_by_their_names() -> None:
    # The style sorts what the writer entered in another order.
    source = read(
        in_paragraph(
            word_text("Rents rose "),
            zotero("(see Kim and Oh 2019, sec. 2; Lee 2021)", cites(LEE),
                   cites(KIM, locator="2", label="section")),
            word_text(", "),
            zotero("[1, 2]", cites(LEE), cites(KIM)),
            word_text("."),
        )
    )  # fmt: skip
    first, second = source.written
    assert [(c.doc_uid, c.entries) for c in first.citations] == [
        ("Lee 2021", (0,)), ("see Kim and Oh 2019, sec. 2", (1,)),
    ]  # fmt: skip
    assert [c.hint and c.hint.text for c in first.citations] == [None, "section 2"]
    assert [(c.doc_uid, c.entries) for c in second.citations] == [
        ("[1, 2]", (0,)),
        ("[1, 2]", (1,)),
    ]
    assert len(source.entries) == 2


@pytest.mark.parametrize(
    ("before", "words", "is_word"),
    [
        ("Rents rose ", "(Lee 2021)", False),
        ("Rents rose, as ", "Lee (2021)", True),
        ("Rents rose (see ", "Lee 2021", False),
        ("Rents rose", "[3]", False),
    ],
)
def test_a_citation_may_be_part_of_its_sentence(before: str, words: str, is_word: bool) -> None:
    source = read(in_paragraph(word_text(before), zotero(words, cites(LEE))))
    assert [one.is_word for one in source.written] == [is_word]


def test_raised_numbers_are_citations_and_powers_are_none() -> None:
    high = '<w:vertAlign w:val="superscript"/>'
    number = word_text("3", high)
    source = read(
        in_paragraph(
            word_text("Of 10"), word_text("5", high), word_text(" towns"),
            zotero(number, cites(LEE)), word_text(" rents rose in 10"),
            zotero(number, cites(KIM)), word_text("."),
        )
    )  # fmt: skip
    assert source.text == "Of 10^5 towns[3] rents rose in 10[3].\n"
    assert [words for words, *_ in shown(source)] == ["[3]", "[3]"]


def test_deleted_fields_do_not_count_and_inserted_ones_do() -> None:
    gone = zotero("(Kim 2019)", cites(KIM)).replace("instrText", "delInstrText")
    gone = gone.replace("<w:t ", "<w:delText ").replace("</w:t>", "</w:delText>")
    source = read(
        in_paragraph(
            word_text("Rents rose "), f'<w:del w:id="1">{gone}</w:del>',
            f'<w:ins w:id="2">{zotero("(Lee 2021)", cites(LEE))}</w:ins>',
        )
    )  # fmt: skip
    assert shown(source) == [("(Lee 2021)", ["Rents of Hill Towns"], [None])]
    assert len(source.entries) == 1


def test_a_field_that_cannot_be_read_is_text_and_named() -> None:
    broken = complex_field("ADDIN ZOTERO_ITEM CSL_CITATION {oops", "(Lee 2021)")
    other = complex_field(r" CITATION Kim19 \l 1033 ", "(Kim, 2019)")
    odd = zotero("(Oh 2020)", cites({"id": 3, "author": ["Oh"]}))
    page = complex_field(" PAGEREF _Toc1 ", "7")
    source = read(in_paragraph(word_text("Rents rose "), broken, other, odd, page))
    assert source.text == "Rents rose (Lee 2021)(Kim, 2019)(Oh 2020)7\n"
    assert source.written == ()
    first, second, third = source.warnings
    assert "another form than its manager writes" in third
    assert first.startswith("thesis.docx: a citation field cannot be read: its data is no JSON")
    assert "no source Kim19" in second


@pytest.mark.parametrize("heading", ["", "Literature of hill towns", "Bibliography"])
def test_the_list_of_a_manager_stands_under_its_heading(heading: str) -> None:
    style = '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    entry = word_text("Lee, Ann. 2021. Rents of Hill Towns. Journal of Towns.")
    source = read(
        word_paragraph("Rents rose."), word_paragraph(heading, "H1") if heading else "",
        in_paragraph(complex_field(" ADDIN ZOTERO_BIBL {} CSL_BIBLIOGRAPHY ", entry)),
        styles=style,
    )  # fmt: skip
    before = source.text[: source.text.index("Lee, Ann")].split("\n\n")[-2]
    assert before == ("# Bibliography" if heading == "Bibliography" else "###### References")


def test_notes_and_endnotes_hold_fields_and_brackets_are_no_notes() -> None:
    def note(kind: str, content: str) -> str:
        return f'<w:{kind} w:id="2"><w:p>{content}</w:p></w:{kind}>'

    source = read(
        word_paragraph("Towns of the hills are old, as everybody who has seen them says."),
        in_paragraph(
            word_text("Rents rose [1]."), word_run('<w:footnoteReference w:id="2"/>'),
            word_text(" Wages fell."), word_run('<w:endnoteReference w:id="2"/>'),
        ),
        footnotes=note("footnote", zotero("Lee, Rents of Hill Towns, 12.", PAGE)),
        endnotes=note("endnote", zotero("Kim, Wages.", cites(KIM))),
    )  # fmt: skip
    assert "Rents rose [1].[^1] Wages fell.[^i]\n\n[^1]: Lee" in source.text
    assert [words for words, *_ in shown(source)] == [
        "Lee, Rents of Hill Towns, 12.",
        "Kim, Wages.",
    ]
    assert [line for *_, line in source.lines] == [1, 2, 2, 2]
    assert not any(one.is_word for one in source.written)


def test_lines_are_paragraphs_as_word_counts_them() -> None:
    long = "Rents of the towns on the hill rose in every year of the last decade"
    table = word_table(
        word_row(word_cell("Town"), word_cell("Rents")), word_row(word_cell("Hill"), word_cell("3"))
    )
    source = read(
        word_paragraph("Rents"), "<w:p/>", word_paragraph(f"{long}."), word_paragraph(f"{long}!"),
        table, "<w:p/>", word_paragraph("They fell."), word_paragraph("Rents"),
    )  # fmt: skip
    assert [(source.text[at:].split("\n")[0], number) for at, _, number in source.lines] == [
        ("Rents", 1), (f"{long}.", 3), (f"{long}!", 4), ("| Town | Rents |", 5),
        ("| --- | --- |", 5), ("| Hill | 3 |", 7), ("They fell.", 10), ("Rents", 11),
    ]  # fmt: skip


# Fields in a draft that has a list of references and citations in words.

LISTED = (
    word_paragraph("References"),
    word_paragraph("Kim, B., &amp; Oh, S. (2019). Wages. Town Press."),
    word_paragraph("Lee, A. (2021). Rents of hill towns. Journal of Towns, 3, 1-9."),
)


def cited(*content: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the claim of every cited sentence, with words and entry of its citations."""
    draft = parse_draft("thesis.docx", make_docx("".join([*content, *LISTED])))
    return [
        (
            sentence.claim,
            [(c.doc_uid, draft.references[c.entries[0]].text[:3]) for c in sentence.citations],
        )
        for sentence in draft.sentences
    ]


def test_a_field_means_the_entry_of_the_list() -> None:
    content = in_paragraph(word_text("Rents rose "), zotero("(Lee 2021)", cites(LEE)))
    draft = parse_draft("thesis.docx", make_docx(content + "".join(LISTED)))
    kim, lee = draft.references
    assert (lee.doi, lee.title, lee.line) == ("10.1000/rents", "Rents of Hill Towns", 4)
    assert lee.text.startswith("Lee, A. (2021). Rents of hill towns.")
    assert (kim.doi, draft.sentences[0].citations[0].entries) == ("", (1,))


def test_a_name_typed_before_a_field_belongs_to_it() -> None:
    field = zotero("(2021)", cites(LEE, **{"suppress-author": True}))
    assert cited(in_paragraph(word_text("Lee "), field, word_text(" found that rents rose."))) == [
        ("The cited work found that rents rose.", [("2021", "Lee")])
    ]


def test_a_bracket_may_hold_a_field_and_words() -> None:
    content = in_paragraph(
        word_text("Rents rose in all the towns (Kim and Oh 2019; "),
        zotero("Lee 2021", cites(LEE)), word_text(")."),
    )  # fmt: skip
    assert cited(content) == [
        ("Rents rose in all the towns.", [("Kim and Oh 2019", "Kim"), ("Lee 2021", "Lee")])
    ]


def test_notes_cite_for_the_sentence_with_their_mark() -> None:
    note = in_paragraph(zotero("Lee, Rents of Hill Towns.", cites(LEE)))
    back = word_paragraph("Ibid., p. 4.")
    marks = (word_run(f'<w:footnoteReference w:id="{n}"/>') for n in (2, 3))
    draft = parse_draft(
        "thesis.docx",
        make_docx(
            in_paragraph(
                word_text("Rents rose."), next(marks), word_text(" Wages fell."), next(marks)
            ),
            {
                "footnotes": f'<w:footnote w:id="2">{note}</w:footnote>'
                f'<w:footnote w:id="3">{back}</w:footnote>'
            },
        ),
    )
    first, second = draft.sentences
    assert [(s.claim, s.line) for s in (first, second)] == [("Rents rose.", 1), ("Wages fell.", 1)]
    assert first.citations[0].entries == second.citations[0].entries == (0,)
    assert second.citations[0].hint is not None
    assert second.citations[0].hint.pages == ((4, 4),)
