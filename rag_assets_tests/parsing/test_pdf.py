import pymupdf
import pytest

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.cleaning import clean_line
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_pdfs import FOOT_Y, HEAD_Y, Placed, make_pdf, paragraph
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract

HINTS = ParseHints(".pdf")


def parse(pages: list[list[Placed]], **changes: object) -> ParsedDocument:
    document = parse_document(make_pdf(pages), HINTS, make_settings(**changes))
    assert_keeps_the_contract(document)
    return document


def reason_of(data: bytes, hints: ParseHints = HINTS, **changes: object) -> ParseFailure:
    with pytest.raises(ParseFailure) as caught:
        parse_document(data, hints, make_settings(**changes))
    return caught.value


# Without them, the first lines of a document are taken for its title and authors.
TITLE = [(70, 40, "Light and Yield in Flow Reactors", 20), (70, 80, "1 Introduction", 14)]


def test_divided_words_are_joined_and_true_hyphens_kept() -> None:
    lines = paragraph("The photo-", "catalyst of the group at Rutgers-", "Newark was tested twice.")
    assert parse([[*TITLE, *lines]]).text.endswith(
        "\n\nThe photocatalyst of the group at Rutgers-Newark was tested twice."
    )


def test_ligatures_are_expanded_and_other_characters_kept() -> None:
    assert clean_line("e\ufb03cient \ufb02ow at 10\u00b2 \u2126 \u00bd \uff21") == (
        "efficient flow at 10\u00b2 \u2126 \u00bd \uff21"
    )
    assert clean_line("a\x00b\ud800\u00a0c") == "a b\ufffd c"


def test_chinese_lines_are_joined_without_a_blank() -> None:
    assert parse([paragraph("光照强度提高了产率，", "并且没有副产物。")]).text == (
        "光照强度提高了产率，并且没有副产物。"
    )


def test_paragraphs_stand_apart_by_an_empty_line() -> None:
    page = [*paragraph("First thought."), *paragraph("Second thought.", y=200)]
    document = parse([page])
    assert document.text == "First thought.\n\nSecond thought."
    assert [document.text[b.start : b.end] for b in document.blocks] == [
        "First thought.",
        "Second thought.",
    ]
    assert document.blocks[1].bbox is not None
    assert document.blocks[1].bbox[1] > document.blocks[0].bbox[3]  # type: ignore[index]


def pages_with_furniture(count: int, head_on: int) -> list[list[Placed]]:
    return [
        [
            *([(70, HEAD_Y, f"Journal of Tests {index + 7}, Vol. 12")] if index < head_on else []),
            *paragraph(f"Body number {'abcdefghijk'[index]} is here.", y=300),
            (290, FOOT_Y + 20, str(index + 1)),
        ]
        for index in range(count)
    ]


def test_running_heads_and_page_numbers_go_and_are_recorded() -> None:
    document = parse(pages_with_furniture(5, head_on=5))
    assert "Journal" not in document.text
    assert not any(character.isdigit() for character in document.text)
    assert document.removed_templates == ("#", "Journal of Tests #, Vol. #")


def test_a_head_below_the_share_stays() -> None:
    assert parse(pages_with_furniture(10, head_on=5)).text.count("Journal") == 5
    assert parse(pages_with_furniture(10, head_on=6)).text.count("Journal") == 0
    assert (
        parse(pages_with_furniture(10, head_on=6), repeated_line_share=0.7).text.count("Journal")
        == 6
    )


def test_two_pages_prove_no_running_head() -> None:
    document = parse(pages_with_furniture(2, head_on=2))
    assert document.text.count("Journal") == 2
    assert document.removed_templates == ()


def test_heads_of_left_and_right_pages_both_go() -> None:
    pages: list[list[Placed]] = [
        [
            (70, HEAD_Y, "The Authors" if index % 2 else "The Title of the Paper"),
            *paragraph(f"Body {'abcdefgh'[index]} is here.", y=300),
        ]
        for index in range(8)
    ]
    assert parse(pages).removed_templates == ("The Authors", "The Title of the Paper")


def test_repeated_lines_of_the_body_stay() -> None:
    pages = [paragraph("The same sentence.", y=400) for _ in range(5)]
    assert parse(pages).text.count("The same sentence.") == 5


def test_a_sentence_over_the_page_end_is_joined_and_the_page_start_known() -> None:
    first = [*TITLE, *paragraph("Light raises the yield of the")]
    document = parse([first, paragraph("reaction by a half.")])
    assert document.text.endswith("\n\nLight raises the yield of the reaction by a half.")
    first, second = document.pages
    assert document.text[second.start :] == "reaction by a half."
    assert first.end == second.start


def test_a_word_divided_over_the_page_end_is_joined() -> None:
    document = parse([paragraph("The photo-"), paragraph("catalyst works.")])
    assert document.text == "The photocatalyst works."
    assert document.text[document.pages[1].start :] == "catalyst works."


def test_a_finished_sentence_ends_its_page() -> None:
    assert parse([paragraph("It works."), paragraph("it was said.")]).text == (
        "It works.\n\nit was said."
    )


def test_a_chinese_sentence_over_the_page_end_is_joined() -> None:
    full = "这是正文的一整行文字它一直排到版心的右边没有停顿"
    first = [*paragraph(full + "。", full + "。", full + "。", full + "，", full + "而")]
    second = [*paragraph(full + "，", full + "，", full + "，", full + "，", "结束了。")]
    document = parse([first, second])
    assert f"而{full}" in document.text


def test_a_footnote_does_not_cut_the_sentence_that_runs_on() -> None:
    sentence = "This sentence is long enough to be prose and runs over the end of the"
    first = [
        *TITLE,
        *paragraph("Another sentence stands here first.", sentence),
        (70, 700, "1 A note in small print.", 7),
    ]
    document = parse([first, paragraph("page on which it began.", "More text follows it here.")])
    assert f"{sentence} page on which it began." in document.text
    assert "1 A note in small print.\n\n" in document.text
    assert document.text.index("A note") < document.pages[1].start


def test_pages_without_text_have_empty_spans_and_are_counted() -> None:
    document = parse([[], paragraph("Words."), [], []])
    assert [(page.start, page.end) for page in document.pages] == [(0, 0), (0, 6), (6, 6), (6, 6)]
    assert document.warnings[0].startswith("3 of 4 pages hold no text")


def test_metadata_title_counts_only_where_it_is_printed(settings: ParseSettings) -> None:
    page = [(70, 90, "Light and Yield in Flow", 20), *paragraph("Text of the paper.", y=200)]
    for stated, expected in [
        ("Light and yield in flow", "Light and yield in flow"),
        ("Microsoft Word - draft3.doc", "Light and Yield in Flow"),
        ("Template for Conference Authors", "Light and Yield in Flow"),
        ("", "Light and Yield in Flow"),
    ]:
        data = make_pdf([page], title=stated)
        assert parse_document(data, HINTS, settings).title == expected


def test_language_is_told_for_english_and_chinese() -> None:
    english = paragraph(*["The yield of the reaction is raised by the light of the lamp."] * 3)
    assert parse([english]).language == "en"
    assert parse([paragraph("光照强度提高了产率，并且没有副产物。")]).language == "zh"
    assert parse([paragraph("1 2 3")]).language is None


def test_pictures_alone_are_no_text_layer() -> None:
    with pymupdf.open() as document:
        dot = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 8, 8), False)
        document.new_page().insert_image((0, 0, 80, 80), pixmap=dot)
        data = document.tobytes()
    assert reason_of(data).reason_code == "no_text_layer"


def test_blank_pages_are_no_document() -> None:
    failure = reason_of(make_pdf([[], []]))
    assert failure.reason_code == "empty_file"
    assert "None of the 2 pages holds text or a picture" in failure.message


def test_a_file_that_is_cut_off_before_its_text_is_damaged() -> None:
    # Its pages come first, and then what is on them.
    whole = make_pdf(
        [[(70, 40, f"Page {number}: green roofs are cooler", 10)] for number in (1, 2)]
    )
    failure = reason_of(whole[: whole.index(b"stream")])
    assert failure.reason_code == "damaged_file"
    assert "cut off" in failure.message


def test_pages_of_nothing_but_one_repeated_line_keep_it(settings: ParseSettings) -> None:
    pages = [[(70, 40, f"Original page {number}", 10)] for number in range(1, 6)]
    document = parse_document(make_pdf(pages), HINTS, settings)
    assert "Original page 4" in document.text
    assert document.removed_templates == ()


def test_a_text_under_a_pdf_s_name_is_read_with_a_warning(settings: ParseSettings) -> None:
    document = parse_document(b"Planted roofs cool the rooms below. " * 20, HINTS, settings)
    assert document.media_type == "text/plain"
    assert ".pdf" in document.warnings[0]


@pytest.mark.parametrize("data", [b"potato salad\n", b"\x00\x01\x02" * 50])
def test_what_is_no_pdf_under_a_pdf_s_name_is_damaged(data: bytes) -> None:
    assert reason_of(data).reason_code == "damaged_file"


def test_a_pdf_that_lost_its_head_is_still_read(settings: ParseSettings) -> None:
    data = make_pdf([paragraph("Words that stay.")])
    headless = data[data.index(b"\n") + 1 :]
    assert parse_document(headless, HINTS, settings).text == "Words that stay."


def test_password_failures_name_the_sidecar(settings: ParseSettings) -> None:
    data = make_pdf([paragraph("Secret words.")], password="öffne")
    required = reason_of(data)
    assert required.reason_code == "password_required"
    assert "password:" in required.message
    assert "<file>.meta.yaml" in required.message
    assert reason_of(data, ParseHints(".pdf", "wrong")).reason_code == "password_wrong"
    opened = parse_document(data, ParseHints(".pdf", "öffne"), settings)
    assert opened.text == "Secret words."


def test_broken_bytes_are_a_damaged_file() -> None:
    assert reason_of(b"%PDF-1.7\nthis is all").reason_code in {"damaged_file", "no_pages"}


def test_limits_are_refused_with_the_setting_to_raise() -> None:
    data = make_pdf([paragraph("a"), paragraph("b")])
    pages = reason_of(data, max_pages=1)
    assert (pages.reason_code, pages.kind) == ("page_limit", "deterministic")
    assert "parse.max_pages" in pages.message
    size = reason_of(data + b" " * 1_000_001, max_megabytes=1)
    assert (size.reason_code, size.kind) == ("size_limit", "deterministic")
    assert "parse.max_megabytes" in size.message
