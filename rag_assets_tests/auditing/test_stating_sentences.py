"""Titles and headings inside a passage are not among the sentences that may support a claim."""

from rag_assets.auditing.asking import stating_sentences
from rag_assets.chunking import split_sentences


def kept(text: str, *names: str) -> list[str]:
    return [text[a:b] for a, b in stating_sentences(text, split_sentences(text), names)]


def test_heading_in_a_passage_is_no_sentence_to_choose() -> None:
    text = "3.1 Surface and air on the roof\n\nBitumen was hot. Air was not."
    assert kept(text, "3.1 Surface and air on the roof") == ["Bitumen was hot.", "Air was not."]


def test_title_is_none_and_its_words_in_a_sentence_are() -> None:
    text = "Green roofs\n\nGreen roofs cool the surface."
    assert kept(text, "Green roofs") == ["Green roofs cool the surface."]


def test_passage_of_headings_alone_keeps_them() -> None:
    assert kept("Results", "Results") == ["Results"]
