from dataclasses import dataclass

import pytest

from rag_assets.retrieval.finding import read_sentences


@dataclass(frozen=True)
class Passage:
    text: str
    char_start: int | None = None
    section_path: tuple[str, ...] = ()
    context: str = ""

    @property
    def char_end(self) -> int | None:
        return None if self.char_start is None else self.char_start + len(self.text)


def test_sentence_that_two_passages_share_is_one() -> None:
    first, second = "Wages rose. Rents, however,", "stayed where they were. Prices fell."
    found = read_sentences([Passage(first, 0), Passage(second, len(first) + 1)])
    assert [sentence.text for sentence in found] == [
        "Wages rose.",
        "Rents, however,\nstayed where they were.",
        "Prices fell.",
    ]
    assert found[1].parts == ((0, 12, 27), (1, 0, 23))


def test_passages_with_something_between_are_not_joined() -> None:
    found = read_sentences([Passage("Rents, however,", 0), Passage("stayed.", 80)])
    assert [sentence.text for sentence in found] == ["Rents, however,", "stayed."]
    assert found[0].run != found[1].run


def test_passages_whose_place_is_unknown_stand_alone() -> None:
    found = read_sentences([Passage("Rents rose and"), Passage("wages fell.")])
    assert [sentence.parts for sentence in found] == [((0, 0, 14),), ((1, 0, 11),)]


def test_row_is_told_its_caption_and_header() -> None:
    head = "Table 2 Yields of three salts\n\n| Salt | Yield |\n| --- | --- |\n"
    table = head + "| KBr | 41 |\n| KCl | 17 |"
    found = read_sentences([Passage(table, 0)])
    assert [sentence.kind for sentence in found] == ["caption", "row", "row", "row"]
    assert found[3].read == "Table 2 Yields of three salts Salt KCl: Yield = 17"
    assert found[3].leads == (0, 1)


def test_item_is_told_what_leads_to_it() -> None:
    text = "有下列情形之一的，应当公开：\n\n（一）涉及公众利益的；\n\n（二）需要公众知晓的。"
    found = read_sentences([Passage(text, 0)])
    assert [sentence.leads for sentence in found] == [(), (0,), (0,)]
    assert found[2].read.startswith("有下列情形之一的，应当公开：")


@pytest.mark.parametrize(
    "line",
    [
        "2. Methods",
        "A study of salts",
        "| --- | --- |",
        "![fig](attachment:fig-001)",
        "https://doi.org/10.1000/182",
        "© 2020 The Authors",
        "Downloaded from a journal on 1 May 2020",
        "收稿日期：2020-05-01",
    ],
)
def test_what_states_nothing_is_left_out(line: str) -> None:
    passage = Passage(f"{line}\n\nWages rose.", 0, ("2. Methods",))
    assert [one.text for one in read_sentences([passage], "A Study of Salts")] == ["Wages rose."]
