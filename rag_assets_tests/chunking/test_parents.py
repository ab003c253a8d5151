from dataclasses import replace

from hypothesis import given

from rag_assets.chunking import locate_pages, make_parents, sentence_breaks
from rag_assets.model import Block, PageSpan, ParsedDocument
from rag_assets_tests.chunking.fakes import (
    LetterTokenizer,
    any_documents,
    assert_covered_once,
    blocks_of,
    chunk_settings,
    pages_of,
    with_sections,
)

count = LetterTokenizer().count


def test_a_sentence_over_a_page_end_belongs_to_the_page_where_it_starts() -> None:
    document = pages_of("One is whole. Two runs ", "over the end. Three stays.")
    first, second = make_parents(document, chunk_settings(), count)
    assert (first.label, first.text) == ("p001", "One is whole. Two runs over the end.")
    assert first.page_starts == ((1, 0), (2, 23))
    assert (second.label, second.text) == ("p002", "Three stays.")
    assert second.page_starts == ((2, 23),)


def test_a_chinese_sentence_over_a_page_end_stays_whole() -> None:
    document = pages_of("光照提高", "产量。温度没有影响。")
    assert [p.text for p in make_parents(document, chunk_settings(), count)] == [
        "光照提高产量。",
        "温度没有影响。",
    ]


def test_a_paragraph_that_the_parser_joined_over_a_page_end_stays_whole() -> None:
    document = pages_of("It runs ", "on here.")
    blocks = (Block("paragraph", 0, 7, 1), Block("paragraph", 8, 16, 2))
    parents = make_parents(replace(document, blocks=blocks), chunk_settings(), count)
    assert [parent.text for parent in parents] == ["It runs on here."]


def test_lines_of_code_belong_to_the_page_where_they_stand() -> None:
    document = pages_of("x = 1\n", "y = 2")
    code = replace(document, blocks=(Block("code", 0, 11, 1),))
    assert [p.text for p in make_parents(code, chunk_settings(), count)] == ["x = 1", "y = 2"]


def test_a_page_where_no_sentence_starts_gives_no_parent() -> None:
    document = pages_of("It runs ", "on and on ", "", " \n", "and ends. New.")
    first, second = make_parents(document, chunk_settings(), count)
    assert [number for number, _ in first.page_starts] == [1, 2, 5]
    assert (second.label, second.order) == ("p005", 1)


def test_page_parents_know_the_headings_above_them() -> None:
    text = "Methods\n\nWe measured. Then\n\nwe wrote."
    document = with_sections(
        ParsedDocument(
            text,
            "application/pdf",
            pages=(PageSpan(1, 0, 22), PageSpan(2, 22, len(text))),
            blocks=(Block("heading", 0, 7, 1, level=1), Block("paragraph", 9, len(text))),
        )
    )
    assert [p.section_path for p in make_parents(document, chunk_settings(), count)] == [
        ("Methods",),
        ("Methods",),
    ]


def test_sections_follow_the_headings() -> None:
    document = blocks_of(
        "Before.", ("One", 1), "Text one.", ("Deep", 2), "Text two.", ("Two", 1), "End."
    )
    parents = make_parents(document, chunk_settings(), count)
    assert [(p.label, p.section_path) for p in parents] == [
        ("s000", ()),
        ("s001", ("One",)),
        ("s002", ("One", "Deep")),
        ("s003", ("Two",)),
    ]
    assert parents[1].text == "One\n\nText one."


def test_a_bare_heading_joins_the_section_below_it_but_not_the_one_beside_it() -> None:
    document = blocks_of(("One", 1), ("Deep", 2), "Text.", ("Two", 1), ("Three", 1), "End.")
    assert [p.section_path for p in make_parents(document, chunk_settings(), count)] == [
        ("One", "Deep"),
        ("Two",),
        ("Three",),
    ]


def test_a_long_section_becomes_several_parents_of_whole_sentences() -> None:
    document = blocks_of(
        ("Head", 1), *[f"Sentence {n} has a few words. It ends." for n in range(30)]
    )
    parents = make_parents(document, chunk_settings(), count)
    assert len(parents) > 3
    assert all(count([parent.text])[0] <= 60 for parent in parents)
    assert all(parent.text.endswith(".") for parent in parents)
    assert {parent.section_path for parent in parents} == {("Head",)}


def test_rows_of_a_table_are_grouped_up_to_the_size_of_a_parent() -> None:
    rows = [f"{n}; some cell without a stop" for n in range(40)]
    text = "\n".join(rows)
    starts = [text.index(row) for row in rows]
    blocks = tuple(Block("row", at, at + len(row)) for at, row in zip(starts, rows, strict=True))
    parents = make_parents(ParsedDocument(text, "text/csv", blocks=blocks), chunk_settings(), count)
    assert len(parents) >= 5
    assert all(set(parent.text.split("\n")) <= set(rows) for parent in parents)


def test_a_giant_sentence_does_not_make_a_giant_parent() -> None:
    for text in ("x" * 50_000, "word " * 5_000, "光" * 5_000):
        parents = make_parents(ParsedDocument(text, "text/plain"), chunk_settings(), count)
        assert max(len(parent.text) for parent in parents) <= 60 * 16
        assert_covered_once(text, [(p.char_start, p.char_end) for p in parents])


@given(any_documents())
def test_parents_hold_every_visible_character_once(document: ParsedDocument) -> None:
    parents = make_parents(document, chunk_settings(), count)
    assert_covered_once(document.text, [(p.char_start, p.char_end) for p in parents])
    assert [parent.order for parent in parents] == list(range(len(parents)))
    assert len({parent.label for parent in parents}) == len(parents)
    for parent in parents:
        assert parent.text == document.text[parent.char_start : parent.char_end]
        if document.pages:
            first = locate_pages(parent.page_starts, parent.char_start, parent.char_end)[0]
            assert parent.label == f"p{first:03d}"


def test_pages_are_located_by_first_and_last_character() -> None:
    starts = ((3, 10), (4, 20), (6, 30))
    assert locate_pages(starts, 12, 20) == (3, 3)
    assert locate_pages(starts, 12, 21) == (3, 4)
    assert locate_pages(starts, 30, 35) == (6, 6)
    assert locate_pages((), 0, 5) == (None, None)


def test_breaks_are_bounds_of_all_blocks_but_paragraphs() -> None:
    document = blocks_of(("One", 1), "Text.")
    assert list(sentence_breaks(document)) == [0, 3]
