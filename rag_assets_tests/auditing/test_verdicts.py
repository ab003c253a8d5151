import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_assets.auditing import CitationVerdict, CitedDocument, parse_draft, verify_citations
from rag_assets.model import ConfigurationError

from .world import SETTINGS, LatinEncoder, Shelf, WordEncoder, audit_of, make_document, make_passage

WAGES = make_document(
    "wages",
    [
        "Rents held steady in most towns. Nothing else changed.",
        "The survey is old. Wages rose by three percent after the reform. Prices fell at once.",
        "Bridges need paint every decade or so.",
    ],
    title="Wages after the reform",
)
CHINESE = make_document(
    "工资", ["改革之后工资上涨了百分之三。物价随即下跌。", "桥梁每十年需要油漆一次。"]
)


def only(
    text: str, *documents: CitedDocument, encoder: WordEncoder | None = None
) -> CitationVerdict:
    (row,) = audit_of(text, documents or (WAGES,), encoder).rows
    return row


def test_supported_sentence_is_ok_with_its_best_sentence_as_quote() -> None:
    row = only("Wages rose by three percent after the reform {#wages}.")
    assert (row.status, row.reason_code, row.scored_by) == ("OK", "supported", "similarity")
    assert row.score == 1.0
    assert row.quote == "Wages rose by three percent after the reform."
    assert row.passage == WAGES.passages[1].text
    assert (row.locator, row.locator_quality, row.chunk_id) == ("p. 2", "page", "wages:1")
    assert (row.anchor_begin, row.anchor_end) == (
        "Wages rose by three percent after",
        "by three percent after the reform.",
    )
    assert (row.title, row.suggested_query) == ("Wages after the reform", None)
    assert row.content_hash == WAGES.passages[1].content_hash
    assert row.citation_id == WAGES.passages[1].citation_id


def test_quote_is_cut_exactly_from_the_documents_text() -> None:
    row = only("Wages rose by three percent after the reform {#wages}.")
    text = "\n".join(passage.text for passage in WAGES.passages)
    assert text[row.quote_start : row.quote_end] == row.quote


def test_unrelated_sentence_is_missing_with_a_query_to_search() -> None:
    row = only("Penguins breed on the Antarctic ice {#wages}.")
    assert (row.status, row.reason_code) == ("MISSING", "not_found")
    assert row.suggested_query == "penguins breed antarctic ice"
    assert row.quote  # what came nearest is shown


def test_half_supported_sentence_is_weak() -> None:
    row = only("Wages rose by ten euros {#wages}.")
    assert SETTINGS.weak_threshold <= (row.score or 0) < SETTINGS.threshold
    assert (row.status, row.reason_code) == ("WEAK", "weakly_supported")
    assert row.suggested_query


def test_thresholds_belong_to_the_better_verdict() -> None:
    text = "Wages rose by several euros {#wages}."
    score = only(text).score
    at = SETTINGS.model_copy(update={"threshold": score})
    assert audit_of(text, [WAGES], settings=at).rows[0].status == "OK"
    at = SETTINGS.model_copy(update={"weak_threshold": score})
    assert audit_of(text, [WAGES], settings=at).rows[0].status == "WEAK"


def test_threshold_says_where_it_comes_from() -> None:
    assert only("Wages {#wages}.").threshold_origin == "spec 000 default"
    changed = SETTINGS.model_copy(update={"threshold": 0.6})
    row = audit_of("Wages {#wages}.", [WAGES], settings=changed).rows[0]
    assert (row.threshold, row.threshold_origin) == (0.6, "setting verify.threshold")


def test_whole_passage_counts_where_it_is_nearer_than_any_sentence() -> None:
    spread = make_document("spread", ["Wages rose. The reform passed."])
    row = only("Wages rose; the reform passed {#spread}.", spread)
    assert row.score == 1.0


def test_equal_passages_are_taken_in_the_order_of_the_text() -> None:
    twice = make_document("twice", ["Bridges.", "Wages rose.", "Wages rose."])
    assert only("Wages rose {#twice}.", twice).chunk_id == "twice:1"


def test_passage_over_a_page_end_shows_both_pages() -> None:
    document = make_document("d", [make_passage("d", 0, "Wages rose.", page=3, last_page=4)])
    assert only("Wages rose {#d}.", document).locator == "pp. 3–4"


def test_without_pages_the_section_and_characters_locate() -> None:
    passage = make_passage(
        "d", 0, "Oh. Wages rose.", page=None, start=40, section=("Results", "Pay")
    )
    row = only("Wages rose {#d}.", make_document("d", [passage]))
    assert row.locator_quality == "char_anchor"
    assert row.locator == "Results › Pay, characters 44–55"


def test_without_any_locator_the_verdict_is_an_error() -> None:
    document = make_document("d", [make_passage("d", 0, "Wages rose.", page=None)])
    row = only("Wages rose {#d}.", document)
    assert (row.status, row.reason_code, row.score) == ("ERROR", "no_locator", None)


def test_document_without_passages_is_missing() -> None:
    row = only("Wages rose {#empty}.", make_document("empty", []))
    assert (row.status, row.reason_code, row.score) == ("MISSING", "no_passages", 0.0)


def test_anchor_without_a_sentence_is_missing() -> None:
    row = only("# Title\n\n{#wages}\n")
    assert (row.status, row.reason_code) == ("MISSING", "no_claim")


def test_each_document_cited_by_a_sentence_gets_its_row_once() -> None:
    rows = audit_of("Wages rose {#wages} and bridges {#工资; #wages}.", [WAGES, CHINESE]).rows
    assert [(row.number, row.cites) for row in rows] == [(1, "wages"), (2, "工资")]


def test_a_sentence_that_the_model_cannot_read_is_unread_and_says_so() -> None:
    audit = audit_of("改革之后工资上涨{#工资}。", [CHINESE], LatinEncoder())
    (row,) = audit.rows
    assert (row.status, row.reason_code, row.chunk_id) == ("WEAK", "unread", "工资:0")
    assert row.quote == "改革之后工资上涨了百分之三。"
    assert row.scoring_note is not None
    assert "words of the sentence: nothing was compared" in row.scoring_note
    assert any("nothing was compared" in warning for warning in audit.warnings)


def test_an_unreadable_sentence_without_support_is_no_more_than_unread() -> None:
    (row,) = audit_of("企鹅在南极冰面上繁殖{#工资}。", [CHINESE], LatinEncoder()).rows
    assert (row.status, row.reason_code, row.score) == ("WEAK", "unread", 0.0)
    assert row.suggested_query == "企鹅 南极冰面上繁殖"


def test_an_unreadable_document_is_unread() -> None:
    (row,) = audit_of("Wages rose {#工资}.", [CHINESE], LatinEncoder()).rows
    assert (row.status, row.reason_code) == ("WEAK", "unread")
    assert "words of the passages: nothing was compared" in (row.scoring_note or "")


def test_unreadable_passages_of_a_mixed_document_are_left_out_aloud() -> None:
    mixed = make_document("mixed", ["改革之后工资上涨。", "Wages rose after the reform."])
    (row,) = audit_of("Wages rose after the reform {#mixed}.", [mixed], LatinEncoder()).rows
    assert (row.status, row.scored_by, row.chunk_id) == ("OK", "similarity", "mixed:1")
    assert row.scoring_note is not None
    assert row.scoring_note.endswith("1 of 2.")


def test_all_claims_and_all_passage_sentences_are_encoded_in_one_batch_each() -> None:
    encoder = WordEncoder()
    text = "Wages rose {#wages}. Rents held {#wages}. Wages rose {#wages}. Bridges {#b}."
    audit_of(text, [WAGES, make_document("b", ["Bridges rust. Rents held."])], encoder)
    assert [kind for kind, _ in encoder.batches] == ["queries", "passages"]
    assert encoder.batches[0] == ("queries", 3)


def test_namespaces_with_one_model_share_its_batches() -> None:
    encoder = WordEncoder()
    shelf = Shelf([WAGES, make_document("act", ["Wages rose."], "law")])
    draft = parse_draft("c.md", b"Wages rose {#wages}. Rents held {#act}.")
    twin = WordEncoder()
    verify_citations(draft, shelf, {"thesis": encoder, "law": twin}, SETTINGS)
    assert sorted(kind for kind, _ in encoder.batches + twin.batches) == ["passages", "queries"]


def test_model_that_returns_nan_stops_the_audit() -> None:
    class BrokenEncoder(WordEncoder):
        def encode_queries(self, texts: list[str]) -> NDArray[np.float32]:
            return super().encode_queries(texts) * np.float32("nan")

    with pytest.raises(ConfigurationError, match="not finite"):
        only("Wages rose {#wages}.", encoder=BrokenEncoder())


_WORDS = st.sampled_from(
    ["wages", "rose", "fell", "prices", "reform", "three", "工资", "上涨", "了", "3", ".", "。"]
)
_TEXTS = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join)
_DOCUMENTS = st.lists(st.lists(_TEXTS, max_size=4), min_size=1, max_size=3)


@settings(deadline=None)
@given(_DOCUMENTS, st.lists(_TEXTS, min_size=1, max_size=4))
def test_every_verdict_is_one_of_four_with_a_finite_score_and_a_reason(
    documents: list[list[str]], claims: list[str]
) -> None:
    shelf = [make_document(f"d{n}", texts) for n, texts in enumerate(documents)]
    text = "\n\n".join(f"{claim} {{#d{n}; #nowhere}}" for n, claim in enumerate(claims))
    audit = audit_of(text, shelf)
    assert sum(audit.counts.values()) == len(audit.rows) > 0
    for row in audit.rows:
        assert row.status in {"OK", "WEAK", "MISSING", "ERROR"}
        assert row.reason.endswith((".", "?"))
        assert (row.score is None) == (row.status == "ERROR")
        assert row.score is None or (math.isfinite(row.score) and -1 <= row.score <= 1)
        assert row.quote is None or row.quote in (row.passage or "")
        assert row.locator is not None or row.passage is None


@settings(deadline=None, max_examples=40)
@given(_DOCUMENTS, st.lists(_TEXTS, max_size=20))
def test_unrelated_documents_change_no_verdict(
    documents: list[list[str]], unrelated: list[str]
) -> None:
    shelf = [make_document(f"d{n}", texts) for n, texts in enumerate(documents)]
    more = [make_document(f"other{n}", [text]) for n, text in enumerate(unrelated)]
    text = "Wages rose after the reform {#d0}.\n\n工资上涨了{#d0}。"
    assert audit_of(text, [*more, *shelf]).rows == audit_of(text, shelf).rows


def test_a_thousand_unrelated_files_are_not_even_opened() -> None:
    shelf = Shelf([make_document(f"x{n}", ["Wages rose."]) for n in range(1000)] + [WAGES])
    before = audit_of("Wages rose {#wages}.", [WAGES])
    assert audit_of("Wages rose {#wages}.", shelf).rows == before.rows
    assert shelf.loaded == ["wages"]
