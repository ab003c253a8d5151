"""Drafts in OpenDocument and rich text."""

import io
import zipfile

import pytest

from rag_assets.auditing import open_document, parse_draft
from rag_assets.model import ConfigurationError, UsageError

CONTENT = """<?xml version="1.0"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
  xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0">
<office:automatic-styles>
  <style:style style:name="T1"><style:text-properties style:text-position="super 58%"/>
  </style:style>
  <style:style style:name="P1" style:parent-style-name="Quotations"/>
</office:automatic-styles>
<office:body><office:text>
  <text:tracked-changes><text:changed-region><text:deletion><text:p>Gone {#gone}.</text:p>
  </text:deletion></text:changed-region></text:tracked-changes>
  <text:h text:outline-level="2">Tea</text:h>
  <text:p>Tea<text:s/>is <text:span text:style-name="B">hot</text:span>, *10<text:span
    text:style-name="T1">3</text:span> cups {#lee}.<text:note><text:note-citation>1<!-- -->
    </text:note-citation><text:note-body><text:p>But see {#chen-2020}.</text:p></text:note-body>
    </text:note></text:p>
  <text:list><text:list-item><text:p>- First item {#lee}.</text:p></text:list-item></text:list>
  <text:p text:style-name="P1">Tea is the drink of those who wait for rain. {#lee}</text:p>
  <table:table><table:table-row><table:table-cell><text:p>Group</text:p></table:table-cell>
    <table:table-cell><text:p>Dose</text:p></table:table-cell></table:table-row>
    <table:table-row><table:table-cell><text:p>Tea {#lee}</text:p></table:table-cell>
    <table:table-cell><text:p>5 mg</text:p></table:table-cell></table:table-row></table:table>
  <text:h>Notes</text:h>
</office:text></office:body></office:document-content>"""


def odt(content: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("content.xml", content)
    return packed.getvalue()


def test_an_opendocument_is_read_with_its_notes_lists_tables_and_quotations() -> None:
    draft = parse_draft("d.odt", odt(CONTENT))
    assert [(s.line, s.claim, [c.label for c in s.citations]) for s in draft.sentences] == [
        (2, "Tea is hot, *10³ cups.", ["lee", "chen-2020"]),
        (3, "- First item.", ["lee"]),
        (4, "Tea is the drink of those who wait for rain.", ["lee"]),
        (5, "Tea: Dose 5 mg", ["lee"]),
    ]
    assert draft.sentences[2].quotations == ("Tea is the drink of those who wait for rain.",)
    assert "gone" not in draft.text


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04", odt("<x/>"), odt("<!DOCTYPE x><x/>"), b"{\\rtf1 }", odt(CONTENT)[:300]]
)
def test_what_is_no_opendocument_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"d\.odt: "):
        parse_draft("d.odt", data)


def test_rich_text_is_read_by_paragraphs_and_says_what_it_loses() -> None:
    written = rb"{\rtf1\ansi Tea is *hot* \{#lee\}.\par M\'fcller: \u33590?\u27700? \{#chen\}.\par}"
    draft = parse_draft("d.rtf", written)
    assert [(s.line, s.claim) for s in draft.sentences] == [
        (1, "Tea is *hot*."),
        (2, "Müller: 茶水."),
    ]
    assert not draft.warnings
    (told,) = parse_draft("d.rtf", written[:-1] + rb"{\footnote \{#x\}}}").warnings
    assert "footnotes of rich text are not read" in told
    with pytest.raises(UsageError, match="no rich text"):
        parse_draft("d.rtf", b"Tea")


def test_rich_text_without_its_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_document, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"rag-assets\[office\]"):
        parse_draft("d.rtf", b"{\\rtf1 }")
