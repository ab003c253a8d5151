import pytest

from rag_assets.retrieval.finding import EvidenceFinder, OpenDocument, text_size
from rag_assets.retrieval.finding.finder import split_facts
from rag_assets_tests.finding.test_sentences import Passage

TEXTS = (
    "The oven was preheated for twenty minutes. The belt moved at 70 cm per minute.",
    "Rents held steady in most towns. Landlords were asked once a year by letter.",
    "Wages rose by 12 percent after the reform. Most of the gain went to young workers.",
    "The temperature of the last zone was measured with a probe. It never exceeded 240 degrees.",
    "Bridges need paint every decade. Rust begins where two plates meet.",
)


@pytest.fixture(scope="module")
def finder() -> EvidenceFinder:
    return EvidenceFinder()


def opened(finder: EvidenceFinder, texts: tuple[str, ...] = TEXTS) -> OpenDocument:
    passages, start = [], 0
    for text in texts:
        passages.append(Passage(text, start))
        start += len(text) + 2
    return finder.open(passages)


def test_reworded_statement_finds_its_sentence(finder: EvidenceFinder) -> None:
    (window, *_) = opened(finder).find("Following the reform, pay went up by 12 %.", tokens=12)
    assert window.text == "Wages rose by 12 percent after the reform."
    assert window.parts == ((2, 0, 42),)


def test_statement_in_chinese_finds_an_english_sentence(finder: EvidenceFinder) -> None:
    (window, *_) = opened(finder).find("最后一个温区的温度从未超过240度。", tokens=8)
    assert window.text == "It never exceeded 240 degrees."


def test_two_facts_are_both_shown(finder: EvidenceFinder) -> None:
    statement = "Bridges have to be painted every ten years, while wages rose after the reform."
    shown = " ".join(window.text for window in opened(finder).find(statement, tokens=20))
    assert "Bridges need paint" in shown
    assert "Wages rose" in shown


def test_windows_are_short_and_do_not_overlap(finder: EvidenceFinder) -> None:
    windows = opened(finder).find("Wages rose after the reform.", tokens=30)
    assert len(windows) == 3
    assert all(text_size(window.text) <= 31 for window in windows)
    parts = [part for window in windows for part in window.parts]
    assert len(parts) == len(set(parts))


def test_order_of_statements_changes_nothing(finder: EvidenceFinder) -> None:
    statements = ["Rust begins at the edges of plates.", "Rents did not change.", "铁锈"]
    one, other = opened(finder), opened(finder)
    forwards = {text: one.find(text) for text in statements}
    assert {text: other.find(text) for text in reversed(statements)} == forwards


def test_a_finder_that_read_other_documents_finds_the_same(finder: EvidenceFinder) -> None:
    alone = opened(EvidenceFinder()).find("Landlords got a letter.")
    opened(finder, ("Letters are sent by landlords. Rents are letters.",))
    assert opened(finder).find("Landlords got a letter.") == alone


def test_row_is_shown_with_its_header(finder: EvidenceFinder) -> None:
    table = "Table 1 Yields\n\n| Salt | Yield |\n| --- | --- |\n" + "\n".join(
        f"| {salt} | {number} |" for salt, number in (("KBr", 41), ("KCl", 17), ("NaF", 88))
    )
    (window, *_) = opened(finder, (*TEXTS, table)).find("KCl yielded 17.", most=1, tokens=4)
    assert window.text == "Table 1 Yields\n| Salt | Yield |\n| KCl | 17 |"
    assert window.sentences[window.decisive].text == "| KCl | 17 |"


@pytest.mark.parametrize("statement", ["Wages rose by three percent.", "Pay went up, by 3 %."])
def test_of_sentences_that_read_the_same_the_first_is_shown_first(
    finder: EvidenceFinder, statement: str
) -> None:
    said_twice = (
        Passage("Wages rose by three percent.", 100),
        Passage("Wages rose by three percent.", 200),
    )
    document = finder.open([Passage("Rents held in most towns.", 0), *said_twice])
    first, second, *_ = document.find(statement)
    assert (first.parts[0][0], second.parts[0][0]) == (1, 2)
    assert first.share == second.share


def test_document_without_sentences_has_no_windows(finder: EvidenceFinder) -> None:
    assert finder.open([]).find("Anything.") == ()


@pytest.mark.parametrize("statement", ["", "!", "的", "[3]"])
def test_statement_without_words_is_answered_all_the_same(
    finder: EvidenceFinder, statement: str
) -> None:
    assert all(0 <= window.share <= 1 for window in opened(finder).find(statement))


def test_one_fact_is_not_divided() -> None:
    assert split_facts("Wages rose, too.") == []
    assert (
        len(split_facts("Wages rose by a tenth everywhere, while rents held in most towns.")) == 2
    )
    assert len(split_facts("温度升高后产量明显下降，而成本没有明显变化。")) == 2
