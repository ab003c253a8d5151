"""A site's refusal and a text layer that says nothing are no documents."""

import pytest

from rag_assets.model import ParseFailure
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.cleaning import is_garbled, is_garbled_page
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

PROSE = (
    "The temperature fell to twelve degrees in the first week, and the change was small.",
    "Leaves were counted by two observers who did not know the treatment of a plot.",
    "The plants that had died were replaced in the first week and never afterwards.",
    "A second series began in the autumn, when the lamps of the house had been replaced.",
    "None of the trays was moved between the two readings, and the doors stayed closed.",
)
CIPHER = str.maketrans({code: chr(code - 29) for code in range(ord("a"), ord("z") + 1)})


def reason_of(data: bytes, extension: str = ".pdf") -> str | None:
    try:
        parse_document(data, ParseHints(extension), make_settings())
    except ParseFailure as failure:
        return failure.reason_code
    return None


def page(*lines: str) -> bytes:
    return make_pdf([paragraph(*lines)])


@pytest.mark.parametrize(
    "lines",
    [
        tuple(line.translate(CIPHER) for line in PROSE),
        tuple(line[::-1] for line in PROSE[::-1]),
        tuple(
            "".join(chr((ord(c) - 97 + 7) % 26 + 97) if c.islower() else c for c in line)
            for line in PROSE
        ),
    ],
)
def test_a_text_layer_of_other_letters_is_withheld(lines: tuple[str, ...]) -> None:
    assert reason_of(page(*lines)) == "unreadable_text"


CHINESE = (
    "随着夏季高温日数增多，步行者在街道上承受的热负荷日益受到关注。与屋顶绿化和浅色路面相比，"
    "行道树直接为行人提供遮阴，既减少到达人体的太阳辐射，又通过蒸腾作用消耗热量。"
) * 4
JAPANESE = "屋上緑化と比べて街路樹は直接に日陰を提供し、蒸散作用によって熱量を消費する。" * 8


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        (CHINESE, False),
        (CHINESE.translate({ord(c): chr(ord(c) * 7 % 20902 + 0x4E00) for c in CHINESE}), True),
        (CHINESE.encode("gb18030").decode("latin-1"), True),
        ("北冥有魚，其名為鯤。鯤之大，不知其幾千里也。化而為鳥，其名為鵬。" * 10, False),
        (JAPANESE, False),
        ("Vườn trên mái làm giảm nhiệt độ vào mùa hè, vì lá cây che nắng. " * 10, False),
    ],
)
def test_characters_that_no_language_uses_so_often_are_of_a_wrong_code_table(
    text: str, is_wrong: bool
) -> None:
    assert is_garbled(text) is is_wrong
    assert is_garbled_page(text) is is_wrong


def test_a_page_of_other_letters_is_left_out_with_a_warning() -> None:
    ciphered = [line.translate(CIPHER) for line in PROSE]
    pages = [paragraph(*PROSE), paragraph(*ciphered), paragraph("x = ab + cd", "for i in xs:")]
    found = parse_document(make_pdf(pages), ParseHints(".pdf"), make_settings())
    assert PROSE[0] in found.text
    assert ciphered[0] not in found.text
    assert "x = ab + cd" in found.text
    assert any("page 2 is not what is shown" in str(one) for one in found.warnings)


CODE = ("ts(len1:len2) = (T06-T15) / (a/v) * deltat * [1:(len2-len1)] + T15; end",) * 12


def test_a_page_of_code_is_kept() -> None:
    found = parse_document(
        make_pdf([paragraph(*PROSE), paragraph(*CODE)]), ParseHints(".pdf"), make_settings()
    )
    assert "deltat" in found.text
    assert not found.warnings


@pytest.mark.parametrize(
    "lines",
    [
        PROSE,
        ("Tab. 4  XRD  BET  TGA  SEM  DFT", *("NMR 12.5 kHz  Ph-CN  MgO  Fe3O4  ZrCl4",) * 12),
        ("Lampy wschodniego domu zostaly wymienione jesienia przez ogrodnika.",) * 5,
    ],
)
def test_what_is_no_prose_of_a_known_language_is_read(lines: tuple[str, ...]) -> None:
    assert reason_of(page(*lines)) is None


@pytest.mark.parametrize(
    "text",
    [
        "Access denied. Please log in to your institution.",
        "403 Forbidden",
        "Error 500: try again later.",
        "Please complete the CAPTCHA to show that you are a human.",
        "Your download will start in 5 seconds.",
        "Sign in to read this article, or purchase PDF.",
        "访问被拒绝",
        "请登录后下载全文",
    ],
)
def test_a_page_of_a_site_in_place_of_the_document_fails(text: str) -> None:
    assert reason_of(page(text)) == "error_page"
    web = f"<html><body><p>{text}</p></body></html>".encode()
    assert reason_of(web) == "error_page"
    assert reason_of(web, ".html") == "error_page"


@pytest.mark.parametrize(
    "data",
    [
        page("Attacks on CAPTCHA services", *PROSE, "Access denied was the commonest answer."),
        make_pdf([paragraph("403 Forbidden"), paragraph(*PROSE)]),
        page("The dose was 500 mg in 404 pots."),
    ],
)
def test_a_document_that_speaks_of_refusals_is_read(data: bytes) -> None:
    assert reason_of(data) is None


def test_a_note_on_a_refusal_is_a_note() -> None:
    assert reason_of(b"The server said: access denied.", ".md") is None
