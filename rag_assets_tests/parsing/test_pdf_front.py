"""Title, authors, year, DOI and abstract of made-up first pages."""

from collections.abc import Sequence
from typing import Any

import pytest

from rag_assets.model import ParsedDocument, SectionCategory
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.pdf.front import find_doi, find_year
from rag_assets.parsing.pdf.lines import Line
from rag_assets.parsing.pdf.title import find_authors, mend_accents
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_pdfs import Placed, make_pdf, paragraph

TITLE = "A field study of earthworms under winter wheat"
ABSTRACT = (
    "Earthworms were counted in twelve fields over three years. Fields that were never",
    "ploughed held four times as many as those ploughed every autumn. We conclude that",
    "tillage matters more to them than rain, frost or the crop that is grown above.",
)
BODY = (
    "Worms have been counted since the days of Darwin, who weighed their casts and saw",
    "how they bury stones. What the plough does to them is known from few fields only,",
    "and most of those were watched for a single year. We followed twelve for three years.",
)


def parse(*pages: Sequence[Placed], title: str = "") -> ParsedDocument:
    return parse_document(make_pdf(pages, title=title), ParseHints(".pdf"), make_settings())


def first_page(*, above: Sequence[Placed] = (), heading: str | None = "Abstract") -> list[Placed]:
    lines: list[Placed] = [*above, (70, 100, TITLE, 18), (70, 130, "Ann Writer and Bo Lister")]
    lines.append((70, 145, "Department of Soil Science, University of Somewhere", 9))
    if heading is not None:
        lines.append((70, 180, heading, 12))
    lines += paragraph(*ABSTRACT, y=200)
    lines += [(70, 260, "Keywords: soil, worms"), (70, 290, "1 Introduction", 14)]
    return [*lines, *paragraph(*BODY, y=315)]


def line(text: str, **changes: Any) -> Line:
    values = {"box": (70.0, 100.0, 300.0, 112.0), "size": 11.0, "bold": False, "italic": False}
    return Line(text=text, printed=text, font="Times", upright=True, **{**values, **changes})


def authors_of(*texts: str) -> tuple[str, ...]:
    return find_authors([line(text) for text in texts])[0]


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        # Hong, San, West are names of people; Hong Kong and West Virginia are none.
        (("Jin-Ho Kim, MD, PhD,", "Hong-Gyun Wu, MD, PhD"), ("Jin-Ho Kim", "Hong-Gyun Wu")),
        (("Ann Writer, Robert West",), ("Ann Writer", "Robert West")),
        (("Ann Writer", "Hong Kong", "West Virginia"), ("Ann Writer",)),
        (("Goleţ I, Gruia AT, Horhat FG",), ("Goleţ I", "Gruia AT", "Horhat FG")),
        (("Ann Writer", "At Home"), ("Ann Writer",)),
        # A name goes on in the next line, which alone is none.
        (("Ann Writer, Bo Lister and Shagufta", "Perveen"),
         ("Ann Writer", "Bo Lister", "Shagufta Perveen")),
        (("Ann Writer, Bo Lister", "Introduction"), ("Ann Writer", "Bo Lister")),
        (("Urban Novak, Emanuele Zucca,", "Kate Cwynarski, for the Lymphoma Study Group (IELSG)"),
         ("Urban Novak", "Emanuele Zucca", "Kate Cwynarski")),
        (("Izhak Shafran†, Emily Prud’hommeaux◦and Brian Roark†",),
         ("Izhak Shafran", "Emily Prud’hommeaux", "Brian Roark")),
        (("Ruifang Ge Raymond J. Mooney",), ("Ruifang Ge", "Raymond J. Mooney")),
        (("Ricardo Marcelo dos Anjos Ferreira",), ("Ricardo Marcelo dos Anjos Ferreira",)),
        # The end of the paper before, on the same page.
        (("8. Docherty AB, Harrison EM, Green CA, Hardwick HE, Norman L,",), ()),
    ],
)  # fmt: skip
def test_every_author_is_read_and_nobody_else(
    texts: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert authors_of(*texts) == names


def test_title_is_the_title_like_run_and_not_the_larger_journal_name() -> None:
    document = parse(first_page(above=[(70, 60, "Journal of Soil Biology", 26)]))
    assert document.title == TITLE
    assert [block.kind for block in document.blocks].count("title") == 1


def test_title_over_two_lines_is_one_and_article_type_is_no_part_of_it() -> None:
    lines = [
        (70, 60, "ORIGINAL ARTICLE", 18),
        (70, 90, "Counting earthworms under winter", 18),
        (70, 112, "wheat in twelve fields*", 18),
        (70, 140, "Ann Writer"),
        *paragraph(*BODY, y=200),
    ]
    document = parse(lines)
    assert document.title == "Counting earthworms under winter wheat in twelve fields"


def test_metadata_give_the_spelling_of_a_printed_title() -> None:
    lines = [(70, 100, TITLE.upper(), 16), *paragraph(*BODY, y=200)]
    assert parse(lines, title=TITLE).title == TITLE


def test_metadata_that_the_page_does_not_print_are_not_believed() -> None:
    document = parse(first_page(), title="Microsoft Word - final_v3.doc")
    assert document.title == TITLE
    assert parse(first_page(), title="Template for authors of all sorts").title == TITLE


def test_metadata_that_print_holds_in_part_choose_among_the_large_lines() -> None:
    lines = [
        (70, 90, "Four Counties Survey of Wildlife", 24),
        (70, 130, "Counting earthworms under wheat: a record", 18),
        *paragraph(*BODY, y=200),
        *paragraph(*BODY, y=260),
    ]
    assert parse(lines).title == "Four Counties Survey of Wildlife"
    stated = "Counting earthworms under wheat"
    assert parse(lines, title=stated).title == "Counting earthworms under wheat: a record"


def test_thesis_cover_gives_the_title_behind_its_label() -> None:
    cover = [
        (150, 100, "Master thesis", 30),
        (150, 200, f"Title: {TITLE}", 16),
        (150, 240, "Ann Writer", 14),
        (150, 500, "University of Somewhere", 20),
    ]
    document = parse(cover, paragraph(*BODY))
    assert document.title == TITLE
    assert document.authors == ("Ann Writer",)


def test_page_of_text_has_no_title() -> None:
    assert parse(paragraph(*BODY)).title is None


def test_title_and_front_matter_have_their_own_kinds() -> None:
    document = parse(first_page())
    kinds = {document.text[b.start : b.end].split("\n")[0]: b.kind for b in document.blocks}
    assert kinds[TITLE] == "title"
    assert next(kind for text, kind in kinds.items() if text.startswith("Ann Writer")) == "front"
    assert not any(kind == "front" for text, kind in kinds.items() if text.startswith("Worms"))


def test_abstract_is_its_text_without_heading_and_keywords() -> None:
    document = parse(first_page())
    assert document.abstract_text is not None
    assert document.abstract_text.split() == " ".join(ABSTRACT).split()


def test_run_in_heading_is_no_part_of_the_abstract() -> None:
    page = first_page(heading=None)
    place = next(index for index, item in enumerate(page) if item[2] == ABSTRACT[0])
    page[place] = (70, 200, f"Abstract. {ABSTRACT[0]}")
    document = parse(page)
    assert document.abstract_text is not None
    assert document.abstract_text.startswith("Earthworms were counted")


def test_abstract_without_heading_stands_between_authors_and_keywords() -> None:
    document = parse(first_page(heading=None))
    assert document.abstract_text is not None
    assert document.abstract_text.split() == " ".join(ABSTRACT).split()
    untitled = [section for section in document.sections if section.title == ""]
    assert SectionCategory.ABSTRACT in {section.category for section in untitled}


def test_structured_abstract_is_whole_and_ends_at_the_introduction() -> None:
    parts = ["Background: Worms are few.", "Methods: We counted them.", "Results: Many were found."]
    lines: list[Placed] = [(70, 100, TITLE, 18), (70, 130, "Ann Writer"), (70, 170, "Abstract", 13)]
    lines += [(70, 195 + 30 * index, text) for index, text in enumerate(parts)]
    lines += [(70, 300, "Introduction", 14), *paragraph(*BODY, y=325)]
    text = parse(lines).abstract_text
    assert text is not None
    assert text.split() == " ".join(parts).split()


def test_of_two_abstracts_the_one_in_the_language_of_the_text_is_taken() -> None:
    abstract = (
        "本文连续三年统计了十二块麦田中的蚯蚓数量，结果表明免耕",
        "田的蚯蚓数量是秋耕田的四倍。",
    )
    body = (
        "自达尔文以来人们一直在统计蚯蚓的数量，但耕作对蚯蚓的影响",
        "至今仅有少数几块田地的记录。",
    )
    lines = [
        (70, 100, "冬小麦田蚯蚓数量的野外研究", 20),
        (70, 170, "Abstract", 13),
        *paragraph(*ABSTRACT, y=190),
        (70, 250, "摘要", 13),
        *paragraph(*abstract, y=270),
        (70, 310, "1 引言", 14),
        *[item for index in range(12) for item in paragraph(*body, y=330 + 30 * index)],
    ]
    text = parse(lines).abstract_text
    assert text is not None
    assert text.startswith("本文")


@pytest.mark.parametrize(
    ("printed", "names"),
    [
        (["Ann B. Writer1,2*, Bo Lister2 and Cy van Dyke3†"],
         ["Ann B. Writer", "Bo Lister", "Cy van Dyke"]),
        (["Ann Writer, MD, PhDa,∗, Bo Lister, MSca"], ["Ann Writer", "Bo Lister"]),
        (["Ann Writer & Bo Lister"], ["Ann Writer", "Bo Lister"]),
        (["Dr. Ann Writer [0000-0002-0993-3574]"], ["Ann Writer"]),
        (["ANN WRITER, BO LISTER,", "AND CY DYKE"], ["ANN WRITER", "BO LISTER", "CY DYKE"]),
        (["殷昊 李寿山 贡正仙 周国栋"], ["殷昊", "李寿山", "贡正仙", "周国栋"]),
        (["作者：刘 敏"], ["刘敏"]),
        (["Минаев Борис Юрьевич"], ["Минаев Борис Юрьевич"]),
    ],
)  # fmt: skip
def test_authors_are_names_in_order_without_marks(printed: list[str], names: list[str]) -> None:
    assert authors_of(*printed) == tuple(names)


def test_addresses_and_supervisors_are_no_authors() -> None:
    assert authors_of(
        "Ann Writer", "University of Somewhere", "Prague, Czech Republic", "Supervisor: Cy Dyke"
    ) == ("Ann Writer",)


def test_raised_letters_are_marks_and_no_part_of_a_name() -> None:
    raised = line("Ann Writera,b*, Bo Listerb", level_parts=("Ann Writer", ", Bo Lister"))
    assert find_authors([raised])[0] == ("Ann Writer", "Bo Lister")


@pytest.mark.parametrize(
    ("printed", "mended"),
    [
        ("Go´mez", "Gómez"), ("Pf¨ulb", "Pfülb"), ("Zolt´an", "Zoltán"), ("De`gnon", "Dègnon"),
        ("Gy¨ongyi", "Gyöngyi"), ("Gy ¨ ongyi", "Gyöngyi"), ("Gyo¨ngyi", "Gyöngyi"),
        ("Jos´e Garc´ıa", "José García"), ("Jose´ Ana Rau´l", "José Ana Raúl"),
        ("Ana ´Alvarez", "Ana Álvarez"), ("Beneˇs", "Beneš"), ("Cˇapek", "Čapek"),
        ("Zdenˇek Dvoˇra´k", "Zdeněk Dvořák"), ("Novy´", "Nový"), ("¨Ozg¨ur", "Özgür"),
        ("Fran¸cois", "François"), ("Franc¸ois", "François"), ("Mu˜noz", "Muñoz"),
        ("Mun˜oz", "Muñoz"), ("Jo˜ao Guimara˜es", "João Guimarães"),
    ],
)  # fmt: skip
def test_accents_set_beside_their_letter_are_put_on_it(printed: str, mended: str) -> None:
    assert mend_accents(printed) == mended


@pytest.mark.parametrize(
    ("texts", "year"),
    [
        (["Received 3 May 2016", "Published online: 24 May 2017"], 2017),
        (["© 2013 The Authors", "Received 1 March 2012"], 2013),
        (["BMJ Open 2020;10:e040969"], 2020),
        (["arXiv:1504.06236v2 [cs.SI] 24 Apr 2015"], 2015),
        (["VOL. 7, NO. 5, OCTOBER 1997"], 1997),
        (["To appear in OSDI 2006", "Worms have been counted since 1881."], 2006),
        (["收稿日期：2017-03-16；定稿日期：2017-04-13"], 2017),
        (["Proceedings of the 30th VLDB Conference,", "Toronto, Canada, 2004"], 2004),
        (["21ème Traitement Automatique des Langues Naturelles, Marseille, 2014"], 2014),
        (["Санкт-Петербург, 2017 г."], 2017),
        (["hep-ph/9412269 09 Dec 94"], 1994),
        (["arXiv:1706.03762"], 2017),
        (["for the proceedings of ACL 2018. The worms have been counted."], None),
        (["We read Smith/2017 and cs/9913001 as paths."], None),
        (["Worms have been counted since 1881 in many fields."], None),
    ],
)
def test_year_is_that_of_publication(texts: list[str], year: int | None) -> None:
    assert find_year([line(text) for text in texts], {"creationDate": "D:20010101"}) == year


def test_doi_is_lower_case_without_resolver_and_full_stop() -> None:
    assert find_doi([line("https://doi.org/10.1000/ABC.Def(12).")], {}) == "10.1000/abc.def(12)"


def test_doi_over_a_line_end_is_joined() -> None:
    lines = [line("doi:10.1371/journal.pone."), line("0115884")]
    assert find_doi(lines, {}) == "10.1371/journal.pone.0115884"


def test_doi_of_data_or_of_a_template_is_not_the_papers() -> None:
    assert find_doi([line("DOI 10.17605/OSF.IO/QHW86"), line("doi:10.1000/own-one")], {}) == (
        "10.1000/own-one"
    )
    assert find_doi([line("DOI: 10.21105/jose.0XXXX")], {}) is None


def test_doi_below_the_references_head_is_anothers() -> None:
    page = first_page()
    cited = [(70, 700, "References", 14), (70, 720, "[1] B. Lister. On worms. doi:10.1000/cited")]
    assert parse([*page, *cited]).doi is None
    assert parse([*page, (70, 690, "doi:10.1000/own-one", 8), *cited]).doi == "10.1000/own-one"
