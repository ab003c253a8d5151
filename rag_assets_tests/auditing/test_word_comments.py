"""Verdicts as comments in a copy of a Word draft: its text stays, and everything else in it."""

import io
import zipfile

import pytest
from lxml import etree

from rag_assets.auditing import CitationAudit, parse_draft, verify_citations
from rag_assets.auditing.word import W
from rag_assets.auditing.word_comments import comment_draft
from rag_assets.model import UsageError
from rag_assets_tests.parsing.made_up_office import (
    in_paragraph,
    make_docx,
    word_paragraph,
    word_run,
    word_text,
)

from .test_word_fields import LEE, cites, zotero
from .world import SETTINGS, Shelf, WordEncoder, make_document

SHELF = Shelf([make_document("wages", ["Wages rose by three percent."], title="On wages")])
DRAFT = (
    word_paragraph("Towns"),
    "<w:p/>",
    in_paragraph(
        word_text("Nobody asked. “Rents"), word_text(" fell", "<w:i/>"),
        word_text(" by nine percent” {#wages}. Wages rose by three percent {#wages}. So it was."),
    ),
    in_paragraph(word_text("Cows sing "), zotero("(Lee 2021)", cites(LEE)), word_text(". Really.")),
)  # fmt: skip
OLD = '<w:comment w:id="7" w:author="Ann"><w:p><w:r><w:t>Is it so?</w:t></w:r></w:p></w:comment>'


def audit(data: bytes) -> CitationAudit:
    return verify_citations(parse_draft("a.docx", data), SHELF, WordEncoder(), SETTINGS)


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def commented(data: bytes) -> list[tuple[str, str, str]]:
    """Return author, text and commented words of every comment."""
    files = parts(data)
    document = etree.fromstring(files["word/document.xml"])
    found = []
    for comment in etree.fromstring(files["word/comments.xml"]):
        number, inside, words = comment.get(W + "id"), False, ""
        for each in document.iter():
            if each.get(W + "id") == number and each.tag.startswith(f"{W}commentRange"):
                inside = each.tag.endswith("Start")
            elif inside and each.tag == W + "t":
                words += each.text or ""
        lines = ["".join(paragraph.itertext()) for paragraph in comment]
        found.append((comment.get(W + "author", ""), "\n".join(lines), words))
    return found


def test_what_is_not_ok_gets_a_comment_at_its_sentence() -> None:
    data = make_docx("".join(DRAFT))
    copy, count = comment_draft("a.docx", data, audit(data).rows)
    (by, said, words), (_, unpaired, cows) = commented(copy)
    assert (by, count) == ("rag-assets", 2)
    assert words == "“Rents fell by nine percent” {#wages}."
    assert said.startswith("MISSING: wages\n")
    assert said.endswith("\n“Wages rose by three percent.” (On wages, p. 1)")
    assert unpaired.startswith("ERROR: Lee 2021\n")
    assert cows == "Cows sing (Lee 2021)."


def test_all_verdicts_on_request() -> None:
    data = make_docx("".join(DRAFT))
    copy, count = comment_draft("a.docx", data, audit(data).rows, comment_all=True)
    assert count == 3
    assert [words for *_, words in commented(copy)][1] == "Wages rose by three percent {#wages}."
    assert commented(copy)[1][1].startswith("OK: wages\n")


def test_text_and_every_other_part_stay() -> None:
    data = make_docx("".join(DRAFT), {"styles": "", "customXml/item1.xml": "<a/>"})
    copy, _ = comment_draft("a.docx", data, audit(data).rows)
    before, after = parts(data), parts(copy)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {
        "word/document.xml", "word/comments.xml", "[Content_Types].xml",
        "word/_rels/document.xml.rels",
    }  # fmt: skip
    assert parse_draft("a.docx", copy).text == parse_draft("a.docx", data).text
    assert [row.status for row in audit(copy).rows] == [row.status for row in audit(data).rows]
    # A second copy of the copy has the comments of both.
    again, _ = comment_draft("a.docx", copy, audit(copy).rows)
    assert len(commented(again)) == 4


def test_comments_that_are_there_stay() -> None:
    marked = "".join(DRAFT).replace(
        "<w:p/>",
        in_paragraph(
            '<w:commentRangeStart w:id="7"/>', word_text("Old."), '<w:commentRangeEnd w:id="7"/>',
            word_run('<w:commentReference w:id="7"/>'),
        ),
    )  # fmt: skip
    data = make_docx(marked, {"comments": OLD})
    copy, _ = comment_draft("a.docx", data, audit(data).rows)
    ann, first, _ = commented(copy)
    assert (ann, first[2][:6]) == (("Ann", "Is it so?", "Old."), "“Rents")
    ids = [c.get(W + "id") for c in etree.fromstring(parts(copy)["word/comments.xml"])]
    assert ids == ["7", "8", "9"]
    assert parts(copy)["[Content_Types].xml"] == parts(data)["[Content_Types].xml"]


def test_no_comment_begins_or_ends_in_a_field() -> None:
    start = zotero("(Lee 2021)", cites(LEE))
    data = make_docx(in_paragraph(start, word_text(" shows that cows sing")))
    copy, _ = comment_draft("a.docx", data, audit(data).rows)
    (paragraph,) = etree.fromstring(parts(copy)["word/document.xml"]).iter(W + "p")
    depth = 0
    for each in paragraph.iter():
        depth += {"begin": 1, "end": -1}.get(each.get(W + "fldCharType", ""), 0)
        if each.tag in (W + "commentRangeStart", W + "commentRangeEnd"):
            assert (depth, each.getparent()) == (0, paragraph)


def test_another_format_has_no_comments() -> None:
    with pytest.raises(UsageError, match=r"a\.md: comments can be written into a Word document"):
        comment_draft("a.md", b"Wages rose {#wages}.", ())
