"""Journal, volume, issue and pages, as the first page of a paper prints them."""

import pytest

from rag_assets.parsing.pdf.imprint import Imprint, find_imprint
from rag_assets.parsing.pdf.lines import Line

HEIGHT = 800.0


def block(*texts: str, y: float = 30.0) -> list[Line]:
    return [
        Line(
            text,
            text,
            (70.0, y + 12 * row, 400.0, y + 12 * row + 10),
            9.0,
            False,
            False,
            "Times",
            True,
        )
        for row, text in enumerate(texts)
    ]


def found(*texts: str, y: float = 30.0, sheets: int = 7, title: str = "") -> Imprint:
    return find_imprint([block(*texts, y=y)], HEIGHT, sheets, {}, title)


@pytest.mark.parametrize(
    ("text", "imprint"),
    [
        ("Nat. Prod. Bioprospect. (2017) 7:299–305",
         Imprint("Nat. Prod. Bioprospect.", "7", "", "299-305", 2017)),
        ("Ashrafi et al., Afr J Tradit Altern Med., (2017) 14 (3): 209-215",
         Imprint("Afr J Tradit Altern Med", "14", "3", "209-215", 2017)),
        ("Connor MJ, et al. BMJ Open 2021;11:e042953. doi:10.1136/bmjopen-2020-042953",
         Imprint("BMJ Open", "11", "", "e042953", 2021)),
        ("Postgrad Med J 2010;86:272e278.", Imprint("Postgrad Med J", "86", "", "272-278", 2010)),
        ("Dhaka Univ. J. Pharm. Sci. 8(1): 7-13, 2009 (June)",
         Imprint("Dhaka Univ. J. Pharm. Sci.", "8", "1", "7-13", 2009)),
        ("J. Chem. Phys. 134, 024901 (2011)", Imprint("J. Chem. Phys.", "134", "", "024901", 2011)),
        ("Journal of the ACM, Vol. 44, No. 4, July 1997, pp. 585–91.",
         Imprint("Journal of the ACM", "44", "4", "585-591", 1997)),
        ("Proceedings of NAACL-HLT 2013, pages 211–217,",
         Imprint("Proceedings of NAACL-HLT 2013", pages="211-217")),
        ("样例学报 第1卷（2022）第5号", Imprint("样例学报", "1", "5", "", 2022)),
        ("中文信息学报 第34卷 第3期", Imprint("中文信息学报", "34", "3")),
        ("第 34 卷 第 3 期 中文信息学报 Vol. 34, No. 3 2020 年 3 月",
         Imprint("中文信息学报", "34", "3", "", 2020)),
        ("生态学报 2019，39(5)：1586-1592", Imprint("生态学报", "39", "5", "1586-1592", 2019)),
        # What names no journal.
        ("Copyright © 2017 by School of Pharmacy", Imprint()),
        ("ACL 2016, Berlin, Germany, August 7-12, 2016", Imprint()),
        ("Revised 12 May 2019, 14 pages", Imprint()),
        ("www.thelancet.com/haematology Vol 8 February 2021", Imprint()),
    ],
)  # fmt: skip
def test_imprint_is_read_from_a_head(text: str, imprint: Imprint) -> None:
    assert found(text) == imprint


def test_pages_of_a_whole_section_are_not_those_of_the_paper() -> None:
    told = found("British Journal of Haematology, 2021, 192, e1–e36", sheets=3)
    assert told == Imprint("British Journal of Haematology", "192", "", "", 2021)


def test_reference_in_the_text_or_in_a_note_is_not_the_paper_itself() -> None:
    cited = "J. Chem. Phys. 134, 024901 (2011)"
    assert found(cited, y=400.0) == Imprint()
    assert found("1 Smith, " + cited, y=760.0) == Imprint()


def test_how_to_cite_tells_it_anywhere_on_the_page_without_the_title() -> None:
    told = found(
        "How to cite this article: Lee H. Care in the", "FLAX Study. Medicine 2021;100:5(e23878).",
        y=400.0, title="Care in the FLAX Study",
    )  # fmt: skip
    assert told == Imprint("Medicine", "100", "5", "e23878", 2021)
