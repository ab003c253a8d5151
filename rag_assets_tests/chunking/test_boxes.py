from rag_assets.chunking.rows import BoxFinder
from rag_assets.model import Block, PageBox, PageSpan, ParsedDocument, SourceLine


def test_lines_of_one_column_share_a_box_and_other_columns_and_pages_have_their_own() -> None:
    text = "left one\nleft two\nright one\nnext page"
    spans = [(0, 8), (9, 17), (18, 27), (28, 37)]
    boxes = [(50, 100, 250, 110), (50, 112, 240.004, 122), (300, 100, 500, 110), (50, 60, 250, 70)]
    lines = tuple(
        SourceLine(start, end, 2 if start == 28 else 1, box)
        for (start, end), box in zip(spans, boxes, strict=True)
    )
    document = ParsedDocument(
        text,
        "application/pdf",
        pages=(PageSpan(1, 0, 28), PageSpan(2, 28, 37)),
        blocks=(Block("paragraph", 0, 37, 1),),
        lines=lines,
    )
    finder = BoxFinder(document)
    assert finder.find(0, 37) == (
        PageBox(1, 50, 100, 250, 122),
        PageBox(1, 300, 100, 500, 110),
        PageBox(2, 50, 60, 250, 70),
    )
    assert finder.find(12, 16) == (PageBox(1, 50, 112, 240.01, 122),)
    assert finder.find(8, 9) == ()


def test_rows_of_a_table_share_a_box_whatever_their_cells_do() -> None:
    lines = (
        SourceLine(0, 3, 1, (50, 100, 99, 110)),
        SourceLine(4, 5, 1, (300, 100, 310, 110)),
        SourceLine(6, 9, 1, (50, 112, 99, 122)),
    )
    table = (Block("table", 0, 9, 1),)
    document = ParsedDocument("a | b\nc |", "application/pdf", blocks=table, lines=lines)
    assert BoxFinder(document).find(0, 9) == (PageBox(1, 50, 100, 310, 122),)


def test_blocks_do_not_share_a_box() -> None:
    blocks = (Block("paragraph", 0, 3, 1), Block("footnote", 4, 8, 1))
    lines = (SourceLine(0, 3, 1, (50, 100, 99, 110)), SourceLine(4, 8, 1, (50, 700, 99, 710)))
    document = ParsedDocument("One\ntwo.", "application/pdf", blocks=blocks, lines=lines)
    assert [box.y0 for box in BoxFinder(document).find(0, 8)] == [100, 700]


def test_without_lines_the_boxes_of_blocks_are_taken_and_without_pages_none() -> None:
    blocks = (Block("paragraph", 0, 3, 4, (1, 2, 3, 4)),)
    assert BoxFinder(ParsedDocument("One", "x/y", blocks=blocks)).find(1, 2) == (
        PageBox(4, 1, 2, 3, 4),
    )
    assert BoxFinder(ParsedDocument("One", "x/y")).find(0, 3) == ()
