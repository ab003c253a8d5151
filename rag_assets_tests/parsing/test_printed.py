import random

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.chunking import BoxFinder
from rag_assets.evidence.quoting import check_quote
from rag_assets.model import Box, ParsedDocument, SourceLine
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.pdf.printed import align, printed_span, printed_text
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph
from rag_assets_tests.parsing.test_pdf import TITLE
from rag_assets_tests.parsing.test_real_papers import files_below

PRINTED = st.text(
    st.sampled_from(
        [*"abefilst-, .|", "\ufb01", "\ufb03", "\xad", "\u00a0", "\t", "\x02", "光", "²"]
    ),
    max_size=40,
)


@given(PRINTED)
def test_every_clean_character_has_its_printed_ones(printed: str) -> None:
    clean = clean_line(printed)
    places = align(clean, printed)
    assert len(places) == len(clean)
    reached = 0
    for character, (start, end) in zip(clean, places, strict=True):
        assert reached <= start <= end <= len(printed)
        reached = start
        if character == " ":
            assert not clean_line(printed[start:end])
        else:
            assert character in clean_line(printed[start:end])
    if clean:
        whole = printed[places[0][0] : places[-1][1]]
        assert clean_line(whole).strip("- ") == clean.strip("- ")


@given(PRINTED, st.data())
def test_a_span_of_a_line_cuts_the_print_that_reads_the_same(
    printed: str, data: st.DataObject
) -> None:
    clean = clean_line(printed)
    if not clean:
        return
    start = data.draw(st.integers(0, len(clean) - 1))
    end = data.draw(st.integers(start + 1, len(clean)))
    line = SourceLine(10, 10 + len(clean), 1, (0, 0, 1, 1), printed)
    first, last = printed_span(line, "x" * 10 + clean, 10 + start, 10 + end)
    cut = clean_line(printed[first:last]).replace("-", "")
    assert clean[start:end].replace("-", "").strip() in cut


def parse(*pages: list[object]) -> ParsedDocument:
    data = make_pdf(pages)  # type: ignore[arg-type]
    return parse_document(data, ParseHints(".pdf"), make_settings())


def test_the_print_of_a_joined_word_has_its_hyphen() -> None:
    document = parse([*TITLE, *paragraph("The photo-", "catalyst works.")])
    start = document.text.index("photocatalyst")
    assert printed_text(document, start, start + len("photocatalyst")) == "photo-\ncatalyst"
    assert printed_text(document, start + 2, start + 4) == "ot"


def raised_line(*parts: str) -> bytes:
    """A page of one line whose every second part is raised, as exponents are."""
    with pymupdf.open() as made:
        page = made.new_page()
        x = 70.0
        for number, part in enumerate(parts):
            size, y = (7.0, 96.5) if number % 2 else (11.0, 100.0)
            page.insert_text((x, y), part, fontsize=size, fontname="helv")
            x += pymupdf.get_text_length(part, fontsize=size)
        return bytes(made.tobytes())


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("a density of 5 x 10", "4", " cells was used"), "a density of 5 x 10^4 cells was used"),
        (("masses of 10", "-22", " grams were found"), "masses of 10^-22 grams were found"),
        (("weekly since 2002", "1", ". The rest is new"), "weekly since 2002^1. The rest is new"),
        (("as others say", "12", " and we deny it"), "as others say^12 and we deny it"),
        (("room 10", "th", " of the building"), "room 10th of the building"),
    ],
)
def test_raised_digits_are_no_digits_of_the_number_before(
    parts: tuple[str, ...], text: str
) -> None:
    document = parse_document(raised_line(*parts), ParseHints(".pdf"), make_settings())
    assert document.text.strip() == text
    assert printed_text(document, 0, len(text)) == "".join(parts)
    assert check_quote(document, 0, text, "made") == "printed"
    (page, _box) = boxes_of(document, text.index("^") if "^" in text else 0, len(text))[0]
    assert page == 1


def boxes_of(document: ParsedDocument, start: int, end: int) -> list[tuple[int, Box]]:
    """Return page and rectangle of each box of a span."""
    found = BoxFinder(document).find(start, end)
    return [(one.page, (one.x0, one.y0, one.x1, one.y1)) for one in found]


def test_boxes_cover_the_lines_of_a_span_and_no_more() -> None:
    document = parse([*TITLE, *paragraph("First line here,", "second line there,", "third line.")])
    start = document.text.index("second")
    ((page, box),) = boxes_of(document, start, start + 6)
    assert page == 1
    assert 100 < box[1] < 113 < box[3] < 126
    whole = boxes_of(document, document.text.index("First"), len(document.text))
    assert len(whole) == 1
    assert whole[0][1][3] > 120


def test_a_span_over_two_pages_has_boxes_on_both() -> None:
    document = parse(
        [*TITLE, *paragraph("Light raises the yield of the")], paragraph("reaction by a half.")
    )
    start = document.text.index("Light raises")
    assert [page for page, _ in boxes_of(document, start, len(document.text))] == [1, 2]


@pytest.mark.slow
def test_boxes_cover_every_word_of_random_spans_of_real_papers() -> None:
    random_numbers = random.Random(7)
    missed: list[str] = []
    total = 0
    for path in random_numbers.sample(files_below("papers", "*.pdf"), 12):
        data = path.read_bytes()
        document = parse_document(data, ParseHints(".pdf"), make_settings())
        # As the parser reads: no glyph numbers for characters without a Unicode value.
        flags = pymupdf.TEXTFLAGS_WORDS & ~pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
        with pymupdf.open(stream=data) as pdf:
            words = {page.number + 1: page.get_text("words", flags=flags) for page in pdf}
        for _ in range(20):
            start = random_numbers.randrange(max(1, len(document.text) - 400))
            boxes = boxes_of(document, start, start + 400)
            covered = {
                word[4]
                for page, box in boxes
                for word in words[page]
                if box[0] - 1 <= (word[0] + word[2]) / 2 <= box[2] + 1
                and box[1] - 1 <= (word[1] + word[3]) / 2 <= box[3] + 1
            }
            known = "".join(clean_line(word) for word in covered)
            for word in printed_text(document, start, start + 400).split()[1:-1]:
                total += 1
                if clean_line(word) not in known:
                    missed.append(f"{path.name}: {word}")
    assert len(missed) <= 0.002 * total, missed[:20]
