import pytest

from rag_assets.parsing.pdf.heading_words import Number, parse_number, settle_letters


@pytest.mark.parametrize(
    ("text", "scheme", "values", "depth", "title"),
    [
        ("1 Introduction", "decimal", (1,), 1, "Introduction"),
        ("2.3.1. Spectra", "decimal", (2, 3, 1), 3, "Spectra"),
        ("2 | RESULTS", "decimal", (2,), 1, "RESULTS"),
        ("2 . 1 情绪分类", "decimal", (2, 1), 2, "情绪分类"),
        ("IV. RESULTS", "roman", (4,), 1, "RESULTS"),
        ("C. Receiver", "letter", (3,), 2, "Receiver"),
        ("A.2 Proofs", "appendix", (1, 2), 2, "Proofs"),
        ("Appendix B: Data", "appendix", (2,), 1, "Data"),
        ("Chapter 3 Method", "chapter", (3,), 1, "Method"),
        ("第十二章 结论", "chapter", (12,), 1, "结论"),
        ("第2节 方法", "han", (2,), 2, "方法"),
        ("三、结论", "han", (3,), 1, "结论"),
        ("（二）参数", "han_bracket", (2,), 2, "参数"),
        ("(b) Case", "bracket", (2,), 3, "Case"),
    ],
)
def test_number_of_a_heading_is_read(
    text: str, scheme: str, values: tuple[int, ...], depth: int, title: str
) -> None:
    number = parse_number(text)
    assert number is not None
    assert (number.scheme, number.values, number.depth) == (scheme, values, depth)
    assert text[number.end :] == title


@pytest.mark.parametrize(
    "text",
    ["2017 was warm", "5G networks", "3D printing", "A novel method", "In the dark", "Xylem"],
)
def test_words_and_years_are_no_numbers(text: str) -> None:
    assert parse_number(text) is None


def test_letters_that_are_roman_numbers_too_follow_their_neighbours() -> None:
    texts = ["G. One", "H. Two", "I. Three", "IV. Four", "V. Five"]
    numbers: list[tuple[int, Number]] = []
    for index, text in enumerate(texts):
        number = parse_number(text)
        assert number is not None
        numbers.append((index, number))
    settled = settle_letters(numbers, lambda index: texts[index])
    assert [settled[index].scheme for index in range(5)] == [
        "letter",
        "letter",
        "letter",
        "roman",
        "roman",
    ]
