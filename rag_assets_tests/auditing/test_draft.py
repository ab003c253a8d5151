from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_assets.auditing import CitedSentence, Draft, parse_draft, read_draft
from rag_assets.model import UsageError, hash_bytes


def read(text: str, name: str = "chapter.md") -> Draft:
    return parse_draft(name, text.encode())


def sentences(text: str) -> list[tuple[str, list[str]]]:
    return [(s.claim, [c.label for c in s.citations]) for s in read(text).sentences]


def only(text: str) -> CitedSentence:
    (sentence,) = read(text).sentences
    return sentence


@pytest.mark.parametrize(
    "text",
    [
        "Wages rose {#a}. Prices fell.",
        "Wages rose. {#a} Prices fell.",
        "Wages rose.{#a} Prices fell.",
        "Wages rose.{#a}Prices fell.",
        "Wages rose ({#a}). Prices fell.",
        "Wages rose (see {#a}). Prices fell.",
        "Wages rose. (See {#a}.) Prices fell.",
        "Wages{#a} rose. Prices fell.",
        "{#a} Wages rose. Prices fell.",
        "Wages rose.\n{#a}\nPrices fell.",
    ],
)
def test_anchor_belongs_to_its_sentence_wherever_it_stands(text: str) -> None:
    assert sentences(text) == [("Wages rose.", ["a"])]


def test_anchor_after_the_stop_is_part_of_the_sentence_as_it_stands() -> None:
    draft = read("Prices fell. Wages rose. {#a} Rents held.")
    (sentence,) = draft.sentences
    assert sentence.text == "Wages rose. {#a}"
    assert draft.text[sentence.start : sentence.end] == "Wages rose. {#a}"


@pytest.mark.parametrize(
    ("anchors", "labels"),
    [
        ("{#a}{#b}", ["a", "b"]),
        ("{#a} {#b}", ["a", "b"]),
        ("{#a}, {#b}", ["a", "b"]),
        ("{#a; #b}", ["a", "b"]),
        ("{#a,#b}", ["a", "b"]),
        ("{#a #b}", ["a", "b"]),
        ("{#law:a; #b}", ["law:a", "b"]),
        ("{#张三-2020；#李四}", ["张三-2020", "李四"]),
        ("｛＃张三｝", ["张三"]),
        ("{#a;\n#b}", ["a", "b"]),
    ],
)
def test_several_documents_between_or_within_braces(anchors: str, labels: list[str]) -> None:
    assert sentences(f"Wages rose {anchors}. Prices fell.") == [("Wages rose.", labels)]


def test_every_citation_knows_its_place() -> None:
    draft = read("> Wages rose\n> slowly {#a; #law:b}.\n")
    places = [draft.text[c.start : c.end] for c in draft.sentences[0].citations]
    assert places == ["#a", "#law:b"]
    assert draft.sentences[0].text == "Wages rose slowly {#a; #law:b}."


def test_chinese_sentences_end_without_spaces() -> None:
    text = "工资上涨{#甲}。物价下跌。{#乙}租金\n不变{#丙}。"
    assert sentences(text) == [
        ("工资上涨。", ["甲"]),
        ("物价下跌。", ["乙"]),
        ("租金不变。", ["丙"]),
    ]


def test_claim_is_free_of_markdown_marks() -> None:
    text = (
        "The **real** [wage](https://x.org/a_(b)) rose by `3 %`, *not* snake_case &amp; 2*3 {#a}."
    )
    assert only(text).claim == "The real wage rose by 3 %, not snake_case & 2*3."


def test_lists_quotations_and_tables_are_read() -> None:
    text = (
        "- Wages rose {#a}\n  1. Prices fell {#b}\n\n> Rents\n> held {#c}.\n\n"
        "| what | source |\n|---|---|\n| Taxes \\| duties fell. | {#d} |\n"
    )
    assert sentences(text) == [
        ("Wages rose", ["a"]),
        ("Prices fell", ["b"]),
        ("Rents held.", ["c"]),
        ("Taxes | duties fell.", ["d"]),
    ]


def test_html_block_is_prose_without_its_tags() -> None:
    assert sentences("<div>\nWages <b>rose</b><br>slowly {#a}.\n</div>") == [
        ("Wages rose slowly.", ["a"])
    ]


def test_anchor_in_its_own_paragraph_supports_the_one_before() -> None:
    assert sentences("> Prices fell. Wages rose.\n\n{#a}\n\nRents held.") == [
        ("Wages rose.", ["a"])
    ]


def test_anchor_alone_in_the_draft_keeps_an_empty_claim() -> None:
    assert sentences("# Results\n\n{#a}\n") == [("", ["a"])]


def test_footnote_of_nothing_but_a_citation_belongs_to_its_mark() -> None:
    text = "Wages rose.[^1] Prices fell.\n\n[^1]: {#a}\n"
    assert sentences(text) == [("Wages rose.", ["a"])]


@pytest.mark.parametrize(
    ("note", "hint"),
    [
        ("See {#a}, p. 3.", "p. 3"),
        ("Cf. also {#a} p. 3", "p. 3"),
        ("参见《劳动合同法》{#a}第24条。", "第24条"),
        ("{#a}第二十四条第二款。", "第二十四条第二款"),
        ("See {#a}.", None),
    ],
)
def test_footnote_that_only_points_belongs_to_its_mark(note: str, hint: str | None) -> None:
    (sentence,) = read(f"Wages rose.[^1]\n\n[^1]: {note}\n").sentences
    assert sentence.claim == "Wages rose."
    (citation,) = sentence.citations
    assert citation.doc_uid == "a"
    assert (citation.hint.text if citation.hint else None) == hint


def test_footnotes_need_no_blank_line_between_them() -> None:
    text = "Wages rose.[^1] Prices fell.[^2]\n\n[^1]: {#a}\n[^2]: See {#b}, p. 3.\n"
    assert sentences(text) == [("Wages rose.", ["a"]), ("Prices fell.", ["b"])]


def test_footnote_with_words_is_a_sentence_of_its_own() -> None:
    text = "Wages rose.[^1]\n\n[^1]: Prices fell as well {#a}.\n"
    assert sentences(text) == [("Prices fell as well.", ["a"])]


def test_footnote_that_nobody_marks_is_not_lost() -> None:
    assert sentences("Wages rose.\n\n[^9]: {#a}\n") == [("", ["a"])]


@pytest.mark.parametrize("heading", ["# Wages {#wages}", "## Wages {#wages} ##", "Wages {#w}\n==="])
def test_heading_id_is_no_citation_and_no_warning(heading: str) -> None:
    draft = read(f"{heading}\n\nWages rose {{#a}}.")
    assert [s.claim for s in draft.sentences] == ["Wages rose."]
    assert draft.warnings == ()


def test_heading_that_cites_in_its_midst_is_read() -> None:
    assert sentences("# Wages rose {#a} slowly") == [("Wages rose slowly", ["a"])]


@pytest.mark.parametrize(
    "text",
    [
        "```\nWages {#x}\n```",
        "    Wages {#x}",
        "Wages `{#x}` here.",
        "Wages <!-- {#x} --> here.",
        "<!--\n{#x}\n-->",
    ],
)
def test_code_and_comments_are_not_scanned_and_that_is_said(text: str) -> None:
    draft = read(f"Prices fell {{#a}}.\n\n{text}\n")
    assert [c.label for s in draft.sentences for c in s.citations] == ["a"]
    assert len(draft.warnings) == 1
    assert "was not read as a citation" in draft.warnings[0]


def test_attribute_of_an_image_is_no_citation() -> None:
    draft = read("![Wages](w.png){#fig:wages}\n\nWages rose {#a}.")
    assert [c.label for s in draft.sentences for c in s.citations] == ["a"]
    assert "line 1" in draft.warnings[0]


def test_escaped_anchor_is_text() -> None:
    draft = read(r"Write \{#uid} to cite {#a}.")
    assert draft.sentences[0].claim == "Write {#uid} to cite."
    assert [citation.label for citation in draft.sentences[0].citations] == ["a"]
    assert draft.warnings == ()


def test_indented_paragraph_of_a_text_file_is_prose() -> None:
    assert [s.claim for s in read("    Wages rose {#a}.", "a.txt").sentences] == ["Wages rose."]


def test_lines_count_from_one_through_front_matter_and_any_line_end() -> None:
    draft = read("---\r\ntitle: x\r\n---\r\n\r\nWages rose.\r\nPrices fell {#a}.")
    assert draft.sentences[0].line == 6


@pytest.mark.parametrize(
    ("front_matter", "namespaces"),
    [
        ("namespaces: [thesis, law]", ("thesis", "law")),
        ("namespaces: thesis", ("thesis",)),
        ("namespaces:\n  - thesis\n  - thesis", ("thesis",)),
        ("title: '{#x}'", ()),
        ("", ()),
    ],
)
def test_front_matter_names_namespaces(front_matter: str, namespaces: tuple[str, ...]) -> None:
    draft = read(f"---\n{front_matter}\n---\nWages rose {{#a}}.")
    assert draft.namespaces == namespaces
    assert [s.claim for s in draft.sentences] == ["Wages rose."]
    assert draft.warnings == ()


def test_rule_at_the_top_is_not_front_matter() -> None:
    assert sentences("---\n\nWages rose {#a}.") == [("Wages rose.", ["a"])]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no text"),
        (b" \n\t\n", "no text"),
        (b"---\nnamespaces: [a]\n---\n", "no text"),
        (b"%PDF-1.7\n", "not a text file"),
        (b"Wages\0rose", "not a text file"),
        (b"Fine.\nWages rose \xb9\xa4\xd7\xca", "line 2 is not UTF-8"),
        (b"---\nnamespaces: [a\n---\nWages", "not YAML"),
        (b"---\nnamespaces: 3\n---\nWages", "must be a name or a list of names"),
        (b"---\njust words\n---\nWages", "not a list of `key: value`"),
    ],
)
def test_unusable_draft_is_refused_by_name_with_the_mend(data: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        parse_draft("chapter.md", data)
    assert str(caught.value).startswith("chapter.md")


def test_missing_draft_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        read_draft(tmp_path / "none.md")
    with pytest.raises(UsageError, match="is a folder"):
        read_draft(tmp_path)


def test_draft_without_citations_is_read_with_a_warning() -> None:
    draft = read("Wages rose.")
    assert draft.sentences == ()
    assert "cites nothing" in draft.uncited


def test_draft_is_known_by_the_hash_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("\ufeffWages rose {#a}.".encode())
    draft = read_draft(path)
    assert (draft.name, draft.digest) == ("a.md", hash_bytes(path.read_bytes()))
    assert draft.sentences[0].text == "Wages rose {#a}."


_PIECES = st.sampled_from(
    ["Wages rose", "工资上涨", ". ", "。", "{#a}", "{#b; #c}", "({#d})", "\n", "\n\n", "> ", "- ",
     "# ", "```\n", "`", "**", "_", "| ", "|---|\n", "[", "](", ")", "\\", "<!--", "-->", "{#", "}",
     "[^1]", "[^1]: ", "    ", "\t", "\r\n", "\r", "&amp;", "<b>", "!", "---\n", "1. ", "\u2028"]
)  # fmt: skip
_DRAFTS = st.one_of(st.text(), st.lists(_PIECES, max_size=30).map("".join))


@given(_DRAFTS, st.sampled_from(["a.md", "a.txt"]))
def test_any_text_is_cut_exactly_or_refused(text: str, name: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        draft = parse_draft(name, data)
    except UsageError:
        return
    previous = 0
    for index, sentence in enumerate(draft.sentences):
        assert sentence.index == index
        assert previous <= sentence.start < sentence.end <= len(draft.text)
        previous = sentence.end
        assert sentence.citations
        cut = draft.text[sentence.start : sentence.end]
        assert cut == cut.strip()
        # Marks of lists and quotations inside are left out, nothing is added.
        rest = iter(cut)
        assert all(c in rest for c in sentence.text if not c.isspace())
        for citation in sentence.citations:
            written = draft.text[citation.start : citation.end]
            assert citation.doc_uid in written.replace("＃", "#") or "\n" in written


@example("- [^1]{#a}")
@given(st.lists(_PIECES.filter(lambda piece: piece != "# "), max_size=30).map("".join))
def test_no_anchor_disappears_without_a_word(text: str) -> None:
    draft = parse_draft("a.md", f"Start {{#first}}. {text}".encode())
    read_at = {c.start for s in draft.sentences for c in s.citations}
    places = [i for i in range(len(draft.text)) if draft.text.startswith("{#a}", i)]
    unread = [i for i in places if i + 1 not in read_at and draft.text[i - 1] != "\\"]
    # A line of `---` below makes a heading of a paragraph, whose id is passed over.
    assert not unread or draft.warnings or "---" in text
