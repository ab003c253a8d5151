"""Sequences in a draft are dropped; lines are counted as in its file."""

from rag_assets.auditing.draft import parse_draft


def test_a_draft_has_no_sequences_and_the_lines_of_its_file() -> None:
    data = "First \x1b]0;owned\x07line.\r\n\r\n\x1b[31mRed roofs\x0c cool\u202e {#roofs}.\r\n"
    draft = parse_draft("chapter.md", data.encode())
    assert draft.text == "First line.\r\n\r\nRed roofs  cool {#roofs}.\r\n"
    (sentence,) = draft.sentences
    assert (sentence.line, sentence.claim) == (3, "Red roofs cool.")
