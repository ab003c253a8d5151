import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.auditing import CitationVerdict, CitedDocument, parse_draft
from rag_assets.auditing.quoting import (
    PrintedText,
    changes_meaning,
    check_quotation,
    quoted_claim,
    read_letters,
)
from rag_assets.auditing.sentences import find_quotations

from .world import audit_of, make_document, make_passage

SOURCE = (
    "The e\ufb00ect was not signif-\nicant in well-known trials [12]. Wages rose3 by 3.5 % in "
    "2019–2020. It is unlikely to rise again. He said “we saw ‘it’ there” and left. "
    "The word co-\noperation appears here once, and so does naïve belief in markets."
)
CHINESE = (
    "改革之后，工资上涨了百分之三；物价随即“下跌”。证券、期货交易受到严格监管。"
    "最小值为25，48两个数。"
)
MARKED = (
    "Shards are spread [3, 5]. A vector of the form l1, l2, ..., ls and so on is enough. The layer "
    "[stationary phase silica gel, mobile phase toluene and ethyl acetate, thickness half a "
    "millimetre] afforded the compound."
)
PRINTED = PrintedText(make_document("d", [SOURCE, CHINESE, MARKED]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('He said "wages rose by three percent" again.', ["wages rose by three percent"]),
        ("He said “wages rose by three percent.”", ["wages rose by three percent."]),
        ("„Die Löhne stiegen um drei Prozent“", ["Die Löhne stiegen um drei Prozent"]),
        ("« Les salaires ont augmenté »", [" Les salaires ont augmenté "]),
        ("‘the worker’s wages rose quickly’", ["the worker’s wages rose quickly"]),
        ("他说：「工资上涨了百分之三」。", ["工资上涨了百分之三"]),
        ("他说：『工资上涨了百分之三』。", ["工资上涨了百分之三"]),
        ("他说“工资上涨了百分之三”。", ["工资上涨了百分之三"]),
        ('他说"工资上涨了百分之三"。', ["工资上涨了百分之三"]),
        ("A so-called “living wage” and the 'rest'.", []),
        ("所谓“最低工资”很低。", []),
        ('A 5" disk and a 6" one are not three four five.', []),
        ("It’s the workers’ right that wages don’t fall.", []),
        ("《中华人民共和国刑法修正案》", []),
        ("He said 'the worker's wages rose' again.", ["the worker's wages rose"]),
        ("'The workers' own wages rose' is said.", ["The workers' own wages rose"]),
        ("'in all the towns' and 'in some of these'", ["in all the towns", "in some of these"]),
        ("It's the workers' right that wages don't fall in the '90s.", []),
        ("The workers' wages, the owners' rents and 'living' ones.", []),
    ],
)
def test_quotations_are_found_and_doubted_words_are_none(text: str, found: list[str]) -> None:
    assert [quotation.text for quotation in find_quotations(text)] == found


@pytest.mark.parametrize(
    "quotation",
    [
        "The effect was not significant in well-known trials",
        "the effect was not significant in wellknown trials. Wages rose by 3.5 %",
        "Wages rose by 3.5 % in 2019-2020",
        "It is unlikely to rise again.",
        "He said ‘we saw “it” there’ and left",
        "The word cooperation appears here once",
        "The word co-operation appears […] and so does naive belief",
        "[T]he effect was not significant",
        "It [the wage] is unlikely to rise",
        "Wages rose by ３.５ ％ in 2019",
        "改革之后,工资上涨了百分之三;物价随即下跌",
        "工资上涨了百分之三……证券、期货交易",
        "证券、\n期货交易受到严格监管",
        "最小值为25,48两个数",
        "最小值为25，48两个数",
        "Shards are spread",
        "Shards are spread [3,5]",
        "Shards are spread [emphasis added]",
        "A vector of the form l1, l2, ..., ls and so on",
        "A vector of the form l1, l2, […] and so on",
        "A vector … is enough",
        "The layer [as described] afforded the compound",
    ],
)
def test_exact_quotation_is_exact_however_it_is_typed(quotation: str) -> None:
    check = check_quotation(quotation, PRINTED)
    assert (check.state, check.changes) == ("exact", ())
    assert check.source


@pytest.mark.parametrize(
    ("quotation", "change", "is_grave"),
    [
        ("The effect was significant in well-known trials", ("", "not"), True),
        ("The effect was […] significant in well-known trials", ("[…]", "not"), True),
        ("Wages rose by 35 % in 2019-2020", ("35", "3.5"), True),
        ("likely to rise again. He said", ("likely", "unlikely"), True),
        ("He said “we found ‘it’ there” and left", ("found", "saw"), False),
        ("The word co-operation appears here twice, and so does", ("twice", "once"), True),
        ("改革之后工资上涨了百分之四", ("四", "三"), True),
        ("改革之后工资下降了百分之三", ("下降", "上涨"), False),
        ("证券交易受到严格监管", ("", "期货"), False),
        ("最小值为25.48两个数", ("25.48", "25，48"), True),
        ("Shards are spread [3, reportedly 5]", ("[3, reportedly 5]", "[3, 5]"), True),
        ("A vector of the form l1, l2, ..., and so on", ("[…]", "ls"), False),
    ],
)
def test_changed_words_are_shown(quotation: str, change: tuple[str, str], is_grave: bool) -> None:
    check = check_quotation(quotation, PRINTED)
    assert check.state == "altered"
    assert change in check.changes
    assert check.changes_meaning == is_grave


def test_long_brackets_of_the_source_are_quoted_and_not_put_in() -> None:
    printed = MARKED[MARKED.index("The layer") :].rstrip(".")
    assert check_quotation(printed, PRINTED).state == "exact"
    check = check_quotation(printed.replace("toluene", "water"), PRINTED)
    assert check.state == "altered"
    ((said, found),) = check.changes
    assert ("water" in said, "toluene" in found) == (True, True)


RULES = (
    "A minimum wage does not, as the tables of the second chapter show for every county "
    "of both states, reduce employment. An employer may dismiss a worker, except during "
    "pregnancy, with a month's notice. Wages rose in the north, which had not been "
    "foreseen in any of the earlier reports on the matter, by four percent. Prices held. "
    "Rents did not. Fares were not raised either. Taxes fell, unless a town objected."
)
RULES_ZH = (
    "用人单位不可以随意解除劳动合同。劳动者可以解除劳动合同，但服务期另有约定的除外。"
    "试用期包含在劳动合同期限内。除涉及国家秘密外，判决书应当在作出后七日内公布。"
    "企业在非常困难的情况下仍然增加了工资。"
)
LEAVING_OUT = PrintedText(make_document("d", [RULES, RULES_ZH]))


@pytest.mark.parametrize(
    ("quotation", "left_out"),
    [
        ("A minimum wage does […] reduce employment", "not"),
        ("A minimum wage does [...] reduce employment", "not"),
        ("A minimum wage does … reduce employment", "not"),
        ("may dismiss a worker […] with a month's notice", "except during pregnancy"),
        ("Prices held. Rents […] were not raised", "did not"),
        ("Taxes fell [...]", "unless a town objected"),
        ("用人单位［……］可以随意解除劳动合同", "不"),
        ("用人单位……可以随意解除劳动合同", "不"),
        ("劳动者可以解除劳动合同……试用期包含在劳动合同期限内", "但服务期另有约定的除外"),
        ("试用期包含在劳动合同期限内。……判决书应当在作出后七日内公布", "除涉及国家秘密外"),
        ("劳动者可以解除劳动合同[……]", "但服务期另有约定的除外"),
    ],
)
def test_what_an_omission_denies_or_excepts_is_shown(quotation: str, left_out: str) -> None:
    check = check_quotation(quotation, LEAVING_OUT)
    assert (check.state, check.changes) == ("altered", (("[…]", left_out),))
    assert check.changes_meaning


@pytest.mark.parametrize(
    "quotation",
    [
        "Wages rose in the north […] by four percent",
        "Prices held. […] Taxes fell",
        "Wages rose […] by four percent. Prices held. […] Taxes fell",
        "A minimum wage does not […] reduce employment",
        "企业……仍然增加了工资",
    ],
)
def test_an_omission_that_denies_nothing_of_what_is_quoted_is_exact(quotation: str) -> None:
    assert check_quotation(quotation, LEAVING_OUT).changes == ()


def test_what_was_left_out_stands_in_the_reason() -> None:
    source = make_document("d", ["A minimum wage does not reduce employment in any town."])
    row = only("“A minimum wage does […] reduce employment in any town” {#d}.", source)
    assert (row.status, row.reason_code) == ("MISSING", "misquoted")
    assert "“[…]” leaves out “not”" in row.reason


def test_invented_quotation_is_not_found() -> None:
    assert check_quotation("Nothing of the kind was ever said", PRINTED).state == "not_found"


def test_translated_quotation_is_not_compared() -> None:
    english = PrintedText(make_document("d", [SOURCE]))
    assert check_quotation("工资上涨了百分之三点五", english).state == "other_language"


def test_quotation_over_the_end_of_a_chunk_is_found_with_both() -> None:
    first = make_passage("d", 0, "Wages rose by three", page=4, start=0)
    second = make_passage("d", 1, "percent after the reform.", page=5, start=20)
    printed = PrintedText(make_document("d", [first, second]))
    check = check_quotation("rose by three percent after the reform", printed)
    assert (check.state, check.page, check.chunk_ids) == ("exact", 4, ("d:0", "d:1"))


def test_overlapping_chunks_do_not_break_a_quotation() -> None:
    first = make_passage("d", 0, "Wages rose by three percent", start=0)
    second = make_passage("d", 1, "by three percent after the reform.", start=11)
    printed = PrintedText(make_document("d", [first, second]))
    assert check_quotation("rose by three percent after the reform", printed).state == "exact"


_WORDS = st.lists(
    st.sampled_from(
        (
            "wages", "rents", "prices", "rose", "fell", "by", "three", "3.5", "%", "the", "–",
            "reform", "工资", "上涨", "ﬁrst", "naïve",
        )
    ),
    min_size=4,
    max_size=30,
)  # fmt: skip


@given(_WORDS, st.integers(0, 20), st.integers(4, 12))
def test_every_cut_of_the_source_is_exact(words: list[str], start: int, count: int) -> None:
    chosen = words[start % len(words) :][:count]
    if not read_letters(" ".join(chosen)).text:
        return
    printed = PrintedText(make_document("d", [" ".join(words)]))
    assert check_quotation(" ".join(chosen), printed).state == "exact"


@given(_WORDS, st.integers(0, 100))
def test_no_exchanged_word_is_exact(words: list[str], at: int) -> None:
    quoted = list(words)
    quoted[at % len(words)] = "walnut"
    printed = PrintedText(make_document("d", [" ".join(words)]))
    assert check_quotation(" ".join(quoted), printed).state != "exact"


DOCUMENT = make_document("d", ["Wages rose by three percent after the long reform. Rents held."])


def only(text: str, *documents: CitedDocument) -> CitationVerdict:
    rows = audit_of(text, documents or (DOCUMENT,)).rows
    return rows[0]


def test_exact_quotation_speaks_for_the_citation() -> None:
    row = only("It is said that “wages rose by three percent after the long reform” {#d}.")
    assert row.status == "OK"
    # Numbers that agree are listed before it, whichever scorer judges.
    assert [(s.kind, s.text) for s in row.speaks_for if s.kind == "quotation"] == [
        ("quotation", "The quotation stands word for word on p. 1.")
    ]


def test_altered_quotation_is_at_best_weak_and_shows_the_words() -> None:
    row = only("It is said that “wages rose by three percent after the short reform” {#d}.")
    assert (row.status, row.reason_code) == ("WEAK", "misquoted")
    assert "“short” for “long”" in row.reason
    assert row.speaks_against[-1].source == "Wages rose by three percent after the long reform"


def test_altered_number_in_a_quotation_is_missing() -> None:
    row = only("It is said that “wages rose by four percent after the long reform” {#d}.")
    assert (row.status, row.reason_code) == ("MISSING", "misquoted")


def test_invented_quotation_is_missing() -> None:
    row = only("Wages rose by three percent: “a triumph for all of mankind” {#d}.")
    assert (row.status, row.reason_code) == ("MISSING", "quote_not_found")


def test_quotation_from_another_document_of_the_sentence_is_not_held_against_one() -> None:
    other = make_document("e", ["This is a triumph for all of mankind."])
    rows = audit_of(
        "Wages rose by three percent after the long reform, “a triumph for all of mankind” "
        "{#d; #e}.",
        [DOCUMENT, other],
    ).rows
    assert rows[0].reason_code not in {"quote_not_found", "misquoted"}


def test_block_quotation_with_a_citation_is_compared_whole() -> None:
    exact = only("> Wages rose by three percent after the long reform. Rents held. {#d}\n")
    altered = only("> Wages rose by three percent after the long reform. Rents fell. {#d}\n")
    assert [c.state for c in exact.quotations] == ["exact"]
    assert [c.state for c in altered.quotations] == ["altered"]
    assert altered.status == "WEAK"


def test_quotation_over_two_sentences_is_compared_at_its_citation() -> None:
    row = only("“Wages rose by three percent after the long reform. Rents rose.” {#d}")
    assert row.reason_code == "misquoted"


def test_words_in_quotation_marks_are_looked_up_in_the_bibliography_too() -> None:
    from dataclasses import replace

    entry = make_passage("d", 9, "Smith, A. (1999) On the rise of all wages. London.", start=900)
    document = replace(DOCUMENT, unsaid=(entry,))
    row = only("Smith wrote “On the rise of all wages” {#d}.", document)
    assert row.quotations[0].state == "exact"
    assert row.chunk_id != "d:9"  # which supports nothing


@pytest.mark.parametrize(
    ("before", "quotation", "is_all"),
    [
        ("The authors state that “", "The effect was not significant in well-known trials", True),
        ("It is not the case that “", "Wages rose by 3.5 % in 2019-2020", False),
        ("The authors state that “", "Wages rose by 4.5 % in 2019-2020", False),
        ("Bus drivers in the northern towns earn more since “", "Wages rose by 3.5 %", False),
        ("作者指出“", "证券、期货交易受到严格监管", True),
    ],
)
def test_a_sentence_that_only_quotes_claims_what_it_quotes(
    before: str, quotation: str, is_all: bool
) -> None:
    claim = f"{before}{quotation}”."
    stated = quoted_claim(claim, [check_quotation(quotation, PRINTED)])
    assert stated == (quotation if is_all else claim)


@pytest.mark.parametrize(
    "quoted", ["``the walls are made of stone''", r"\enquote{the walls are made of stone}"]
)
def test_quotations_of_latex_are_read(quoted: str) -> None:
    (sentence,) = parse_draft("c.md", f"He says {quoted} {{#a}}.".encode()).sentences
    assert [str(found) for found in sentence.quotations] == ["the walls are made of stone"]


@pytest.mark.parametrize(
    ("quotation", "source", "change", "is_grave"),
    [
        ("女职工享受九十八天产假", "女职工享受98天产假", ("九十八", "98"), False),
        ("女职工享受八十九天产假", "女职工享受98天产假", ("八十九", "98"), True),
        ("more than ninety products", "more than sixty products", ("ninety", "sixty"), True),
        ("in thirteen towns", "in nineteen towns", ("thirteen", "nineteen"), True),
        ("in pretty old towns", "in nice old towns", ("pretty", "nice"), False),
        ("遵循诚实信用、协商一致", "遵循协商一致、诚实信用", ("协商一致", "诚实信用"), False),
    ],
)
def test_the_same_number_in_other_signs_is_no_grave_change(
    quotation: str, source: str, change: tuple[str, str], is_grave: bool
) -> None:
    assert changes_meaning(quotation, source, [change]) == is_grave


@pytest.mark.parametrize(
    ("power", "state"), [("10⁴", "exact"), ("10^4", "exact"), ("104", "exact"), ("10⁵", "altered")]
)
def test_an_exponent_is_printed_without_a_caret(power: str, state: str) -> None:
    printed = PrintedText(make_document("d", ["A density of 5 x 10^4 cells per well was used."]))
    check = check_quotation(f"density of 5 x {power} cells per well", printed)
    assert check.state == state


def test_white_space_that_makes_another_word_is_a_change() -> None:
    printed = PrintedText(
        make_document("d", ["They were not able to see a thera-\npist that day."])
    )
    check = check_quotation("They were notable to see a therapist", printed)
    assert (check.state, check.changes) == ("altered", (("notable", "not able"),))
    assert check.changes_meaning
    assert check_quotation("notable to see a therapist", printed).state == "altered"
    assert check_quotation("They were not able to see a therapist", printed).state == "exact"
