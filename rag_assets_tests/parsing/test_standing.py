"""A document that was retracted says so wherever its title is shown."""

import pytest

from rag_assets.model import ParsedDocument, standing_of_title, with_standing
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

BODY = paragraph("The lamps of the eastern house were replaced.", y=300)


def pdf(*heads: str, pages: int = 3, title: str = "Red Lamps in Small Houses") -> ParsedDocument:
    first = [(70.0, 90.0, title, 20), *BODY]
    stamps = [(70.0, 40.0 + 14 * place, head) for place, head in enumerate(heads)]
    data = make_pdf([[*stamps, *(BODY if page else first)] for page in range(pages)])
    return parse_document(data, ParseHints(".pdf"), make_settings())


def note(text: str) -> ParsedDocument:
    return parse_document(text.encode(), ParseHints(".md"), make_settings())


@pytest.mark.parametrize("pages", [1, 3])
def test_a_stamp_on_the_pages_of_a_pdf_is_in_the_title_and_among_the_warnings(pages: int) -> None:
    document = pdf("RETRACTED", pages=pages)
    assert document.title is not None
    assert document.title.startswith("RETRACTED: ")
    assert any("retracted" in warning for warning in document.warnings)


@pytest.mark.parametrize(
    ("title", "standing"),
    [
        ("RETRACTED ARTICLE: Red lamps in small houses", "retracted"),
        ("Retraction: Red lamps", "retracted"),
        ("Retraction Note to: Red lamps", "retracted"),
        ("[Retracted] Red lamps", "retracted"),
        ("WITHDRAWN: Red lamps", "retracted"),
        ("撤稿声明：小屋里的红灯", "retracted"),
        ("Expression of Concern: Red lamps", "concern"),
        ("Editorial expression of concern", "concern"),
        ("关注声明：小屋里的红灯", "concern"),
        ("Erratum to: Red lamps", "corrected"),
        ("Corrigendum: Red lamps", "corrected"),
        ("Author Correction: Red lamps", "corrected"),
        ("Correction to “Red lamps”", "corrected"),
        ("勘误：小屋里的红灯", "corrected"),
        ("Why articles are retracted: a study", None),
        ("Retracted articles in surgery: a review", None),
        ("Retraction of the eyelid after surgery", None),
        ("Correction of motion in pictures of the heart", None),
        ("Withdrawal of statins in old age", None),
        ("撤稿论文的引用分析", None),
        ("An erratum in the code of life", None),
    ],
)
def test_what_the_beginning_of_a_title_says(title: str, standing: str | None) -> None:
    assert standing_of_title(title) == standing


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("# Red lamps\n\nThis article has been retracted by its authors.", "retracted"),
        ("# Red lamps\n\nThe Editor-in-Chief has retracted this article.", "retracted"),
        ("# 小屋里的红灯\n\n本文已撤稿。", "retracted"),
        ("# Red lamps\n\nAn expression of concern has been published.", "concern"),
        ("# Red lamps\n\nA correction to this article was published in May.", "corrected"),
        ("# Lamps\n\nWe asked of the RETRACTED ones whether this article was retracted.", None),
        ("# Lamps\n\nText of the first part.\n\n## Correction\n\nWe corrected the colours.", None),
    ],
)  # fmt: skip
def test_a_notice_at_the_beginning(text: str, standing: str | None) -> None:
    assert standing_of_title(note(text).title) == standing


def test_a_person_may_say_otherwise() -> None:
    assert with_standing("Red lamps", "concern") == "EXPRESSION OF CONCERN: Red lamps"
    assert with_standing("RETRACTED ARTICLE: Red lamps", "retracted") == (
        "RETRACTED ARTICLE: Red lamps"
    )
    assert with_standing("RETRACTED ARTICLE: Red lamps", None) == "Red lamps"
    assert with_standing("Red lamps", None) == "Red lamps"
