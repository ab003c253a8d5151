"""Articles and sections that an English text names, and where they begin."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.law import LawNames, find_begins, find_references
from rag_assets.law.articles import article_pattern

LIBRARY = LawNames(
    {
        "ferries": [
            "Regulation (EU) 2031/77 on the safety of small ferries (Small Ferries Regulation)",
            "OJ_2031_77",
        ],
        "lights": ["Harbour Lights Act 1994", "hla"],
        "piers": ["Untitled", "piers"],
        "older": ["Marine Data Act 1998", "mda98"],
        "newer": ["Marine Data Act 2018", "mda18"],
        "privacy": ["Ferry Passenger Privacy Act of 2020", "x"],
        "machines": ["Artificial Pilot Act", "y"],
        "paper": ["How the Pilot Licence Act changed the costs of small ferries", "smith2020"],
    }
)


@pytest.mark.parametrize(
    ("text", "keys", "documents"),
    [
        ("Article 17 of the Small Ferries Regulation", ["17"], ("ferries",)),
        ("what does art. 17(1)(a) of regulation 2031/77 say?", ["17"], ("ferries",)),
        ("the SFR's Article 6", ["6"], ("ferries",)),
        ("Section 2 Harbour Lights Act", ["section 2"], ("lights",)),
        ("Harbour Lights Act 1994, s. 2", ["section 2"], ("lights",)),
        ("§ 102a piers", ["section 102a"], ("piers",)),
        ("sections 5 and 7(2) of the Marine Data Act", ["section 5", "section 7"],
         ("newer", "older")),
        ("Articles 13-15 SFR", ["13", "14", "15"], ("ferries",)),
        ("FPPA section 1798.100", ["section 1798.100"], ("privacy",)),
        ("Article IV of the AP Act", ["4"], ("machines",)),
        ("UCC § 2-207", ["section 2-207"], ()),
    ],
)  # fmt: skip
def test_law_and_article_are_read(text: str, keys: list[str], documents: tuple[str, ...]) -> None:
    found = find_references(text, LIBRARY)
    assert [one.key for one in found] == keys
    assert {one.documents for one in found} == {documents}


@pytest.mark.parametrize(
    "text",
    [
        "the article I read yesterday",
        "articles 2010-2020 about roofs",
        "it took 5 s. 20 others",
        "two articles on ferries",
        "the section on methods",
        "5 % of the articles",
    ],
)
def test_other_words_name_no_article(text: str) -> None:
    assert find_references(text, LIBRARY) == []


def test_an_article_has_one_key_in_all_languages() -> None:
    (chinese,) = find_references("SFR第17条怎么规定的", LIBRARY)
    assert (chinese.key, chinese.documents) == ("17", ("ferries",))
    assert find_begins("第十七条 罚款")[0].key == find_begins("Article 17 Fines")[0].key == "17"
    for text in ("第十七条 罚款", "Article 17 Fines", "Article XVII"):
        assert rust(article_pattern("17")).search(text)


def test_a_name_is_told_from_its_initials_and_a_part_is_none() -> None:
    def is_whole(text: str) -> bool:
        return find_references(text, LIBRARY)[0].is_whole

    assert is_whole("Article 3 of the Small Ferries Regulation")
    assert is_whole("Article 3 of Regulation 2031/77")
    assert not is_whole("Article 3 SFR")
    (part,) = find_references("Section 3 of the Passenger Privacy Act", LIBRARY)
    assert (part.law, part.documents) == ("Passenger Privacy Act", ())


def test_a_law_that_is_not_there_is_no_other_law() -> None:
    (named,) = find_references("Article 3 of the Small Aircraft Act 1990", LIBRARY)
    assert (named.law, named.documents, named.is_surely_law) == ("Small Aircraft Act", (), True)
    (spoken_of,) = find_references("Section 3 of the Pilot Licence Act", LIBRARY)
    assert (spoken_of.law, spoken_of.documents) == ("Pilot Licence Act", ())
    (capitals,) = find_references("Art. 5 HGB", LIBRARY)
    assert (capitals.law, capitals.documents, capitals.is_surely_law) == ("HGB", (), False)


def test_the_act_is_the_one_act_that_is_there() -> None:
    one = LawNames({"a": ["Harbour Lights Act"], "b": ["Costs"]})
    assert find_references("section 2 of the Act", one)[0].documents == ("a",)
    (open_one,) = find_references("section 2 of the Act", LIBRARY)
    assert (open_one.law, open_one.documents) == (None, ())


BEGINS = {
    "Article 17\nRight": "17",
    "### Article 17": "17",
    "**Article 17** Right": "17",
    "Article 17. The owner": "17",
    "Art. 17 — Right": "17",
    "Article XVII Right": "17",
    "ARTICLE 17": "17",
    "Sec. 12. Duties": "section 12",
    "§ 102a. Insurance": "section 102a",
    "Section 2-207 Terms": "section 2-207",
}
SPOKEN_OF = [
    "Article 17 of the Treaty says",
    "Article 17 and 18",
    "Article I wrote",
    "under Article 17.",
    "Section 12 is repealed",
    "Article 1798",
]


@pytest.mark.parametrize(("text", "key"), BEGINS.items())
def test_articles_begin_paragraphs(text: str, key: str) -> None:
    (begin,) = find_begins(f"Before.\n\n{text}")
    assert begin.key == key
    assert rust(article_pattern(key)).search(text)


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_what_is_spoken_of_does_not_begin(text: str) -> None:
    assert "17" not in [begin.key for begin in find_begins(text)]
    for key in ("17", "1", "section 12"):
        assert not rust(article_pattern(key)).search(text)


@given(st.integers(1, 399))
def test_roman_numerals_are_the_numbers_that_they_write(value: int) -> None:
    pattern = rust(article_pattern(f"{value}"))
    (roman,) = re.findall(r"\|([IVXLC]+)\)", pattern.pattern)
    (begin,) = find_begins(f"Article {roman}")
    assert begin.key == f"{value}"


def rust(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(r"\x{3000}", "\u3000"))
